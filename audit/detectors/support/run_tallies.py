"""Cases counted per model or judge, and label fields that split them perfectly."""

from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, ClassVar, NamedTuple

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

Margins = dict[str, dict[str, list[int]]]
"""Runs, and runs with the habit, by field and value."""
RULE = 0.5
"""A value has the habit when the 95 % Wilson interval of its share lies above this."""
NEVER = 0.1
"""The other values lack it when they have no run with it, and the interval of their common share ends below this."""


class LabelSplit(NamedTuple):
    """How a habit splits."""

    field: str
    """Field of the logs that it splits by."""
    having: tuple[str, ...]
    """Values whose runs have it."""
    lacking: tuple[str, ...]
    """Values whose runs never have it."""
    affected: int
    """Runs with it; all of them are of values that have it."""
    runs: int
    """Runs of these values."""
    clean: int
    """Runs of the others."""

    def sentence(self, who: str, habit: str) -> str:
        """State the conflict for a simulator, model or judge with a habit, such as "gives its thoughts away"."""
        return (
            f"The logs disagree about {who}: it {habit} in {self.affected:,} of {self.runs:,} runs whose {self.field} "
            f"is {', '.join(self.having)}, and in none of {self.clean:,} runs whose {self.field} is "
            f"{', '.join(self.lacking)}. Runs of both kinds carry the same name, so a label is wrong, or the runs "
            "differ in something that the logs do not say."
        )


def other_fields(run: Trajectory, *, by_agent: bool) -> dict[str, str]:
    """Return the fields of a run other than the one that is counted by.

    Args:
        run: the run.
        by_agent: whether agents are who is counted; else it is the simulator of one experiment.
    """
    file = run.origin.file if run.origin else ""
    counted = {"simulated user": run.user_model or "", "experiment": run.protocol or ""}
    return {**(counted if by_agent else {"agent": run.model}), "source file": file}


def count(margins: Margins, fields: Mapping[str, str], affected: bool) -> None:
    """Count a run."""
    for field, value in fields.items():
        cell = margins.setdefault(field, {}).setdefault(value, [0, 0])
        cell[0] += 1
        cell[1] += affected


def added(several: Iterable[Mapping[str, Mapping[str, list[int]]]]) -> Margins:
    """Add up the counts of several tasks."""
    total: Margins = {}
    for margins in several:
        for field, values in margins.items():
            for value, (runs, affected) in values.items():
                cell = total.setdefault(field, {}).setdefault(value, [0, 0])
                cell[0] += runs
                cell[1] += affected
    return total


def label_split(margins: Mapping[str, Mapping[str, list[int]]]) -> LabelSplit | None:
    """Find the field that a habit splits perfectly by; None when none does."""
    for field, values in margins.items():
        having = {value: cell for value, cell in values.items() if cell[1]}
        lacking = {value: cell for value, cell in values.items() if not cell[1]}
        clean = sum(runs for runs, _ in lacking.values())
        if not having or not clean or wilson(0, clean)[1] >= NEVER:
            continue
        if all(wilson(affected, runs)[0] > RULE for runs, affected in having.values()):
            runs, affected = (sum(cell[i] for cell in having.values()) for i in (0, 1))
            names = [tuple(sorted(value or "not named" for value in group)) for group in (having, lacking)]
            return LabelSplit(field, names[0], names[1], affected, runs, clean)
    return None


EXEMPLARS = 5
"""Most tasks that a finding quotes."""
_NOTHING = ""


class Case(NamedTuple):
    """One thing that was looked at."""

    group: str
    """Who is counted: a model, or a judge with the model it judged."""
    kinds: tuple[str, ...] = ()
    """What is wrong with it, as text that follows a number; empty when nothing is."""
    evidence: tuple[Evidence, ...] = ()
    """Quotes that show it."""
    run: Trajectory | None = None
    """The run that it is about."""


