"""``agenthard faults``: plant flaws into sound tasks, and measure what an audit finds of them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table

if TYPE_CHECKING:
    from agenthard.reports.fault_score import FaultScore

app = typer.Typer(name="faults", help="Seeded faults: recall and false alarms by category.", no_args_is_help=True)


@app.command("plant")
def plant(
    source: Annotated[
        str | None, typer.Argument(help="Source of the sound tasks; default: generated and demo tasks.")
    ] = None,
    path: Annotated[Path | None, typer.Argument(help="Folder of that benchmark.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the benchmark, its answer key and the manifest.")] = Path(
        "faults"
    ),
    seed: Annotated[int, typer.Option(help="Seed of all random draws; the same seed gives the same bytes.")] = 0,
    per_category: Annotated[int, typer.Option("--per-category", min=1, help="Flaws per category.")] = 20,
    sound: Annotated[int, typer.Option(min=0, help="Tasks that stay untouched, at least.")] = 200,
    operator: Annotated[str, typer.Option(help="Plant only operators of this name; * stands for any letters.")] = "*",
    audit: Annotated[bool, typer.Option("--audit", help="Audit the benchmark at once, into OUT/run.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Plant flaws of every category into tasks that are known to be sound, with an answer key.

    Without a source the tasks are generated ACE-Bench instances, each proved, and the tasks of the demo.

    Example: `agenthard faults plant --out faults --per-category 1 --sound 5 --audit`
    """
    from agenthard.flows.errors import CommandError
    from agenthard.flows.fault_planting import audit_planted, plant_faults
    from agenthard.flows.progress import show_progress

    if (source is None) != (path is None):
        raise CommandError("give a source and its folder, or neither: `agenthard faults plant SOURCE PATH`")
    manifest = plant_faults(source, path, out, seed, per_category, sound, operator)
    if audit:
        with show_progress(error_console()):
            audit_planted(out)
    if as_json:
        print_json(manifest)
        return
    print_table("", ("category", "planted"), [(k, str(n)) for k, n in manifest["by_category"].items()], ("planted",))
    typer.echo(f"{manifest['planted']} flaws in {manifest['tasks']} tasks; nothing was changed in the rest")
    runs = f" --runs {out}/benchmark/runs.jsonl" if manifest["runs"] else ""
    if not audit:
        typer.echo(f"next: agenthard audit native {out}/benchmark{runs} --experimental --out {out}/run")
    typer.echo(f"then: agenthard faults score {out}/run {out}/answer_key.jsonl")


@app.command("operators")
def operators(
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table of docs/faults.md.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List what can be planted, by category.

    Example: `agenthard faults operators`
    """
    from agenthard.audit.faults import operator_table
    from agenthard.audit.faults import operators as known

    if markdown:
        typer.echo(operator_table(known()))
        return
    rows = [(each.id, each.category, each.decided_by, each.plants) for each in known()]
    if as_json:
        print_json([dict(zip(("id", "category", "decided_by", "plants"), row, strict=True)) for row in rows])
    else:
        print_table("", ("operator", "category", "decided by", "plants"), rows)


@app.command("score")
def score(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit of the planted benchmark.")],
    key: Annotated[Path, typer.Argument(help="The answer key.")],
    as_json: JsonOption = False,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table for a README.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Print recall per operator and every miss as well.")] = False,
) -> None:
    """Print recall by category, with Wilson intervals and the checks that found what, and false alarms.

    Headline recall leaves experimental checks out; a second figure includes them.

    Example: `agenthard faults score faults/run faults/answer_key.jsonl`
    """
    from agenthard.audit.detectors.registry import detectors
    from agenthard.audit.faults.answer_key import read_key
    from agenthard.flows.audited_run import read_coverage, read_decisions, read_findings
    from agenthard.flows.errors import CommandError
    from agenthard.reports.fault_score import score_faults
    from agenthard.reports.fault_table import fault_table
    from agenthard.taxonomy.categories import load_taxonomy
    from agenthard.taxonomy.finding import Status

    try:
        planted = read_key(key)
    except (OSError, ValueError) as error:
        raise CommandError(
            f"{key}: {getattr(error, 'strerror', None) or error}; `agenthard faults plant` writes an answer key"
        ) from error
    reasons = {
        (row.task_id, row.check): row.reason
        for row in read_coverage(run)
        if row.status in (Status.NOT_CHECKED, Status.ERROR)
    }
    checks = {category.id: category.checks for category in load_taxonomy().categories}
    ids = [decision.task_id for decision in read_decisions(run)]
    experimental = [detector.id for detector in detectors() if detector.experimental]
    result = score_faults(planted, ids, read_findings(run), reasons, checks, experimental)
    if as_json:
        print_json(result)
        return
    if markdown:
        typer.echo(fault_table(result))
    else:
        _show(result, full)


def _show(score: "FaultScore", full: bool) -> None:
    from agenthard.reports.fault_table import rate

    for title, rows in (("", score.categories), ("by operator", score.operators if full else ())):
        cells = [
            (
                row.name,
                row.decided_by,
                rate(row.found),
                str(row.at_place),
                str(row.with_experimental),
                str(row.elsewhere),
                ", ".join(row.checks),
            )
            for row in rows
        ]
        if cells:
            counts = ("at the place", "with experimental", "only elsewhere")
            print_table(title, ("planted", "decided by", "found", *counts, "found by"), cells, counts)
    for decided, found in reversed(score.overall.items()):
        more = rate(score.overall_with_experimental[decided])
        typer.echo(f"decided by {decided}: {rate(found)}; with experimental checks {more}")
    typer.echo(f"of these, where no check was known beforehand: {rate(score.rule_unknown)}")
    alarms = ", ".join(f"{check} {count}" for check, count in score.false_alarms_by_check.items())
    typer.echo(f"false alarms on untouched tasks: {rate(score.false_alarms)} {alarms}")
    if score.signals:
        typer.echo("signals on untouched tasks: " + ", ".join(f"{c} {n}" for c, n in score.signals.items()))
    if score.not_in_run:
        typer.echo(f"{score.not_in_run} faults are in tasks that the audit did not read")
    if full:
        for miss in score.misses:
            typer.echo(f"missed: {miss.fault.operator} in {miss.fault.task_ids[0]}: {miss.reason}")
