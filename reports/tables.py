"""The tables of a run as Parquet files, with a data dictionary. The columns are the one source of both."""

from collections.abc import Callable, Generator, Iterable, Mapping
from operator import attrgetter
from pathlib import Path
from typing import Any

import pyarrow as pa

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.decisions.priority import review_order
from agenthard.audit.decisions.tickets import Ticket
from agenthard.audit.sources.base import NotRead, Quarantined
from agenthard.reports.coverage_parquet import COVERAGE, write_coverage
from agenthard.reports.kit.parquet import (
    TEXT,
    Column,
    Table,
    as_json,
    columns_of,
    json_columns,
    write_by_group,
    write_parquet,
)
from agenthard.reports.places import Places
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.files import write_text
from agenthard.taxonomy.finding import Evidence, Finding
from agenthard.taxonomy.record import Origin, field_docs
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

TEXTS = pa.list_(TEXT)


def _origin(place: Callable[[Any], Origin | None]) -> list[Column]:
    def part(name: str) -> Callable[[Any], Any]:
        return lambda record: None if (origin := place(record)) is None else getattr(origin, name)

    kinds = {"file": TEXT, "line": pa.int64(), "pointer": TEXT}
    docs = field_docs(Origin)
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
        *columns_of(AgentTask, id=TEXT, native_id=TEXT, benchmark=TEXT, subtask=TEXT, cluster=TEXT),
        Column("traits", TEXTS, "Conventions of this task that checks respect, sorted.", lambda t: sorted(t.traits)),
        Column("tool_names", TEXTS, "Names of the agent's tools.", lambda t: [o.name for o in t.environment.tools]),
        *json_columns(AgentTask, "user", "initial_state", "hidden_tools", "evaluation", "ground_truth", "metadata"),
        _environment(),
        *_origin(lambda task: task.origins.get("")),
    ]
    return Table("tasks", "A task, in the benchmark's order.", tuple(columns), group=500)


JUDGEMENTS = pa.list_(pa.struct([("judge", TEXT), ("kind", TEXT), ("score", pa.float64())]))


def _judgements(run: Trajectory) -> list[dict[str, Any]]:
    return [each.model_dump(include={"judge", "kind", "score"}) for each in run.judgements]


def trajectories_table() -> Table:
    """Return the table of runs."""
    columns = [
        *columns_of(Trajectory, id=TEXT, task_id=TEXT, model=TEXT, trial=pa.int64(), status=TEXT, status_reason=TEXT),
        *columns_of(Trajectory, score=pa.float64(), passed=pa.bool_(), user_model=TEXT, protocol=TEXT),
        *json_columns(Trajectory, "messages", "usage"),
        Column("judgements", JUDGEMENTS, "Who judged the run, what looked at it, and its score.", _judgements),
        *_origin(attrgetter("origin")),
    ]
    return Table("trajectories", "A run of a model on a task.", tuple(columns), group=200)


NATIVE = (
    "Quote and pointer are those of the benchmark's file, with its line and the offsets of its bytes; record_quote and "
    "record_pointer those of AgentHard's record. A quote of a run has its place in the log; bytes are counted unpacked."
)


def findings_table(evidence: Callable[[Evidence], dict[str, Any]], component: Callable[[str], str]) -> Table:
    """Return the table of findings.

    Args:
        evidence: gives a quote with its file and line.
        component: gives the component of a category.
    """
    kinds = [(name, TEXT) for name in ("task_id", "file", "pointer", "quote", "trajectory_id", "note")]
    kinds += [("record_pointer", TEXT), ("record_quote", TEXT)]
    quotes = pa.list_(pa.struct([*kinds, *((name, pa.int64()) for name in ("line", "start", "end"))]))
    doc = f"{field_docs(Finding)['evidence']} {NATIVE}"
    columns = [
        *columns_of(Finding, id=TEXT, check=TEXT, check_version=TEXT, category=TEXT),
        Column("component", TEXT, "Part of the task that is wrong.", lambda finding: component(finding.category)),
        *columns_of(
            Finding, severity=TEXT, tier=TEXT, level=TEXT, claim=TEXT, why=TEXT, fix=TEXT, task_ids=TEXTS, also_in=TEXTS
        ),
        Column("evidence", quotes, doc, lambda finding: [evidence(item) for item in finding.evidence]),
        *columns_of(Finding, decides=TEXTS, command=TEXT),
        Column("proof", TEXT, f"{field_docs(Finding)['proof']} As JSON.", _proof),
        *json_columns(Finding, "patch", "measures"),
    ]
    return Table("findings", "A flaw with its cause, its evidence and all tasks it touches.", tuple(columns))


def _proof(finding: Finding) -> str | None:
    return None if finding.proof is None else as_json(finding.proof.model_dump(mode="json"))


