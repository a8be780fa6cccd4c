"""The answer key: one line per planted flaw."""

from pathlib import Path
from typing import Any

from pydantic import Field

from agenthard.audit.faults.operator import DecidedBy
from agenthard.taxonomy.record import Record

ANSWER_KEY, MANIFEST, BENCHMARK = "answer_key.jsonl", "manifest.json", "benchmark"


class PlantedFault(Record):
    """What was planted, where, and what a finding has to say."""

    task_ids: tuple[str, ...] = Field(min_length=1)
    """Tasks that carry the flaw; two for a task that is in the benchmark twice."""
    category: str
    """Taxonomy category."""
    also: tuple[str, ...] = ()
    """Other categories under which the very same fact can rightly be reported."""
    operator: str
    """Who planted it."""
    decided_by: DecidedBy
    """Whether rules can decide that it is there."""
    because: str
    """Why."""
    rule_known: bool
    """Whether a check for it was known when the operator was written."""
    pointer: str
    """JSON Pointer into the first task (into a run, for flaws of runs) to what was changed."""
    before: Any = None
    """What was there."""
    after: Any = None
    """What is there now."""
    says: str
    """What a finding has to say."""


def read_key(path: Path) -> list[PlantedFault]:
    """Read an answer key.

    Raises:
        ValueError: a line is not an entry; the message names it.
    """
    entries = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        try:
            entries.append(PlantedFault.model_validate_json(line))
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: no entry of an answer key ({error})") from error
    return entries
