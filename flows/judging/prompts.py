"""Write prompts and check verdicts for the tasks of one audit. Nothing is sent.

`PromptBuilder` does both for a judging; `task_prompt` shows one prompt (``agenthard judge prompt``).
"""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

from agenthard.audit.judge.aggregate.panel import PanelIssue
from agenthard.audit.judge.aggregate.readings import votes_request
from agenthard.audit.judge.aggregate.rebuttal import passing_run, rebuttal_request, with_run
from agenthard.audit.judge.context.applicable import applicable
from agenthard.audit.judge.context.budget import PromptTooLongError, trim
from agenthard.audit.judge.context.material import Material, material_tokens
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.prompt import build_prompt, judge_request
from agenthard.audit.judge.settings import Judge, JudgeSettings, JudgeSettingsError, load_settings
from agenthard.audit.judge.templates import prompt_version
from agenthard.audit.judge.verdict import CheckedVerdict, Judged
from agenthard.audit.judge.verify.verification import check_verdict
from agenthard.audit.repair.recheck import TaskChecker
from agenthard.flows.errors import CommandError
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.settings import JudgingSettings, select_tasks
from agenthard.flows.judging.store import identical_judges_before, repetition, request_number
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Request
from agenthard.models.tokens import most_prompt_tokens, prompt_tokens
from agenthard.taxonomy.categories import Category, load_taxonomy
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_MAX_TRIMS = 4
"""Times a prompt is shortened until it fits; more than once, since leaving material out changes the text around it."""
_SPARE_TOKENS = 64
"""Tokens that are cut in addition to the excess: the note that says what was left out takes room too."""


class PreparedPrompt(NamedTuple):
    """A prompt that is ready to be sent to a judge."""

    request: Request
    """The request of sample 0 at its first attempt, as it would be sent."""
    digests: tuple[str, ...]
    """Digests of the first attempts of all samples."""
    version: str
    """Version of the prompt."""
    material: Material
    """The parts of the task that it shows."""
    categories: tuple[str, ...]
    """Ids of the categories that it asks about."""
    too_long: str = ""
    """Why nothing can be sent: what a decision needs exceeds the judge's context. Empty when it fits."""


class PromptBuilder:
    """Prompts and checks for the tasks of one audit; each process has one of its own."""

    def __init__(self, settings: JudgingSettings) -> None:
        """Read the audit.

        Raises:
            CommandError: It cannot be judged.
        """
        self.inputs = AuditInputs(settings.audited())
        select_tasks(settings, self.inputs)
        self.execution = self.inputs.audited.settings.execution()
        self._judges, self._runs = settings.judges.judges, settings.runs
        self._taxonomy = load_taxonomy()

    def prepare(self, task_id: str) -> dict[str, PreparedPrompt]:
        """Write the prompts of all judges for one task, by the name of the judge."""
        inputs = self.inputs
        task = inputs.task(task_id)
        runs = select_runs(inputs.runs(task_id), self._runs) if self._runs else ()
        with self.execution.active():
            whole = gather(task, inputs.findings(task_id), inputs.coverage(task_id), runs)
            categories = applicable(task, self._taxonomy, bool(runs))
            return {judge.name: self._prepare(judge, task, whole, categories) for judge in self._judges}

    def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        """Check a judge's verdict on a task."""
        inputs, task_id = self.inputs, judged.task_id
        patched = judged.verdict is not None and any(issue.patch for issue in judged.verdict.issues)
        with self.execution.active():
            return check_verdict(
                judged,
                inputs.task(task_id),
                material,
                inputs.findings(task_id),
                inputs.coverage(task_id),
                self._checker if patched else None,
            )

    def defence(self, task_id: str, issue: PanelIssue, judge: str) -> PreparedPrompt:
        """Write the prompt of a defence against a flaw; it shows a run that passed the task, if there is one."""
        task = self.inputs.task(task_id)
        prompt = self.prepare(task_id)[judge]
        if prompt.too_long:
            return prompt
        run = passing_run(task, self.inputs.runs(task_id))
        material = with_run(task, prompt.material, run) if run else prompt.material
        defender = next(each for each in self._judges if each.name == judge)
        with self.execution.active():
            request = rebuttal_request(defender, task, material, issue, self._taxonomy[issue.category], 0)
        request = defender.model.addressed(request)
        return prompt._replace(request=request, digests=(request.digest,), material=material)

    def ballot(self, task_id: str, issue: PanelIssue, judge: str, number: int) -> PreparedPrompt:
        """Write the prompt of a ballot on the readings of a flaw."""
        task = self.inputs.task(task_id)
        prompt = self.prepare(task_id)[judge]
        outcome = issue.best.readings
        if prompt.too_long or outcome is None:
            return prompt
        reader = next(each for each in self._judges if each.name == judge)
        sample = request_number(identical_judges_before(reader, self._judges), 0, 0)
        request = reader.model.addressed(votes_request(reader, task, prompt.material, outcome, number, sample))
        return prompt._replace(request=request, digests=_digests(request, number + 1))

    @cached_property
    def _checker(self) -> TaskChecker:
        """Re-checks patches; created when the first judge suggests one."""
        inputs = self.inputs
        tasks = tuple(inputs.tasks.values())
        checks = inputs.audited.settings.checks()
        return TaskChecker(inputs.source.name, tasks, checks, inputs.audited.observed(), self.execution)

    def _prepare(
        self, judge: Judge, task: AgentTask, whole: Material, categories: tuple[Category, ...]
    ) -> PreparedPrompt:
        """Write a prompt that fits the judge's context, leaving out as much as necessary."""
        number = request_number(identical_judges_before(judge, self._judges), 0, 0)
        ids = tuple(category.id for category in categories)
        version, limit = prompt_version(self._taxonomy), judge.context_tokens
        try:
            for _ in range(_MAX_TRIMS):
                material = trim(whole, task, max(limit, 1))
                prompt = build_prompt(task, material, categories, judge.investigates, self._taxonomy)
                request = judge_request(judge, prompt, categories, number)
                excess = most_prompt_tokens(request) - judge.context_tokens
                if excess <= 0:
                    request = judge.model.addressed(request)
                    return PreparedPrompt(request, _digests(request, judge.samples), version, material, ids)
                limit = min(limit, material_tokens(material)) - excess - _SPARE_TOKENS
            why = f"the prompt can have {excess:,} tokens more than the judge may be given ({judge.context_tokens:,})"
        except PromptTooLongError as error:
            why = str(error)
        nothing = Material(task_id=task.id, passages=())
        request = judge.model.addressed(Request(model=judge.model.name, messages=(), sample=number))
        return PreparedPrompt(request, _digests(request, judge.samples), version, nothing, ids, why)


