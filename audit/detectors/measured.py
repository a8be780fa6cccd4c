"""What was measured of each check: cost, agreement with labels, seeded faults, findings on real benchmarks.

``measured.json`` in this folder holds the figures; ``perf/measure_checks.py`` writes it from run folders.
``readings.jsonl`` holds the findings that a person or a model read against the data of the benchmark, with a judgement.
"""

from collections import Counter
from functools import cache
from importlib.resources import files
from typing import Literal

from pydantic import Field, TypeAdapter

from agenthard.taxonomy.record import Record


class CheckCost(Record):
    """Time that a check took on a benchmark, with everything that it waited for."""

    tasks: int
    """Tasks it looked at."""
    seconds: float
    """Seconds in all, summed over processes. What checks share is paid by the first of them."""
    executed: float = 0.0
    """Seconds of these that it waited for processes of benchmark code."""

    @property
    def milliseconds_per_task(self) -> float:
        """Mean over the tasks."""
        return 1000 * self.seconds / self.tasks if self.tasks else 0.0


class LabelCounts(Record):
    """Agreement with labels. A task without a label is not necessarily sound, so precision is a lower bound."""

    labelled: int
    """Labelled tasks that the audit read."""
    flawed: int
    """Those labelled flawed."""
    flagged: int
    """Those that the check flags."""
    both: int
    """Those that are flagged and labelled flawed."""
    data: Literal["development", "held-out"] = "development"
    """development: the checks were developed on these labels."""


class SeededCounts(Record):
    """Flaws that were planted in one category into sound tasks."""

    planted: int
    """Tasks with such a flaw."""
    found: int
    """Those that the check flags."""


class RealFindings(Record):
    """Findings of one check on one real benchmark."""

    findings: int
    """Findings."""
    tasks: int
    """Distinct tasks that they affect."""


Judgement = Literal["true", "arguable", "false"]
"""true: the flaw is there as claimed. arguable: the fact is right, whether it is a flaw is open. false: no flaw."""


class Reading(Record):
    """A finding that was read against the data of the benchmark."""

    check: str
    """Id of the check."""
    corpus: str
    """Benchmark, as named in ``measured.json``."""
    task: str
    """First task that the finding affects or names."""
    finding: str
    """Id of the finding."""
    judgement: Judgement
    """The judgement."""
    reason: str
    """Why, in a few words."""


class Measured(Record):
    """What was measured of one check."""

    cost: dict[str, CheckCost] = Field(default_factory=dict)
    """By benchmark."""
    labels: dict[str, LabelCounts] = Field(default_factory=dict)
    """By label set."""
    seeded: dict[str, SeededCounts] = Field(default_factory=dict)
    """By category of the planted flaw."""
    findings: dict[str, RealFindings] = Field(default_factory=dict)
    """By real benchmark; one without a finding is left out."""

    def judgements(self, check: str) -> dict[Judgement, int]:
        """Count how the findings of the check that were read were judged."""
        judged = Counter(reading.judgement for reading in readings().get(check, ()))
        kinds: tuple[Judgement, ...] = ("true", "arguable", "false")
        return {kind: judged[kind] for kind in kinds}


@cache
def measured() -> dict[str, Measured]:
    """Read the figures of this release, by the id of the check."""
    text = files("agenthard.audit.detectors").joinpath("measured.json").read_bytes()
    return TypeAdapter(dict[str, Measured]).validate_json(text)


@cache
def readings() -> dict[str, tuple[Reading, ...]]:
    """Read the judgements on findings of this release, by the id of the check."""
    lines = files("agenthard.audit.detectors").joinpath("readings.jsonl").read_text(encoding="utf-8").splitlines()
    found: dict[str, list[Reading]] = {}
    for reading in map(Reading.model_validate_json, lines):
        found.setdefault(reading.check, []).append(reading)
    return {check: tuple(read) for check, read in found.items()}


def real_findings(check: str) -> str:
    """Describe what a check found on real benchmarks, and how the findings that were read were judged."""
    figures = measured().get(check, Measured())
    if not figures.findings:
        return "none"
    listed = "; ".join(f"{name} {counts.findings}" for name, counts in figures.findings.items())
    judged = figures.judgements(check)
    read = ", ".join(f"{number} {kind}" for kind, number in judged.items() if number)
    return f"{listed}. {sum(judged.values())} read: {read or 'none'}"


def measured_lines(check: str) -> list[str]:
    """Describe the measurements of a check: real findings, then one line per benchmark, label set and category."""
    found = measured().get(check, Measured())
    lines = [f"findings on real benchmarks: {real_findings(check)}"] if check in measured() else []
    lines += [
        f"cost on {name}: {cost.milliseconds_per_task:.2f} ms per task ({cost.tasks:,} tasks, {cost.seconds:.1f} s)"
        for name, cost in found.cost.items()
    ]
    lines += [
        f"{counts.data} labels of {name}: {counts.both} of {counts.flagged} flagged tasks are labelled flawed, of "
        f"{counts.flawed} such among {counts.labelled}"
        for name, counts in found.labels.items()
    ]
    lines += [
        f"seeded {category}: finds {counts.found} of {counts.planted}" for category, counts in found.seeded.items()
    ]
    return lines or ["not measured yet"]
