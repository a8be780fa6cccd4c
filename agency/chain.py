"""One play of a scenario: its tasks in order, up to K + 1 attempts each, every task on what the one before left.

Every call that can change the workspace, every reply, grade and feedback is a step of a journal. A play that was killed
is told again from its beginning, and continues where the journal ends.
"""

import asyncio
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from agenthard.agency.judges import Grade
from agenthard.agency.judges.panel import KindGrade
from agenthard.agency.judges.rule import TOP_SCORE
from agenthard.agency.judging import Judge
from agenthard.agency.rollouts import RecordedRollout
from agenthard.agency.scaffolds import Budget, Prompt, Rollout, Scaffold
from agenthard.agency.scenario import Carry, Scenario, ScenarioTask
from agenthard.agency.tools import Toolset
from agenthard.agency.user import Feedback, LeakFilter, Situation, User
from agenthard.agency.workspace import Difference, Snapshot, SnapshotStore, open_eval_space
from agenthard.models.request import ChatMessage
from agenthard.play.chain import Part, PlayedChain
from agenthard.play.journal import Steps
from agenthard.taxonomy.trajectory import Trajectory

PASS_SHARE = 0.6
"""Share of the score at which a scenario passes."""
POINTS = 1000
"""Parts of a point, so that scores can be added as whole numbers."""
MOST_KNOWN_BYTES = 4 << 20
"""How much of a workspace the leak filter reads as known to the agent."""


@dataclass(frozen=True)
class Labels:
    """What the runs of a play are called."""

    agent: str
    """Name of the agent."""
    condition: str = ""
    """Conditions that differ from the default ones."""
    trial: int = 0
    """Number of the repetition, from 0."""

    @property
    def protocol(self) -> str:
        """Name of the run folder of a play, where measures are computed."""
        return ", ".join(filter(None, (self.agent, self.condition, f"trial {self.trial}" if self.trial else "")))


@dataclass(frozen=True)
class Table:
    """Everything a chain is played with."""

    scaffold: Scaffold
    """The agent."""
    toolset: Toolset
    """Its tools, on its workspace."""
    budget: Budget
    """What it may spend."""
    judge: Judge
    """What grades an attempt."""
    user: User | None
    """Who speaks after an attempt that did not pass; None: no one, and the attempt is the last."""
    rounds: int
    """Feedbacks per task, K."""
    carry: Carry
    """The attempt whose workspace the next task begins on."""
    store: SnapshotStore
    """Snapshots of the workspace."""
    spaces: Path
    """Folder in which eval-spaces are made; no agent may look into it."""
    gold: Path | None
    """Folder of the gold files."""
    hidden: Sequence[Path]
    """Other folders that no program of the graded work may look into."""
    steps: Steps
    """The journal."""
    watched: Callable[[str], None]
    """Is told which attempt begins."""


@dataclass(frozen=True)
class _Attempt:
    """A finished attempt."""

    snapshot: Snapshot
    grade: Grade
    part: Part