TICKETS = Table(
    "tickets",
    "A cause that tasks share, in the order of tasks × effect on the score.",
    (
        *columns_of(Ticket, place=pa.int64(), finding_id=TEXT, level=TEXT, check=TEXT, tier=TEXT, severity=TEXT),
        *columns_of(Ticket, claim=TEXT, fix=TEXT, tasks=pa.int64(), seen_in=pa.int64()),
        *columns_of(Ticket, effect=pa.float64(), basis=TEXT, weight=pa.float64(), decides=TEXTS, command=TEXT),
    ),
)


def decisions_table(place: Mapping[str, int]) -> Table:
    """Describe the table of decisions.

    Args:
        place: place of tasks in the review queue.
    """
    doc = "Place in the review queue: 1 has the surest and gravest evidence; empty when no finding is about the task."
    columns = [
        *columns_of(Decision, task_id=TEXT, action=TEXT, reasons=TEXTS, finding_ids=TEXTS),
        *columns_of(Decision, deciding_clean=pa.int64(), deciding_ran=pa.int64(), rests_on=TEXTS),
        Column("review_place", pa.int64(), doc, lambda decision: place.get(decision.task_id)),
    ]
    return Table("decisions", "What happens to a task, in the benchmark's order.", tuple(columns))


NOT_READ = Table(
    "not_read",
    "A file or folder that looks like tasks of the benchmark and was not read.",
    tuple(columns_of(NotRead, file=TEXT, tasks=pa.int64(), left_out=pa.bool_(), reason=TEXT)),
)
QUARANTINE = Table(
    "quarantine",
    "A record that could not be read.",
    tuple(columns_of(Quarantined, file=TEXT, line=pa.int64(), pointer=TEXT, kind=TEXT, task_id=TEXT, reason=TEXT)),
)


DICTIONARY = "README.md"


def write_tasks_table(tasks: Iterable[AgentTask], path: Path) -> Generator[None, None, None]:
    """Write the table of tasks, which needs nothing of what an audit finds, one row group at a time.

    Args:
        tasks: all tasks, in the benchmark's order; streamed.
        path: the file to write.

    Yields:
        Nothing, after each row group; the file is there when the iterator ends.
    """
    table = tasks_table()
    yield from write_by_group(path, table.schema, tasks, group=table.group, batch=table.batch)


def write_tables(
    result: AuditResult, folder: Path, runs: Iterable[Trajectory], tasks_file: Path | None = None
) -> list[Path]:
    """Write every table and the data dictionary.

    Args:
        result: the audit.
        folder: where the files go; made when absent.
        runs: all runs in task order; streamed, one row group is held at a time. Without runs the table is empty.
        tasks_file: the table of tasks, where `write_tasks_table` has written it already; moved to its place.

    Returns:
        The files written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents = tables_of(result, runs)
    for table, records in contents:
        path = folder / f"{table.name}.parquet"
        if table.name == "tasks" and tasks_file is not None:
            tasks_file.replace(path)
        elif table is COVERAGE:
            write_coverage(path, result.coverage)
        else:
            write_parquet(path, table.schema, records, group=table.group, batch=table.batch)
    dictionary = folder / DICTIONARY
    write_text(dictionary, _dictionary([table for table, _ in contents]))
    return [*(folder / f"{table.name}.parquet" for table, _ in contents), dictionary]


def tables_of(result: AuditResult, runs: Iterable[Trajectory]) -> list[tuple[Table, Iterable[Any]]]:
    """Return every table with its records; the arguments are those of `write_tables`."""
    return [
        (tasks_table(), result.tasks),
        (trajectories_table(), runs),
        (_findings(result), result.findings),
        (_decisions(result), result.decisions),
        (TICKETS, result.tickets),
        (COVERAGE, result.coverage),
        (QUARANTINE, result.quarantined),
        (NOT_READ, result.not_read),
    ]


def _findings(result: AuditResult) -> Table:
    places = Places(result)
    return findings_table(places.described, lambda category: result.taxonomy[category].component)


def _decisions(result: AuditResult) -> Table:
    queue = review_order(result.task_ids, result.findings)
    return decisions_table({item.task_id: item.place for item in queue})


def _dictionary(tables: Iterable[Table]) -> str:
    lines = [
        "# Tables",
        "",
        "Parquet, compressed with zstd. Each column carries its description as field metadata too. Tasks are named by",
        "`AgentTask.id` everywhere; JSON columns hold canonical JSON (sorted keys).",
    ]
    for table in tables:
        lines += ["", f"## {table.name}.parquet", "", table.doc, "", "| column | type | meaning |", "|---|---|---|"]
        for column in table.columns:
            doc = column.doc.replace("|", "\\|").replace("\n", " ")
            lines.append(f"| `{column.name}` | {str(column.type).replace('<', '‹').replace('>', '›')} | {doc} |")
    return "\n".join(lines) + "\n"