def _digests(request: Request, samples: int) -> tuple[str, ...]:
    return tuple(repetition(request, sample).digest for sample in range(samples))


def select_runs(runs: Sequence[Trajectory], count: int) -> list[Trajectory]:
    """Select runs to show: failed and passed ones alternate, each kind in the order of model and trial."""
    scored = sorted((run for run in runs if run.passed is not None), key=lambda run: (run.model, run.trial, run.id))
    failed, passed = ([run for run in scored if run.passed is wanted] for wanted in (False, True))
    return [run for run in chain.from_iterable(zip_longest(failed, passed)) if run is not None][:count]


@lru_cache(maxsize=1)
def _opened(settings: str) -> PromptBuilder:
    return PromptBuilder(JudgingSettings.model_validate_json(settings))


def prompt_builder(settings: JudgingSettings) -> PromptBuilder:
    """Return this process's prompt builder for a run; it is created once."""
    return _opened(settings.model_dump_json())


class TaskPrompt(Record):
    """The prompt of a judge for one task."""

    request: Request
    """The request as it would be sent."""
    version: str
    """Version of the prompt."""
    sentence: str
    """Version, length and omissions in one sentence."""


def task_prompt(
    run: Path, task_id: str, judges: Path | None, judge: str | None, runs: int, benchmark: Path | None
) -> TaskPrompt:
    """Write the prompt of a task.

    Args:
        run: Run folder of a finished audit.
        task_id: The task.
        judges: Judge file; None = one judge with default settings.
        judge: A judge of that file; None = the first.
        runs: Number of runs of the task to show.
        benchmark: Folder of the benchmark; None = the folder that was audited.

    Raises:
        CommandError: No such audit, task or judge, or the prompt does not fit the judge.
    """
    panel = _panel(judges)
    settings = JudgingSettings(
        run=str(run),
        judges=panel,
        out=str(run),
        benchmark=str(benchmark) if benchmark else None,
        runs=runs,
        tasks=(task_id,),
    )
    settings.require_judge(judge)
    prompt = PromptBuilder(settings).prepare(task_id)[judge or panel.judges[0].name]
    if prompt.too_long:
        raise CommandError(prompt.too_long)
    request = prompt.request
    omitted = len(prompt.material.omitted)
    note = f"{omitted} things are left out, and the prompt says so" if omitted else "nothing is left out"
    sentence = (
        f"version {prompt.version}: about {prompt_tokens(request):,} tokens, at most {most_prompt_tokens(request):,}, "
        f"{len(prompt.categories)} categories; {note}"
    )
    return TaskPrompt(request=request, version=prompt.version, sentence=sentence)


def _panel(judges: Path | None) -> JudgeSettings:
    if judges is None:
        return JudgeSettings(judges=(Judge(name="judge", model=ModelFile(name="openai/any")),))
    try:
        return load_settings(judges)
    except JudgeSettingsError as error:
        raise CommandError(str(error)) from error