class Chain:
    """Plays one scenario once."""

    def __init__(self, scenario: Scenario, seed: Snapshot, table: Table, labels: Labels) -> None:
        """Prepare.

        Args:
            scenario: the scenario.
            seed: what the first task begins on.
            table: what it is played with.
            labels: what its runs are called.
        """
        self._scenario, self._seed, self._table, self._labels = scenario, seed, table, labels
        self._history: list[ChatMessage] = []
        self.grades: list[Grade] = []
        """Grades so far, one per attempt."""

    async def play(self) -> PlayedChain:
        """Play all tasks.

        Raises:
            agenthard.models.errors.ModelError: a model could not be asked; the journal keeps what was played.
            JobError: this machine cannot contain the commands.
        """
        start, parts, finals, firsts = self._seed, list[Part](), list[Grade](), list[Grade]()
        for task in self._scenario.tasks:
            attempts = await self._task(task, start)
            parts += [attempt.part for attempt in attempts]
            finals.append(attempts[-1].grade)
            firsts.append(attempts[0].grade)
            start = carried(attempts, self._carry()).snapshot
        return PlayedChain(summary=self._summary(parts, firsts, finals), parts=tuple(parts))

    def _carry(self) -> Carry:
        # One folder for all attempts has only its last state.
        return "last" if self._scenario.regime in ("shared", "external_state") else self._table.carry

    async def _task(self, task: ScenarioTask, start: Snapshot) -> list[_Attempt]:
        found: list[_Attempt] = []
        feedback: Feedback | None = None
        for number in range(self._table.rounds + 1 if self._table.user else 1):
            again = self._scenario.regime == "git_reset" or not found
            attempt, feedback = await self._attempt(
                task, number, start if again else found[-1].snapshot, feedback, found[-1].part if found else None
            )
            found.append(attempt)
            if not _is_tried_again(attempt.grade):
                break
        return found

    async def _attempt(
        self, task: ScenarioTask, number: int, before: Snapshot, said: Feedback | None, last: Part | None
    ) -> tuple[_Attempt, Feedback | None]:
        table = self._table
        workspace, budget = table.toolset.desk.workspace, table.budget
        workspace.go_to(before)
        budget.begin_attempt()
        table.watched(f"{task.id}, attempt {number + 1} of {table.rounds + 1 if table.user else 1}")
        spent, seconds, calls = budget.counts(), budget.seconds, table.toolset.calls.total()
        prompt = Prompt(task_id=task.id, attempt=number, text=prompt_of(self._scenario, task, said))
        rollout = await table.scaffold.run(prompt, table.toolset, self._history, budget)
        after = workspace.snapshot
        last_words = rollout.said[-1].text if rollout.said else ""
        grade = await self._graded(task, number, after, last_words)
        self.grades.append(grade)
        feedback = None
        if _is_tried_again(grade) and table.user is not None and number < table.rounds:
            feedback = await self._feedback(table.user, task, number, grade, rollout, after)
        labels = self._labels
        counts = {name: value - spent.get(name, 0) for name, value in budget.counts().items()}
        counts |= _judging(grade) | {"turns": budget.turns, "calls": table.toolset.calls.total() - calls}
        counts |= {"changed_files": len({path for each in rollout.called for path in _paths(each.result.changed)})}
        record = RecordedRollout(
            agent=labels.agent,
            scenario=self._scenario.id,
            task_id=task.id,
            attempt=number,
            trial=labels.trial,
            condition=labels.condition,
            license=self._scenario.license,
            before=before.id,
            after=after.id,
            rollout=rollout,
            grade=grade,
            feedback=feedback,
            turns=budget.turns,
            seconds=budget.seconds - seconds,
        )
        run = Trajectory(
            id=f"{labels.agent}/{task.id}/{labels.condition}/{labels.trial}/{number}",
            task_id=task.id,
            model=labels.agent,
            trial=number,
            **_verdict(rollout, grade),
            ending=rollout.ended,
            score=grade.score,
            messages=rollout.messages(),
            user_model=said.by if said else None,
            protocol=labels.protocol,
            usage=counts,
            judgements=grade.judgements(),
            retry_of=last.trajectory.id if last else None,
        )
        part = Part(trajectory=run, record=record.model_dump(mode="json"))
        return _Attempt(after, grade, part), feedback

    async def _graded(self, task: ScenarioTask, number: int, snapshot: Snapshot, said: str) -> Grade:
        table = self._table

        async def work() -> Grade:
            with open_eval_space(table.store, snapshot, table.gold, table.spaces, table.hidden) as space:
                found = await asyncio.to_thread(table.judge, task, space, said)
                return await found if inspect.isawaitable(found) else found

        return await table.steps.run("grade", f"{task.id} {number} {snapshot.id}", Grade, work)

    async def _feedback(
        self, user: User, task: ScenarioTask, number: int, grade: Grade, rollout: Rollout, snapshot: Snapshot
    ) -> Feedback:
        last_words = rollout.said[-1].text if rollout.said else ""
        files = [path for path, entry in snapshot.entries.items() if entry.kind == "file"]
        situation = Situation(task, number, grade, files, last_words)
        owner = f"{self._labels.agent}/{task.id}"

        async def work() -> Feedback:
            found = await user.respond(situation, owner)
            return LeakFilter(task, self._table.gold, self._known(rollout, snapshot)).filtered(found)

        return await self._table.steps.run("feedback", f"{task.id} {number}", Feedback, work)

    def _known(self, rollout: Rollout, snapshot: Snapshot) -> list[str]:
        """Return what the agent has read or written itself."""
        room, known = MOST_KNOWN_BYTES, [event.result.output for event in rollout.called]
        for path, entry in snapshot.entries.items():
            known.append(path)
            if entry.kind == "file" and entry.size <= room:
                room -= entry.size
                known.append(self._table.store.read(snapshot, path).decode("utf-8", errors="replace"))
        return known

    def _summary(self, parts: list[Part], firsts: list[Grade], finals: list[Grade]) -> Trajectory:
        labels, scenario = self._labels, self._scenario
        score = mean(grade.points for grade in finals) / TOP_SCORE
        unjudged = [grade.task_id for grade in finals if grade.status == "judge_error"]
        runs = [part.trajectory for part in parts]
        names = {name for run in runs for name in run.usage}
        usage = {name: sum(run.usage.get(name, 0) for run in runs) for name in sorted(names)}
        for name in ("cost", "judge_cost"):
            if any(name not in run.usage for run in runs):
                usage.pop(name, None)
        usage |= {
            "tasks": len(finals),
            "tasks_passed": sum(grade.passed for grade in finals),
            "tasks_passed_first": sum(grade.passed for grade in firsts),
            "task_attempts": len(parts),
            "points": sum(round(POINTS * grade.points) for grade in finals),
            "points_first": sum(round(POINTS * grade.points) for grade in firsts),
            "points_possible": round(POINTS * TOP_SCORE) * len(finals),
            "messages": sum(len(run.messages) for run in runs),
        }
        return Trajectory(
            id=f"{labels.agent}/{scenario.id}/{labels.condition}/{labels.trial}",
            task_id=scenario.id,
            model=labels.agent,
            trial=labels.trial,
            ending=next((run.ending for run in runs if run.ending != "done"), "done"),
            status="judge_error" if unjudged else "ok",
            status_reason=f"no judge gave an answer that counts for {', '.join(unjudged)}" if unjudged else "",
            score=None if unjudged else round(score, 9),
            passed=None if unjudged else round(score, 9) >= PASS_SHARE,
            usage=usage,
            protocol=labels.protocol,
        )


