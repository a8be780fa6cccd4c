"""Scenarios as a benchmark to evaluate agents on (entry-point group ``agenthard.benchmarks``)."""

import asyncio
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.agency.chain import Chain, Labels, Table
from agenthard.agency.conditions import AgencyConditions
from agenthard.agency.declared import AGENCY
from agenthard.agency.imported import obstacles
from agenthard.agency.judging import JudgeSetting, judge_of
from agenthard.agency.packs import Pack, packs
from agenthard.agency.scaffolds import Budget, Player, Scaffold, scaffold_of
from agenthard.agency.scaffolds.command import CommandLine
from agenthard.agency.scaffolds.script import Script, Scripted, read_script, replay_script
from agenthard.agency.source import AgencySuite
from agenthard.agency.suite_files import StoredScenario
from agenthard.agency.tools import Desk, Toolset
from agenthard.agency.tools.web import read_cassette
from agenthard.agency.training import ScenarioTraining
from agenthard.agency.user import ModelUser, TemplateUser, User
from agenthard.agency.workspace import LocalJobs, SnapshotStore, Workspace
from agenthard.agency.workspace.programs import programs_for
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.suite.evaluation import SuiteEvaluation, read_conditions
from agenthard.models.errors import BadRequestError, MalformedReplyError, TransientError
from agenthard.models.estimate import Workload
from agenthard.models.model_file import ModelFile, load_model
from agenthard.models.request import ChatMessage, Model, Request
from agenthard.play.chain import PlayedChain, PlayRoom
from agenthard.play.ending import UNPLAYABLE
from agenthard.play.failures import Failures
from agenthard.play.forecast import llm_settings, workload_of
from agenthard.play.journal import MemoryJournal, Steps
from agenthard.play.llm import LlmSettings, trial_seed
from agenthard.play.registry import UnknownAgentError
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.trajectory import Trajectory

SCRIPT, REPLAY, COMMAND = "script:", "replay:", "command:"
NOTHING = "do_nothing"
DEFAULT_AGENTS = ("reference", NOTHING)
_GROWTH = (300, 900, 4000)
"""Tokens by which a conversation grows from one request to the next."""
_COMPLETION = (100, 500, 4000)
"""Tokens of a reply."""
_REQUESTS = (3, 25, 100)
"""Requests of a task."""


class UnplayableScenarioError(AgentHardError):
    """A scenario cannot be played on this machine; the message says why."""

    code = "AH649"
    remedy = "Install what the message names, or play another scenario; `agenthard agency scenarios` lists all."


class AgencyEvaluation(SuiteEvaluation[StoredScenario, AgencyConditions, "AgencyTask"]):
    """A suite of scenarios opened for evaluation."""

    declared = AGENCY

    def __init__(self, root: Path, options: Mapping[str, str], seed: int) -> None:
        """Open a suite.

        Args:
            root: Where it is.
            options: Fields of ``AgencyConditions`` by name.
            seed: Seed of the calls that fail on purpose, and of models.

        Raises:
            SourceError: No suite here.
            ValueError: No such option, or it has no such value.
        """
        self._suite = AgencySuite(root)
        super().__init__(self._suite, read_conditions(AgencyConditions, options), seed, AgencyTask)

    def check_agent(self, name: str) -> None:
        """Make sure that there is an agent of this name."""
        if name.startswith((SCRIPT, REPLAY)):
            _script_file(name)
        elif name.startswith(COMMAND):
            CommandLine(name.removeprefix(COMMAND))
        elif name not in (known := self._solutions()):
            more = f"{SCRIPT}FILE, {REPLAY}FILE, {COMMAND}COMMAND"
            raise UnknownAgentError(f"no agent {name!r}; there are: {', '.join([*known, more])}")

    def default_agents(self) -> Sequence[str]:
        """Name the agents without a model that form the default leaderboard."""
        known = self._solutions()
        return [name for name in DEFAULT_AGENTS if name in known]

    def conditions(self) -> Mapping[str, Any]:
        """List the conditions by name, who judges, and the layers of isolation of this machine."""
        found = {**super().conditions(), "isolation": self._conditions.isolation}
        return found | ({"judges": who} if (who := judge_of(self._conditions.judge).described()) else {})

    def content_hash(self) -> str:
        """Identify files, conditions and code, what the file of a panel says, and the image of containers."""
        judge = judge_of(self._conditions.judge)
        who = "".join(f"\n{each.model_dump_json()}" for each in judge.models)
        parts = [f"{judge.described()}{who}"] if who else []
        if containers := self._conditions.containers:
            parts.append(containers.described())  # a name may come to mean another image
        return " ".join([super().content_hash(), *parts])

    def models(self) -> Sequence[ModelFile]:
        """Return the models that take part besides the agents."""
        user = [load_model(self._conditions.user_model)] if self._conditions.user_model else []
        return [*user, *judge_of(self._conditions.judge).models]

    def _solutions(self) -> list[str]:
        """Return the names of all solutions of the suite; doing nothing needs no files."""
        found = {NOTHING} | {name for _, stored in self._suite.instances(Quarantine()) for name in stored.solutions()}
        return sorted(found)


