"""``agenthard ace tables``: the tables and figures of the paper from an evaluation."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.output import JsonOption

if TYPE_CHECKING:
    from agenthard.ace.failures import Failure
    from agenthard.flows.evaluation.finished import FinishedEvaluation

_SHARE = ("passed", "n", "%", "low", "high")


def tables(
    run: Annotated[Path, typer.Argument(help="Run folder of `agenthard evaluate ace`.")],
    suite: Annotated[Path | None, typer.Option(help="What was played, where it has moved since.")] = None,
    hidden: Annotated[int | None, typer.Option("-H", "--hidden", help="Slice: hold the hidden slots.")] = None,
    decoys: Annotated[int | None, typer.Option("-B", "--decoys", help="Slice: hold the decoy budget.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the tables as CSV, and a page with figures.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show cells by failure rate, slices, time, usage by model, and why runs failed.

    Exit codes: 0 shown, 64 the folder holds no evaluation of ACE-Bench.

    Example: `agenthard ace tables evaluation --out ace-tables`
    """
    from agenthard.ace.declared import ACE
    from agenthard.ace.failures import REASONS
    from agenthard.ace.paper import cells, failures, slices, times, usage
    from agenthard.flows.commands.evaluation_tables import as_rows, finals_of, show_paper
    from agenthard.flows.errors import CommandError
    from agenthard.flows.evaluation.finished import analyse_again, read_finished
    from agenthard.reports.evaluation.paper_tables import EvaluationTable

    if hidden is not None and decoys is not None:
        raise CommandError("a slice holds one factor: give --hidden or --decoys, not both")
    found = read_finished(run, "ace")
    frame = found.episodes(ACE)
    attempts, finals = as_rows(frame), as_rows(finals_of(frame, ACE))
    failed, left_out = _failures(found, suite or found.suite, finals)
    where = ("agent", "failure rate")
    laid_out = [EvaluationTable("Cells", (*where, "H", "B", *_SHARE), cells(finals), "Wilson’s 95 % intervals.")]
    if hidden is not None or decoys is not None:
        across = "B" if hidden is not None else "H"
        held = f"H = {hidden}" if hidden is not None else f"B = {decoys}"
        laid_out.append(EvaluationTable(f"Slice at {held}", (*where, across, *_SHARE), slices(finals, hidden, decoys)))
    laid_out += [
        EvaluationTable(
            "Why runs failed",
            (*where, "runs", "failed", *REASONS, "empty", "decoys", "filters", "rules broken"),
            failures(failed, finals),
            "By the final grid, the first reason that applies. Slots left empty, with a decoy and with a filter are "
            "means over failed runs; the rules are the first that each grid breaks.",
        ),
        EvaluationTable(
            "Time",
            (*where, "attempts", "ms per episode", "ms of the model", "ms of all else", "ms of all else per call"),
            times(attempts, found.model_seconds()),
            "The model’s time is from sending a request to its reply, none for a reply from our cache; all else is the "
            "environment, the agent’s own code, and waiting where several episodes run at once.",
        ),
        EvaluationTable(
            "Usage",
            ("agent", *_SHARE, "turns", "calls", "messages", "prompt tokens", "completion tokens", "seconds")
            + ("cost", "priced", "attempts"),
            usage(finals, attempts),
            "Scores of final attempts at all failure rates; means over all attempts; the cost is a total of those with "
            "a price. The paper’s steps are messages.",
        ),
    ]
    chosen = ("cells", "conditions", "slices", "horizon", "failures")

    def draw() -> list[Any]:
        from agenthard.reports.figures.evaluation import figures

        drawn = figures(analyse_again("ACE-Bench", frame, ACE))
        return [drawn[name] for name in chosen if drawn[name].svg is not None]

    lead = f"{len(finals)} episodes of {frame['task_id'].nunique()} instances; '-' is undefined.{left_out}"
    show_paper("ACE-Bench: tables of the paper", lead, laid_out, draw, out, as_json)


def _failures(
    found: "FinishedEvaluation", suite: Path, finals: Sequence[dict[str, Any]]
) -> "tuple[list[tuple[dict[str, Any], Failure]], str]":
    """Look at the final grids of failed runs; what cannot be looked at is said."""
    from agenthard.ace.failures import why
    from agenthard.ace.paper import episode_id
    from agenthard.ace.source import AceBench
    from agenthard.audit.sources.base import Quarantine, SourceError

    rows = {episode_id(row): row for row in finals if row["passed"] is False}
    try:
        instances = dict(AceBench(suite).instances(Quarantine()))
    except (SourceError, OSError):
        return [], f" Why {len(rows)} runs failed is not known: {suite} cannot be read; give --suite."
    failed, unknown = [], 0
    for each in found.runs():
        row = rows.get(each.id)
        if row is None:
            continue
        instance = instances.get(each.task_id)
        failure = why(instance, each) if instance else None
        if failure is None:
            unknown += 1
        else:
            failed.append((row, failure))
    return failed, f" {unknown} failed runs have no reason in their final grid." if unknown else ""
