"""The columns of every table, with their meaning: the one source of the Parquet schemas and of the data dictionary."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import pyarrow as pa

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.decisions.tickets import Ticket
from agenthard.audit.evidence import canonical_json
from agenthard.audit.sources.base import NotRead, Quarantined
from agenthard.reports.json_text import utf8
from agenthard.taxonomy.finding import Coverage, Evidence, Finding
from agenthard.taxonomy.record import Origin, Record
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

TEXT = pa.string()
TEXTS = pa.list_(TEXT)


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    """Name."""
    type: pa.DataType
    """Arrow type."""
    doc: str
    """What it means."""
    value: Callable[[Any], Any]
    """Takes a row's record to the cell."""


@dataclass(frozen=True)
class Table:
    """One Parquet file."""

    name: str
    """Name of the file, without its ending."""
    doc: str
    """What a row is."""
    columns: tuple[Column, ...]
    """Columns in order."""
    group: int = 10_000
    """Rows per row group."""

    @property
    def schema(self) -> pa.Schema:
        """Arrow schema; every field carries its meaning as metadata."""
        return pa.schema([pa.field(c.name, c.type, metadata={"description": c.doc}) for c in self.columns])

    def batch(self, records: Iterable[Any]) -> pa.RecordBatch:
        """Turn records into a batch of rows."""
        rows = list(records)
        arrays = [_array([column.value(row) for row in rows], column.type) for column in self.columns]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def as_json(value: Any) -> str:
    """Serialise to canonical JSON that any reader can decode: a lone surrogate is written as its escape."""
    return utf8(canonical_json(value))


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(values, type=kind)
    except UnicodeEncodeError:
        return pa.array(_mended(values), type=kind)


def _mended(value: Any) -> Any:
    if isinstance(value, str):
        return utf8(value)
    if isinstance(value, dict):
        return {key: _mended(item) for key, item in value.items()}
    return [_mended(item) for item in value] if isinstance(value, list | tuple) else value


def _of(record: type[Record], /, **types: pa.DataType) -> list[Column]:
    fields = record.model_fields
    return [
        Column(name, kind, " ".join((fields[name].description or "").split()), attrgetter(name))
        for name, kind in types.items()
    ]


def _json(model: type[Record], *names: str) -> list[Column]:
    def cell(name: str) -> Callable[[Any], str]:
        return lambda record: as_json(getattr(record, name))

    return [Column(n, TEXT, f"{model.model_fields[n].description} As JSON.", cell(n)) for n in names]


def _origin(place: Callable[[Any], Origin | None]) -> list[Column]:
    def part(name: str) -> Callable[[Any], Any]:
        return lambda record: None if (origin := place(record)) is None else getattr(origin, name)

    kinds = {"file": TEXT, "line": pa.int64(), "pointer": TEXT}
    docs = {name: Origin.model_fields[name].description or "" for name in kinds}
    return [Column(f"origin_{name}", kind, docs[name], part(name)) for name, kind in kinds.items()]


def _environment() -> Column:
    texts: dict[int, tuple[Any, str]] = {}

    def cell(task: AgentTask) -> str:
        environment = task.environment
        if id(environment) not in texts:
            texts[id(environment)] = environment, as_json(environment.model_dump(mode="json", exclude={"state"}))
        return texts[id(environment)][1]

    return Column("environment", TEXT, "Tools, policy and the name of the shared state. As JSON.", cell)


def tasks_table() -> Table:
    """Return the table of tasks."""
    columns = [
        *_of(AgentTask, id=TEXT, native_id=TEXT, benchmark=TEXT, subtask=TEXT, cluster=TEXT),
        Column("traits", TEXTS, "Conventions of this task that checks respect, sorted.", lambda t: sorted(t.traits)),
        Column("tool_names", TEXTS, "Names of the agent's tools.", lambda t: [o.name for o in t.environment.tools]),
        *_json(AgentTask, "user", "initial_state", "hidden_tools", "evaluation", "ground_truth", "metadata"),
        _environment(),
        *_origin(lambda task: task.origins.get("")),
    ]
    return Table("tasks", "A task, in the benchmark's order.", tuple(columns), group=500)


