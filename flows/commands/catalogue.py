"""``agenthard checks`` and ``agenthard taxonomy``: the checks, and the categories of flaws."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table


def checks(
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="DIR", help="Write the pages of docs/checks into this folder.")
    ] = None,
    cost: Annotated[bool, typer.Option("--cost", help="List what each check costs, in ms per task.")] = False,
    run: Annotated[
        Path | None,
        typer.Option(help="With --cost: run folder of an audit; default: the newest in and below this folder."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """List all checks with their category, and how sure each is.

    Example: `agenthard checks`
    """
    from agenthard.audit.detectors.page import check_pages
    from agenthard.audit.detectors.registry import detectors
    from agenthard.taxonomy.files import write_text

    if markdown:
        markdown.mkdir(parents=True, exist_ok=True)
        for name, text in check_pages(detectors()).items():
            write_text(markdown / name, text)
        return
    if cost:
        _print_costs(run, as_json)
        return
    rows = [
        (d.id, d.category, d.tier.value, d.severity.value, d.version, "yes" if d.experimental else "", d.title)
        for d in detectors()
    ]
    columns = ("id", "category", "tier", "severity", "version", "experimental", "looks for")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) | {"experimental": row[5] == "yes"} for row in rows])
    else:
        off = sum(d.experimental for d in detectors())
        print_table(f"{len(rows)} checks, {off} of them experimental (audit --experimental)", columns, rows)


def _print_costs(run: Path | None, as_json: bool) -> None:
    """Print what checks cost in a run, by default the last one; without any, in this release's own measurements."""
    from agenthard.audit.detectors.measured import measured
    from agenthard.flows.audited_run import last_run_with_costs, read_costs

    run = run or last_run_with_costs()
    if run is None:
        where = "as measured for this release"
        costs = {check: figures.cost for check, figures in measured().items() if figures.cost}
    else:
        where = f"in the run folder {run}"
        costs = {check: {run.resolve().name: cost} for check, cost in read_costs(run).items()}
    if as_json:
        print_json({check: {name: c.model_dump() for name, c in found.items()} for check, found in costs.items()})
        return
    columns = list(dict.fromkeys(name for found in costs.values() for name in found))
    rows = [
        (check, *(f"{found[name].milliseconds_per_task:.3f}" if name in found else "" for name in columns))
        for check, found in costs.items()
    ]
    tasks = {name: next(found[name].tasks for found in costs.values() if name in found) for name in columns}
    sums = [sum(found[name].seconds for found in costs.values() if name in found) for name in columns]
    rows.append(("all, seconds", *(f"{total:.1f}" for total in sums)))
    heads = [f"{name} ({count:,} tasks)" for name, count in tasks.items()]
    typer.echo(f"milliseconds per task {where}; what checks share is paid by the first of them")
    print_table("", ("check", *heads), rows)


def taxonomy(
    extra: Annotated[Path | None, typer.Option("--add", help="YAML file with categories of your own.")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the page docs/taxonomy.md.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Print the taxonomy: what can be wrong with an agent task.

    Example: `agenthard taxonomy`
    """
    from agenthard.taxonomy.categories import COMPONENT_TITLES, load_taxonomy, taxonomy_page

    found = load_taxonomy(extra)
    if as_json:
        print_json(found)
    elif markdown:
        from agenthard.audit.detectors.page import pages_of_checks
        from agenthard.audit.detectors.registry import detectors

        typer.echo(taxonomy_page(found, pages_of_checks(detectors())), nl=False)
    else:
        for component, title in COMPONENT_TITLES.items():
            rows = [(c.id, c.origin, c.rule) for c in found.component(component)]
            print_table(f"{title} ({len(rows)})", ("id", "origin", "rule"), rows)
            typer.echo("")
