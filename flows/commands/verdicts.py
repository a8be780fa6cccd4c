"""``agenthard verdicts``: verdicts of a review as files."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from agenthard.flows.review.store import EventStore

app = typer.Typer(name="verdicts", help="Verdicts of a review as files: export and import.", no_args_is_help=True)

StoreOption = Annotated[
    str | None, typer.Option(metavar="URL", help="Store of the verdicts; default: review.db in the run folder.")
]
NameOption = Annotated[str | None, typer.Option(help="Name of the audit; default: the name of the run folder.")]


class ExportFormat(StrEnum):
    """What is written."""

    EVENTS = "events"
    CSV = "csv"
    LABELS = "labels"
    TRUTH = "truth"


@app.command("export")
def export(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit.")],
    out: Annotated[Path, typer.Option(help="File to write.")] = Path("verdicts.jsonl"),
    form: Annotated[
        ExportFormat,
        typer.Option(
            "--format",
            help="events (JSON Lines), csv, labels (per task and reviewer, for align), truth (per task, for score).",
        ),
    ] = ExportFormat.EVENTS,
    queue: Annotated[str | None, typer.Option(help="Only the tasks of this queue.")] = None,
    store: StoreOption = None,
    reviewed: NameOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the verdicts of a review: all events, or labels that `align` and `score` read.

    Example: `agenthard verdicts export demo-run/demo --out verdicts.jsonl`
    """
    from agenthard.flows.errors import CommandError
    from agenthard.flows.review.decide import ReviewedRun, run_name
    from agenthard.flows.review.exchange import events_text, label_lines, truth_lines
    from agenthard.flows.review.queue import queue_names, queue_tasks
    from agenthard.reports.kit.files import json_text
    from agenthard.taxonomy.files import write_atomically

    audit = ReviewedRun(run)
    name = reviewed or run_name(run)
    with open_store(run, store) as opened:
        state = opened.state(name, audit.contents)
        inside = queue_tasks(state, queue) if queue else None
        if queue and not inside:
            raise CommandError(f"{run}: no queue {queue!r}; there are {', '.join(queue_names(state)) or 'none'}")
        if form in (ExportFormat.EVENTS, ExportFormat.CSV):
            events = [
                e for e in opened.since(0, name) if inside is None or e.key[0] == "task" and e.target_id in inside
            ]
            text, count = events_text(events, "csv" if form is ExportFormat.CSV else "events"), len(events)
        else:
            make = label_lines if form is ExportFormat.LABELS else truth_lines
            lines = make(state, [d for d in audit.decisions if inside is None or d.task_id in inside])
            text, count = "".join(json_text(line) + "\n" for line in lines), len(lines)
    write_atomically(out, text.encode("utf-8"))
    if as_json:
        print_json({"file": str(out), "format": form.value, "lines": count})
    else:
        typer.echo(f"{out}: {count:,} {'events' if form in (ExportFormat.EVENTS, ExportFormat.CSV) else 'labels'}")


@app.command("import")
def import_(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit.")],
    files: Annotated[list[Path], typer.Argument(help="Events (JSON Lines or CSV), label files, or filled sheets.")],
    by: Annotated[str | None, typer.Option(help="Reviewer of labels; default: their annotator, else the file.")] = None,
    truth: Annotated[str, typer.Option(help="Boolean field of the labels that says what is flawed.")] = "flawed",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Store verdicts from files: events that were exported, label files, or filled sheets of `align sample`.

    All lines are checked before anything is stored. Importing a file again adds nothing.

    Example: `agenthard verdicts import demo-run/demo demo-run/demo-benchmark/labels.jsonl`
    """
    from datetime import UTC, datetime

    from agenthard.flows.review.decide import ReviewedRun, run_name
    from agenthard.flows.review.exchange import import_file

    audit, name = ReviewedRun(run), run_name(run)
    contents, now = audit.contents, datetime.now(UTC)
    with open_store(run, store) as opened:
        before, state = opened.last(), opened.state(name, contents)
        found = [import_file(file, name, state, contents, now, by, truth) for file in files]
        opened.append([event for each in found for event in each.events])
        stored = opened.last() - before
    total = sum(len(each.events) for each in found)
    counts = {
        "stored": stored,
        "known": sum(each.known for each in found) + total - stored,
        "open": sum(each.open for each in found),
    }
    if as_json:
        print_json(counts)
    else:
        typer.echo(f"{counts['stored']:,} stored, {counts['known']:,} known already, {counts['open']:,} not filled in")
        typer.echo(f"next: agenthard decide {run}")


def open_store(run: Path, store: str | None) -> "EventStore":
    """Open the store with a URL, or that of the run folder."""
    from agenthard.flows.review.store import EventStore

    return EventStore(store) if store else EventStore.of_run(run)