def trajectories_table() -> Table:
    """Return the table of runs."""
    columns = [
        *_of(Trajectory, id=TEXT, task_id=TEXT, model=TEXT, trial=pa.int64(), status=TEXT, status_reason=TEXT),
        *_of(Trajectory, score=pa.float64(), passed=pa.bool_(), user_model=TEXT, protocol=TEXT),
        *_json(Trajectory, "messages", "usage"),
        *_origin(attrgetter("origin")),
    ]
    return Table("trajectories", "A run of a model on a task.", tuple(columns), group=200)


def findings_table(evidence: Callable[[Evidence], dict[str, Any]], component: Callable[[str], str]) -> Table:
    """Return the table of findings.

    Args:
        evidence: gives a quote with the file and line it stands at.
        component: gives the component of a category.
    """
    kinds = [(name, TEXT) for name in ("task_id", "pointer", "quote", "trajectory_id", "note", "file")]
    quotes = pa.list_(pa.struct([*kinds, ("line", pa.int64())]))
    doc = f"{Finding.model_fields['evidence'].description} Each with the file and line it stands at."
    columns = [
        *_of(Finding, id=TEXT, check=TEXT, check_version=TEXT, category=TEXT),
        Column("component", TEXT, "Part of the task that is wrong.", lambda finding: component(finding.category)),
        *_of(
            Finding, severity=TEXT, tier=TEXT, level=TEXT, claim=TEXT, why=TEXT, fix=TEXT, task_ids=TEXTS, also_in=TEXTS
        ),
        Column("evidence", quotes, doc, lambda finding: [evidence(item) for item in finding.evidence]),
        *_of(Finding, decides=TEXTS, command=TEXT),
        Column("proof", TEXT, f"{Finding.model_fields['proof'].description} As JSON.", _proof),
        *_json(Finding, "patch", "measures"),
    ]
    return Table("findings", "A flaw with its cause, its evidence and all tasks it touches.", tuple(columns))


def _proof(finding: Finding) -> str | None:
    return None if finding.proof is None else as_json(finding.proof.model_dump(mode="json"))


TICKETS = Table(
    "tickets",
    "A cause that tasks share, in the order of tasks × effect on the score.",
    (
        *_of(Ticket, place=pa.int64(), finding_id=TEXT, level=TEXT, check=TEXT, tier=TEXT, severity=TEXT),
        *_of(Ticket, claim=TEXT, fix=TEXT, tasks=pa.int64(), seen_in=pa.int64()),
        *_of(Ticket, effect=pa.float64(), basis=TEXT, weight=pa.float64(), decides=TEXTS, command=TEXT),
    ),
)


def decisions_table(place: Mapping[str, int]) -> Table:
    """Describe the table of decisions.

    Args:
        place: place of tasks in the review queue.
    """
    doc = "Place in the review queue: 1 has the surest and gravest evidence; empty when no finding speaks of the task."
    columns = [
        *_of(Decision, task_id=TEXT, action=TEXT, reasons=TEXTS, finding_ids=TEXTS),
        *_of(Decision, deciding_clean=pa.int64(), deciding_ran=pa.int64(), rests_on=TEXTS),
        Column("review_place", pa.int64(), doc, lambda decision: place.get(decision.task_id)),
    ]
    return Table("decisions", "What happens to a task, in the benchmark's order.", tuple(columns))


COVERAGE = Table(
    "coverage",
    "What one check did on one task. A pair that is absent was not checked.",
    tuple(_of(Coverage, task_id=TEXT, check=TEXT, status=TEXT, reason=TEXT)),
    group=100_000,
)
NOT_READ = Table(
    "not_read",
    "A file or folder that looks like tasks of the benchmark and was not read.",
    tuple(_of(NotRead, file=TEXT, tasks=pa.int64(), left_out=pa.bool_(), reason=TEXT)),
)
QUARANTINE = Table(
    "quarantine",
    "A record that could not be read.",
    tuple(_of(Quarantined, file=TEXT, line=pa.int64(), pointer=TEXT, kind=TEXT, task_id=TEXT, reason=TEXT)),
)
