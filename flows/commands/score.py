"""``agenthard score``: how well an audit agrees with labels."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.reports.label_causes import Rate
    from agenthard.reports.label_score import LabelScore


class DataKind(StrEnum):
    """Whether the checks were developed on the labels."""

    DEVELOPMENT = "development"
    HELD_OUT = "held-out"


def score(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit.")],
    labels: Annotated[
        Path, typer.Option(help="JSON Lines: task_id, flawed (and domain, severity, cluster, component, category).")
    ],
    truth: Annotated[
        str, typer.Option(help="Field of the labels that says what is flawed: true, false, or null = not labelled.")
    ] = "flawed",
    data: Annotated[
        DataKind,
        typer.Option(help="Were the checks developed on these labels? held-out: no author of a check saw them."),
    ] = DataKind.DEVELOPMENT,
    categories: Annotated[
        Path | None, typer.Option(help="YAML or JSON: word of the labels → id of a category.")
    ] = None,
    previous: Annotated[Path | None, typer.Option(help="Run folder made by an earlier release, as a baseline.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Print precision and recall per check against labels, by task and by cause, with Wilson intervals and baselines.

    A label set is a lower bound: a task without a label is not thereby clean.

    Example: `agenthard score demo-run/demo --labels demo-run/demo-benchmark/labels.jsonl`
    """
    from agenthard.flows.alignment import read_mapping
    from agenthard.flows.audited_run import read_decisions, read_findings
    from agenthard.flows.errors import CommandError
    from agenthard.reports.alignment.naming import Names
    from agenthard.reports.label_score import score as compare
    from agenthard.reports.labels import LabelError, read_labels
    from agenthard.taxonomy.categories import load_taxonomy

    try:
        known = read_labels(labels, truth)
        names = Names(load_taxonomy(), read_mapping(categories) if categories else {})
    except (LabelError, ValueError) as error:
        raise CommandError(str(error)) from error
    decisions, findings = read_decisions(run), read_findings(run)
    before = read_decisions(previous) if previous else None
    clusters = (False, True) if any(label.cluster for label in known.labels) else (False,)
    ids = [decision.task_id for decision in decisions]
    results = [
        compare(known, ids, findings, decisions, names=names, data=data.value, previous=before, by_cluster=by_cluster)
        for by_cluster in clusters
    ]
    if as_json:
        print_json(results)
        return
    for result in results:
        _show(result, previous is not None)
    _show_unknown(results[0])


def _show(result: "LabelScore", has_previous: bool) -> None:
    base = "undefined" if result.base_rate is None else f"{result.base_rate:.3f}"
    title = (
        f"{result.flawed} of {result.labelled} labelled {result.unit}s are flawed (base rate {base}); "
        f"{result.unlabelled} tasks of the label file are unlabelled (null) and count nowhere; "
        f"{result.not_in_run} labels name tasks that the audit did not read"
    )
    rows = [
        (row.name, row.kind, row.data, f"{row.flagged:g}", _cell(row.precision, row.expected_precision),
         _cell(row.recall, row.expected_recall))
        for row in result.rows
    ]  # fmt: skip
    columns = ("flagged by", "kind", "data", f"{result.unit}s", "precision [95 %]", "recall [95 %]")
    print_table(title, columns, rows, ("tasks",))
    if not has_previous:
        typer.echo("baseline 'previous release': none given (--previous RUN)")
    for severity, rate in result.recall_by_severity.items():
        typer.echo(f"recall of {severity}: {_cell(rate, None)}")
    _show_causes(result)
    typer.echo("")


def _show_causes(result: "LabelScore") -> None:
    if not result.causes.rows:
        typer.echo("by cause: no label names a component, a category or a place that is known")
        return
    rows = [
        (row.name, row.grain, result.data, _cell(row.precision, None), _cell(row.recall, None), str(row.elsewhere))
        for row in result.causes.rows
    ]
    columns = ("flagged by", "same", "data", "precision by cause [95 %]", "recall by cause [95 %]", "other cause")
    typer.echo("")
    print_table(f"by cause, per {result.unit}", columns, rows, ("other cause",))
    for grain, count in result.causes.not_comparable.items():
        if count:
            typer.echo(f"{count} flawed {result.unit}s name no {grain} that is known: they are not compared by {grain}")


def _show_unknown(result: "LabelScore") -> None:
    if result.causes.unknown_words:
        typer.echo("words of the labels that are unknown here (--categories maps words to categories):")
    for word, count in result.causes.unknown_words.items():
        typer.echo(f"  {word} ({count} labels)")


def _cell(rate: "Rate | None", expected: float | None) -> str:
    if rate is None:
        return "undefined" if expected is None else f"{expected:.3f} expected"
    if rate.value is None:
        return "undefined (0 of 0)"
    return f"{rate.k}/{rate.n} = {rate.value:.3f} [{rate.low:.3f}, {rate.high:.3f}]"