class Tally(NamedTuple):
    """The cases of one group."""

    group: str
    """Who is counted."""
    looked: int
    """Cases."""
    affected: int
    """Cases with something wrong."""
    kinds: Mapping[str, int]
    """How many of each kind."""
    low: float
    """Lower end of the 95 % Wilson interval of the share."""
    high: float
    """Upper end."""

    @property
    def share(self) -> str:
        """``101 of 205 (49.3 %, 95 % interval 42.5 % to 56.1 %)``."""
        rate, low, high = (f"{100 * value:.1f} %" for value in (self.affected / self.looked, self.low, self.high))
        return f"{self.affected:,} of {self.looked:,} ({rate}, 95 % interval {low} to {high})"

    @property
    def listed(self) -> str:
        """The kinds with their numbers, most frequent first."""
        ordered = sorted(self.kinds.items(), key=lambda item: (-item[1], item[0]))
        return "; ".join(f"{number:,} {kind}" for kind, number in ordered)


class RunTally(SuiteDetector):
    """A check that looks at each run, or each verdict, and concludes per model or judge.

    Its findings are about runs. The tasks on which it happened are named in ``also_in`` and are not affected by
    it, so that no task is dropped for what a harness did once. Where what is wrong splits perfectly by another field of
    the logs (``label_conflicts``), the finding is about the logs, and not about the model.
    """

    needs_runs = True
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    level = Level.SUITE
    nothing: ClassVar[str]
    """Why a task is not checked when its runs hold no case."""
    fix: ClassVar[str]
    """What to do about it."""

    @abstractmethod
    def cases(self, task: AgentTask, runs: Sequence[Trajectory]) -> Iterable[Case]:
        """Yield everything that was looked at in the runs of one task, right or wrong."""

    @abstractmethod
    def claim(self, tally: Tally) -> str:
        """Describe in one sentence what is wrong with a group."""

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count the cases of one task by group."""
        looked: Counter[str] = Counter()
        kinds: dict[str, Counter[str]] = defaultdict(Counter)
        wrong: Counter[str] = Counter()
        quotes: dict[str, tuple[Evidence, ...]] = {}
        by: dict[str, Margins] = defaultdict(dict)
        for case in self.cases(task, list(runs)):
            looked[case.group] += 1
            if case.run is not None:
                count(by[case.group], other_fields(case.run, by_agent=True), bool(case.kinds))
            if case.kinds:
                wrong[case.group] += 1
                kinds[case.group].update(case.kinds)
                quotes.setdefault(case.group, case.evidence)
        for group, number in sorted(looked.items()):
            value: dict[str, Any] = {
                "looked": number,
                "wrong": wrong[group],
                "kinds": dict(sorted(kinds[group].items())),
            }
            value["by"] = by[group]
            yield Observation(task_id=task.id, key=group, value=value, evidence=quotes.get(group, ()))
        if not looked:
            yield Observation(task_id=task.id, key=_NOTHING)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one finding per group with something wrong."""
        nothing = tuple(item.task_id for item in observations if item.key == _NOTHING)
        if nothing:
            yield Undecided(task_ids=nothing, reason=self.nothing)
        groups: dict[str, list[Observation]] = defaultdict(list)
        for item in observations:
            if item.key != _NOTHING:
                groups[item.key].append(item)
        for group, items in sorted(groups.items()):
            touched = [item for item in items if item.value["wrong"]]
            if touched:
                tasks = tuple(dict.fromkeys(item.task_id for item in touched))
                split = label_split(added(item.value["by"] for item in items))
                yield Conclusion(task_ids=(), also_in=tasks, hit=self._hit(_tally(group, items), touched, split))

    def _hit(self, tally: Tally, touched: Sequence[Observation], split: LabelSplit | None) -> Hit:
        step = max(1, len(touched) // EXEMPLARS)
        shown = touched[::step][:EXEMPLARS]
        return Hit(
            claim=split.sentence(tally.group, f"is said to be at fault ({tally.listed})")
            if split
            else self.claim(tally),
            fix=f"Find out what differs between these runs before {tally.group} is blamed." if split else self.fix,
            level=Level.SUITE if split else None,
            cause=f"runs of {tally.group}",
            evidence=tuple(chain.from_iterable(item.evidence for item in shown)),
            measures={
                "looked": tally.looked,
                "affected": tally.affected,
                "rate": tally.affected / tally.looked,
                "low": tally.low,
                "high": tally.high,
                **tally.kinds,
            },
        )


def _tally(group: str, items: Sequence[Observation]) -> Tally:
    kinds: Counter[str] = Counter()
    for item in items:
        kinds.update(item.value["kinds"])
    looked, wrong = (sum(item.value[name] for item in items) for name in ("looked", "wrong"))
    return Tally(group, looked, wrong, kinds, *wilson(wrong, looked))
