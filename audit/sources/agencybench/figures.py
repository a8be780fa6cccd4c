"""The figures that AgencyBench reports of a run, in each of their readings, and how many runs did no work at all.

Scores are on the scale 0 to 100. A scenario's score is the mean of its tasks; a task's score is that of its last
attempt, or of its best.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean

from agenthard.audit.idleness import EMPTY, LOOKED, UNCHANGED, idle_sign, only_call
from agenthard.audit.sources.base import FigureTable
from agenthard.taxonomy.trajectory import RunStatus, Trajectory

PERCENT_PER_POINT = 10.0
PASS_PERCENT = 60.0
ALL = "all"


@dataclass(frozen=True)
class Attempt:
    """What the figures need of a run."""

    scenario: str
    """Capability and scenario: ``Game/scenario1``."""
    task_id: str
    """Task."""
    number: int
    """0-based attempt."""
    score: float
    """Score in percent."""
    lowest: float
    """Lowest score that one of its judges gave, in percent."""
    sign: str | None
    """What shows that the agent did no work, in the words of the idle check; None where it did."""
    cut: bool
    """The log ends with the result of a first call that may have changed something."""
    status: RunStatus
    """Status of the run."""

    @property
    def dead(self) -> bool:
        """Whether the log shows no work of the agent."""
        return self.sign is not None

    @property
    def valid(self) -> bool:
        """Whether the attempt holds work that could be scored."""
        return not self.dead and self.status == "ok"


@dataclass(frozen=True)
class ScenarioAttempts:
    """The attempts at the tasks of one scenario."""

    id: str
    """Capability and scenario."""
    tasks: tuple[tuple[Attempt, ...], ...]
    """Attempts of each task, in order."""

    @property
    def capability(self) -> str:
        """Capability."""
        return self.id.split("/")[0]

    @cached_property
    def attempts(self) -> tuple[Attempt, ...]:
        """All attempts."""
        return tuple(attempt for task in self.tasks for attempt in task)

    @property
    def per_task(self) -> float:
        """Attempts per task (Att, equation 1)."""
        return len(self.attempts) / len(self.tasks)

    def last(self, limit: int | None = None) -> float:
        """Score by the last attempt, or by the last of the first ``limit``."""
        return mean(task[:limit][-1].score for task in self.tasks)

    def best(self) -> float:
        """Score by the best attempt."""
        return mean(max(attempt.score for attempt in task) for task in self.tasks)

    def valid(self) -> "ScenarioAttempts | None":
        """The scenario without invalid attempts and the tasks that are then left without one."""
        kept = tuple(tuple(a for a in task if a.valid) for task in self.tasks)
        kept = tuple(task for task in kept if task)
        return ScenarioAttempts(self.id, kept) if kept else None

    def passed_tasks(self, limit: int, by: Callable[[Attempt], float]) -> int:
        """Count the tasks with an attempt among the first ``limit`` that passes by the score ``by``."""
        return sum(any(_passes(by(attempt)) for attempt in task[:limit]) for task in self.tasks)


def gather(runs: Iterable[Trajectory]) -> dict[str, list[ScenarioAttempts]]:
    """Order runs by run folder and scenario; without a score an error of the agent counts 0, any other run not."""
    found: dict[str, dict[str, dict[str, list[Attempt]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for run in runs:
        points = 0.0 if run.score is None and run.status == "agent_error" else run.score
        if points is not None:
            scenario = run.task_id.rsplit("/", 1)[0]
            lowest = min((item.score for item in run.judgements if item.score is not None), default=points)
            score, lowest = PERCENT_PER_POINT * points, PERCENT_PER_POINT * lowest
            sign = idle_sign(run)
            kind, cut = sign.kind if sign else None, sign is None and only_call(run) is not None
            attempt = Attempt(scenario, run.task_id, run.trial, score, lowest, kind, cut, run.status)
            found[run.protocol or ""][scenario][run.task_id].append(attempt)
    return {
        name: [
            ScenarioAttempts(key, tuple(tuple(sorted(task, key=lambda a: a.number)) for task in tasks.values()))
            for key, tasks in scenarios.items()
        ]
        for name, scenarios in sorted(found.items())
    }


def s_avg(scenarios: Sequence[ScenarioAttempts], score: Callable[[ScenarioAttempts], float]) -> float:
    """Mean over scenarios of their score (S_avg)."""
    return mean(map(score, scenarios))


def pass_at(scenarios: Sequence[ScenarioAttempts], limit: int) -> int:
    """Count the scenarios whose mean score after ``limit`` attempts is 60 % or more.

    This reading of Pass@k, by scenario and last attempt, is that of the benchmark's published table.
    """
    return sum(_passes(scenario.last(limit)) for scenario in scenarios)


def figures(runs: Iterable[Trajectory]) -> tuple[FigureTable, ...]:
    """Return three tables per run folder: scores, measures of the whole run, and where no work was done.

    Args:
        runs: attempts in any order.
    """
    return tuple(
        table
        for name, scenarios in gather(runs).items()
        for table in (_scores(name, scenarios), _measures(name, scenarios), _idle(name, scenarios))
    )


def _score(attempt: Attempt) -> float:
    return attempt.score


def _lowest(attempt: Attempt) -> float:
    return attempt.lowest


def _passes(percent: float) -> bool:
    return round(percent, 9) >= PASS_PERCENT


def _groups(scenarios: Sequence[ScenarioAttempts]) -> list[tuple[str, list[ScenarioAttempts]]]:
    names = dict.fromkeys(scenario.capability for scenario in scenarios)
    return [*((name, [s for s in scenarios if s.capability == name]) for name in names), (ALL, list(scenarios))]


def _scores(name: str, scenarios: Sequence[ScenarioAttempts]) -> FigureTable:
    rows = []
    for label, group in _groups(scenarios):
        valid = [kept for scenario in group if (kept := scenario.valid()) is not None]
        left = sum(len(scenario.tasks) for scenario in valid)
        tasks = sum(len(scenario.tasks) for scenario in group)
        rows.append(
            (
                label,
                str(len(group)),
                str(tasks),
                f"{s_avg(group, ScenarioAttempts.last):.1f}",
                f"{s_avg(group, ScenarioAttempts.best):.1f}",
                f"{s_avg(valid, ScenarioAttempts.last):.1f}" if valid else "–",
                f"{left} of {tasks}",
            )
        )
    return FigureTable(
        title=_title("Scores", name),
        columns=("capability", "scenarios", "tasks", "last attempt", "best attempt", "valid attempts only", "on tasks"),
        rows=tuple(rows),
        note="Mean over scenarios of the mean over their tasks, 0 to 100. The column of valid attempts leaves out dead "
        "attempts and those whose status is not ok, and the tasks that are then left without one.",
    )


def _measures(name: str, scenarios: Sequence[ScenarioAttempts]) -> FigureTable:
    tasks, attempts = sum(len(s.tasks) for s in scenarios), sum(len(s.attempts) for s in scenarios)
    most = max(len(task) for s in scenarios for task in s.tasks)
    total = len(scenarios)
    rows = [
        ("S_avg, last attempt", f"{s_avg(scenarios, ScenarioAttempts.last):.1f}"),
        ("Att, mean over scenarios", f"{mean(s.per_task for s in scenarios):.3f}"),
        ("Att, all attempts by all tasks", f"{attempts / tasks:.3f} ({attempts} by {tasks})"),
    ]
    for k in range(1, most + 1):
        passed = pass_at(scenarios, k)
        rows.append((f"Pass@{k} by scenario, last attempt", f"{passed}/{total} ({passed / total:.1%})"))
    best = sum(_passes(scenario.best()) for scenario in scenarios)
    rows.append((f"Pass@{most} by scenario, best attempt", f"{best}/{total} ({best / total:.1%})"))
    for k in range(1, most + 1):
        shares = [s.passed_tasks(k, _score) / len(s.tasks) for s in scenarios]
        rows.append((f"Pass@{k} by task, mean over scenarios (equation 2)", f"{mean(shares):.1%}"))
        for label, by in (("", _score), (" that every judge passes", _lowest)):
            passed = sum(s.passed_tasks(k, by) for s in scenarios)
            rows.append((f"Pass@{k} by task{label}, all tasks", f"{passed}/{tasks} ({passed / tasks:.1%})"))
    note = (
        "A scenario passes with a mean of 60 % or more, a task with an attempt of 60 % or more. Published tables are "
        "by scenario; equation 2 of the paper is by task. With two judges an attempt's score is the mean of theirs; "
        "the released scripts stop only when both pass."
    )
    return FigureTable(title=_title("Measures", name), columns=("measure", "value"), rows=tuple(rows), note=note)


_KINDS = {EMPTY: "no reply", UNCHANGED: "no changed line", LOOKED: "one look, then the end"}
_NO_CALL = "no call"
"""What the other signs mean: a stock phrase, an error, or a call that was written and not carried out."""
_COLUMNS = ("no reply", _NO_CALL, "one look, then the end", "no changed line")


def _idle(name: str, scenarios: Sequence[ScenarioAttempts]) -> FigureTable:
    rows = [_idle_row(label, group) for label, group in _groups(scenarios)]
    rows += [_idle_row(scenario.id, [scenario]) for scenario in scenarios if any(a.dead for a in scenario.attempts)]
    return FigureTable(
        title=_title("Attempts without work", name),
        columns=(
            "where",
            "attempts",
            "dead",
            "share",
            *_COLUMNS,
            "one other call, then the end",
            "infrastructure",
            "judge",
            "tasks with no live attempt",
        ),
        rows=tuple(rows),
        note="Dead: the log shows no work of the agent. No reply: the reply is empty. No call: a stock phrase such as "
        '"Task completed", an error, or a call that was written and not carried out. One look, then the end: the log '
        "ends with the result of the first call, which only lists or reads. No changed line: the log counts none. One "
        "other call, then the end: that call wrote a file or ran a command, so the attempt is not called dead. "
        "Infrastructure and judge: attempts that could not be scored, though the benchmark counts the score that was "
        "written. Scenarios without a dead attempt are left out.",
    )


def _idle_row(label: str, group: Sequence[ScenarioAttempts]) -> tuple[str, ...]:
    attempts = [attempt for scenario in group for attempt in scenario.attempts]
    tasks = [task for scenario in group for task in scenario.tasks]
    dead = sum(attempt.dead for attempt in attempts)
    lost = sum(all(attempt.dead for attempt in task) for task in tasks)
    infrastructure, judge = (
        sum(attempt.status == status for attempt in attempts) for status in ("infrastructure_error", "judge_error")
    )
    share = f"{dead / len(attempts):.0%}"
    kinds = Counter(_KINDS.get(attempt.sign, _NO_CALL) for attempt in attempts if attempt.sign is not None)
    counts = (*(kinds[kind] for kind in _COLUMNS), sum(a.cut for a in attempts), infrastructure, judge)
    return label, str(len(attempts)), str(dead), share, *map(str, counts), f"{lost} of {len(tasks)}"


def _title(what: str, name: str) -> str:
    return f"{what} of the run {name}" if name else what