@dataclass(frozen=True)
class AgencyTask:
    """One scenario opened for play."""

    id: str
    """Id of the scenario."""
    stored: StoredScenario
    """The scenario with its files."""
    rules: AgencyConditions
    """Conditions to play under."""
    seed: int
    """Seed of the evaluation."""
    clock: Callable[[], float] = time.monotonic
    """Clock of the budgets."""

    @property
    def group(self) -> str:
        """Capability."""
        return self.stored.scenario.capability

    @property
    def facts(self) -> Mapping[str, Any]:
        """What the report sorts by."""
        return {"chain": len(self.stored.scenario.tasks)}

    def supports(self) -> str | None:
        """Say why the scenario cannot be played here; None when it can."""
        pack = packs().get(self.id)
        if pack is None:
            return f"no installed package has the graders of {self.id}"
        if pack.scenario != self.stored.scenario:
            return f"the installed package has another version of {self.id}; write the suite again"
        scenario = self.stored.scenario
        judged = judge_of(self.rules.judge).obstacle(scenario)
        containers = self.rules.containers
        closed = containers.obstacle() if containers else None
        needs = scenario.needs.model_copy(update={"model_judge": False})
        found = obstacles(scenario.model_copy(update={"needs": needs}))
        return "; ".join([*found, *filter(None, [judged, closed])]) or None

    def play(self, agent: str, condition: str, failure_rate: float, trial: int) -> Trajectory:
        """Let an agent without a model play in a temporary folder; the whole play as one run."""
        with tempfile.TemporaryDirectory(prefix="agenthard-agency-") as folder:
            room = PlayRoom(MemoryJournal(), Path(folder))
            return asyncio.run(self.play_chain(agent, None, condition, failure_rate, trial, room)).summary

    async def converse(
        self, agent: str, model: Model, file: ModelFile, condition: str, failure_rate: float, trial: int
    ) -> Trajectory:
        """Let a model play in a temporary folder; the whole play as one run."""
        with tempfile.TemporaryDirectory(prefix="agenthard-agency-") as folder:
            room = PlayRoom(MemoryJournal(), Path(folder), model=model)
            return (await self.play_chain(agent, file, condition, failure_rate, trial, room)).summary

    async def play_chain(
        self, agent: str, file: ModelFile | None, condition: str, failure_rate: float, trial: int, room: PlayRoom
    ) -> PlayedChain:
        """Play the scenario, or continue a play that was killed.

        Args:
            agent: Name of the agent.
            file: The model file; None for an agent without a model.
            condition: What the conditions are called.
            failure_rate: Probability that a call fails on purpose.
            trial: Number of the repetition, from 0.
            room: Journal and folder of the play, and what answers requests.

        Raises:
            agenthard.models.errors.StopError: A model cannot be asked anything more; the journal keeps the play.
        """
        labels = Labels(agent, condition, trial)
        pack, obstacle = packs().get(self.id), self.supports()
        if pack is None or obstacle:
            return PlayedChain(summary=self._lost(labels, obstacle or "", UNPLAYABLE))
        try:
            steps = Steps(room.journal)
            scaffold = self._scaffold(agent, file, labels, room, steps)
            return await self._chain(scaffold, failure_rate, labels, room, pack, steps, file).play()
        except (BadRequestError, TransientError, MalformedReplyError) as error:
            return PlayedChain(summary=self._lost(labels, f"{type(error).__name__}: {error}", "error"))

    def training(self, trial: int = 0) -> ScenarioTraining:
        """Return the scenario for a training loop, without a model of its own: the user is the template or absent.

        Raises:
            UnplayableScenarioError: It cannot be played here.
        """
        pack, obstacle = packs().get(self.id), self.supports()
        if pack is None or obstacle:
            raise UnplayableScenarioError(f"{self.id}: {obstacle}")
        if judge_of(self.rules.judge).models:
            raise UnplayableScenarioError(f"{self.id}: models judge, and a training loop asks none; use judge=rules")

        def make(scaffold: Scaffold, folder: Path) -> Chain:
            room = PlayRoom(MemoryJournal(), folder)
            return self._chain(scaffold, 0.0, Labels("training", trial=trial), room, pack, Steps(room.journal))

        return ScenarioTraining(make)

    def workload(self, file: ModelFile, failure_rate: float, trial: int) -> tuple[Request, Workload]:
        """Foresee one play: from a few replies to a task up to the limit of turns."""
        from agenthard.agency.chain import prompt_of
        from agenthard.agency.scaffolds.native import SYSTEM
        from agenthard.agency.tools import TOOLS

        settings, scenario = self._settings(file, trial), self.stored.scenario
        text = prompt_of(scenario, scenario.tasks[0], None)
        messages = (ChatMessage(role="system", text=SYSTEM), ChatMessage(role="user", text=text))
        tools = tuple(each.tool for each in TOOLS.values())
        first = Request(model=settings.model, messages=messages, tools=tools, sampling=settings.sampling, sample=trial)
        requests = [count * len(scenario.tasks) for count in _REQUESTS]
        return first, workload_of(file.name, first, requests, _GROWTH, _COMPLETION)

    def helper_workloads(self) -> Sequence[tuple[ModelFile, str, Workload]]:
        """Foresee what one play asks of judges and of a simulated user: model, purpose, workload."""
        from agenthard.agency.foresight import judge_workloads, user_workloads

        rules, scenario = self.rules, self.stored.scenario
        found = judge_workloads(judge_of(rules.judge), scenario, rules.rounds if rules.user != "none" else 0)
        if rules.user == "model":
            found += user_workloads(load_model(rules.user_model), scenario, rules.rounds)
        return found

    def _chain(
        self,
        scaffold: Scaffold,
        failure_rate: float,
        labels: Labels,
        room: PlayRoom,
        pack: Pack,
        steps: Steps,
        file: ModelFile | None = None,
    ) -> Chain:
        rules, scenario = self.rules, self.stored.scenario
        store = SnapshotStore(room.folder / "snapshots")
        hidden = [self.stored.folder.parent, pack.hidden, room.folder, *room.hidden]
        workspace = Workspace(
            room.folder / "workspace",
            store,
            limits=rules.job_limits,
            runner=rules.containers
            or LocalJobs(hidden=hidden, programs=programs_for(scenario.needs), weak_isolation=rules.weak_isolation),
        )
        answers = read_cassette(Path(rules.web)) if rules.web else {}
        failures = Failures(failure_rate, trial_seed(self.seed, labels.trial), self.id) if failure_rate else None
        toolset = Toolset(Desk(workspace, answers=answers), steps, self.clock, failures)
        setting = JudgeSetting(
            scenario=scenario,
            checks=pack.checks,
            views=pack.views,
            limits=rules.job_limits,
            weak_isolation=rules.weak_isolation,
            model=room.model,
            owner=self._owner(labels),
            agent=(labels.agent, file.name) if file is not None else (),
            folders=(room.folder, *room.hidden, self.stored.folder),
        )
        table = Table(
            scaffold=scaffold,
            toolset=toolset,
            budget=Budget(rules.limits, self.clock),
            judge=judge_of(rules.judge).judge(setting),
            user=self._user(room.model),
            rounds=rules.rounds,
            carry=scenario.carry if rules.carry == "scenario" else rules.carry,
            store=store,
            spaces=room.folder / "eval",
            gold=self.stored.gold,
            hidden=hidden,
            steps=steps,
            watched=room.watched or (lambda place: None),
        )
        room.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        seed = self.stored.seed
        empty = room.folder / "empty"
        empty.mkdir(exist_ok=True)
        return Chain(scenario, store.take(seed or empty), table, labels)

    def _scaffold(self, agent: str, file: ModelFile | None, labels: Labels, room: PlayRoom, steps: Steps) -> Scaffold:
        if file is not None:
            if room.model is None:
                raise ValueError(f"{agent}: a model plays, and nothing answers requests")
            owner = self._owner(labels)
            context, settings = self.rules.context_tokens or None, self._settings(file, labels.trial)
            player = Player(room.model, settings, steps, owner, labels.trial, context)
            return scaffold_of(self.rules.scaffold)(player)
        if agent.startswith(COMMAND):
            return CommandLine(agent.removeprefix(COMMAND))
        if agent.startswith((SCRIPT, REPLAY)):
            return Scripted(_script_file(agent))
        return Scripted(self.stored.script(agent))

    def _user(self, model: Model | None) -> User | None:
        if self.rules.user == "model":
            if model is None:
                raise ValueError("a model plays the user, and nothing answers requests")
            return ModelUser(model, load_model(self.rules.user_model))
        return TemplateUser() if self.rules.user == "template" else None

    def _settings(self, file: ModelFile, trial: int) -> LlmSettings:
        rules = self.rules
        found = llm_settings(file, self.seed, max(rules.turns, 1), rules.max_truncations, rules.max_output_tokens)
        sampling = found.sampling.model_copy(update={"seed": trial_seed(self.seed, trial)})
        return found.model_copy(update={"sampling": sampling})

    def _owner(self, labels: Labels) -> str:
        return f"{labels.agent}/{self.id}/{labels.condition}/{labels.trial}"

    def _lost(self, labels: Labels, reason: str, ending: str) -> Trajectory:
        return Trajectory(
            id=self._owner(labels),
            task_id=self.id,
            model=labels.agent,
            trial=labels.trial,
            status="infrastructure_error",
            status_reason=reason,
            ending=ending,
        )


def _script_file(agent: str) -> Script:
    """Read the script that an agent's name means.

    Raises:
        ScriptError: it cannot be read.
    """
    if agent.startswith(SCRIPT):
        return read_script(Path(agent.removeprefix(SCRIPT)))
    file, _, name = agent.removeprefix(REPLAY).partition("#")
    return replay_script(Path(file), name or None)
