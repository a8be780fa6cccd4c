"""``agenthard score``: how well an audit agrees with labels."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from reports.label_score import LabelScore, Rate


def score(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit.")],
    labels: Annotated[Path, typer.Option(help="JSON Lines: task_id, flawed (and domain, severity, cluster).")],
    truth: Annotated[str, typer.Option(help="Boolean field of the labels that says what is flawed.")] = "flawed",
    previous: Annotated[Path | None, typer.Option(help="Run folder made by an earlier release, as a baseline.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print precision and recall per check against labels, with Wilson intervals and three baselines.

    A label set is a lower bound: a task without a label is not thereby clean.

    Example: `agenthard score demo-run/demo --labels demo-run/demo-benchmark/labels.jsonl`
    """
    from flows.errors import CommandError
    from flows.read_run import read_decisions, read_findings
    from reports.label_score import LabelError, read_labels
    from reports.label_score import score as compare

    try:
        known = read_labels(labels, truth)
    except LabelError as error:
        raise CommandError(str(error)) from error
    decisions, findings = read_decisions(run), read_findings(run)
    before = read_decisions(previous) if previous else None
    clusters = (False, True) if any(label.cluster for label in known) else (False,)
    ids = [decision.task_id for decision in decisions]
    results = [compare(known, ids, findings, decisions, previous=before, by_cluster=c) for c in clusters]
    if as_json:
        print_json(results)
        return
    for result in results:
        _show(result, previous is not None)


def _show(result: "LabelScore", has_previous: bool) -> None:
    base = "undefined" if result.base_rate is None else f"{result.base_rate:.3f}"
    title = (
        f"{result.flawed} of {result.labelled} labelled {result.unit}s are flawed (base rate {base}); "
        f"{result.not_in_run} labels name tasks that the audit did not read"
    )
    rows = [
        (row.name, row.kind, f"{row.flagged:g}", _cell(row.precision, row.expected_precision),
         _cell(row.recall, row.expected_recall))
        for row in result.rows
    ]  # fmt: skip
    print_table(title, ("flagged by", "kind", f"{result.unit}s", "precision [95 %]", "recall [95 %]"), rows, ("tasks",))
    if not has_previous:
        typer.echo("baseline 'previous release': none given (--previous RUN)")
    for severity, rate in result.recall_by_severity.items():
        typer.echo(f"recall of {severity}: {_cell(rate, None)}")
    typer.echo("")


def _cell(rate: "Rate | None", expected: float | None) -> str:
    if rate is None:
        return "undefined" if expected is None else f"{expected:.3f} expected"
    if rate.value is None:
        return "undefined (0 of 0)"
    return f"{rate.k}/{rate.n} = {rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"