def carried(attempts: list[_Attempt], carry: Carry) -> _Attempt:
    """Return the attempt whose workspace the next task begins on.

    ``best`` is the attempt with the highest score, the earliest of several; ``first`` is the first one, unless a later
    one passes.
    """
    if carry == "last":
        return attempts[-1]
    if carry == "best":
        return max(attempts, key=lambda attempt: attempt.grade.points)
    return attempts[-1] if attempts[-1].grade.passed else attempts[0]


def prompt_of(scenario: Scenario, task: ScenarioTask, said: Feedback | None) -> str:
    """Write what an agent is asked in an attempt."""
    total = len(scenario.tasks)
    parts = [f"Task {scenario.tasks.index(task) + 1} of {total}\n\n{task.query}"]
    if task.deliverables:
        parts.append("Deliverables:\n" + "\n".join(f"- {each.text}" for each in task.deliverables))
    if visible := [each.text for each in task.criteria if each.visible]:
        parts.append("Your work is judged by:\n" + "\n".join(f"- {text}" for text in visible))
    if said is not None:
        parts.append(f"You have tried this task before. The user says:\n\n{said.text}")
    return "\n\n".join(parts)


def _is_tried_again(grade: Grade) -> bool:
    """Whether an attempt is followed by a feedback; one that no judge could judge is not."""
    return not grade.passed and grade.status != "judge_error"


def _verdict(rollout: Rollout, grade: Grade) -> dict[str, Any]:
    """Return the status of an attempt and whether it passed, by the agent and by the judge."""
    reasons = [text for each in (grade.panel.grades if grade.panel else ()) for text in _why(each)]
    if grade.status == "judge_error":
        return {"status": "judge_error", "status_reason": "; ".join(reasons), "passed": None}
    if grade.status == "not_demonstrated":
        return {"status": "agent_error", "status_reason": f"not demonstrated: {'; '.join(reasons)}", "passed": False}
    return {"status": rollout.status, "status_reason": rollout.reason, "passed": grade.passed}


def _why(grade: KindGrade) -> list[str]:
    return sorted({each.reason for each in grade.opinions if each.problem}) if grade.score is None else []


def _judging(grade: Grade) -> dict[str, float]:
    """Count the requests of judges that are models, and what they cost."""
    opinions = [each for kind in (grade.panel.grades if grade.panel else ()) for each in kind.opinions]
    if not opinions:
        return {}
    costs = [each.cost for each in opinions if each.cost is not None]
    cost = {"judge_cost": sum(costs)} if len(costs) == len(opinions) else {}
    return {"judge_requests": sum(each.requests for each in opinions), **cost}


def _paths(changed: Difference) -> tuple[str, ...]:
    return (*changed.added, *changed.changed, *changed.removed)
