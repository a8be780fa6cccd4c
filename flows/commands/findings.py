"""``agenthard findings``: the findings of a run, one line each."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.completion import complete_check
from agenthard.flows.commands.options import RunArgument
from agenthard.flows.commands.output import JsonOption, print_json, print_table
from agenthard.flows.logs import log
from agenthard.taxonomy.finding import Severity, Tier

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agenthard.flows.run_findings import ListedFinding


class Format(StrEnum):
    """How findings are printed."""

    LINES = "lines"
    TABLE = "table"
    JSON = "json"
    SARIF = "sarif"
    CODE_SCANNING = "code-scanning"
    GITHUB = "github"
    CSV = "csv"


class Component(StrEnum):
    """Part of a task."""

    USER = "user"
    ENVIRONMENT = "environment"
    EVALUATION = "evaluation"
    GROUND_TRUTH = "ground_truth"


class Action(StrEnum):
    """Decision on a task."""

    DROP = "drop"
    REVIEW = "review"
    KEEP = "keep"
    UNCHECKED = "unchecked"


def findings(
    run: RunArgument,
    check: Annotated[
        list[str] | None,
        typer.Option(metavar="CHECK", autocompletion=complete_check, help="Only of this check; repeatable."),
    ] = None,
    component: Annotated[
        list[Component] | None, typer.Option(help="Only about this part of a task; repeatable.")
    ] = None,
    tier: Annotated[list[Tier] | None, typer.Option(help="Only this sure; repeatable.")] = None,
    severity: Annotated[list[Severity] | None, typer.Option(help="Only with this effect; repeatable.")] = None,
    action: Annotated[
        list[Action] | None, typer.Option(help="Only those that led to this decision on a task; repeatable.")
    ] = None,
    task: Annotated[list[str] | None, typer.Option(metavar="TASK", help="Only about this task; repeatable.")] = None,
    form: Annotated[
        Format,
        typer.Option(
            "--format",
            help="github prints workflow commands that annotate a pull request, code-scanning SARIF for its upload.",
        ),
    ] = Format.LINES,
    as_json: JsonOption = False,
) -> None:
    """List the findings of a run, the gravest first: `file:line: [id] check severity tier: claim (N tasks)`.

    Exit codes: 0 no finding matches, 1 at least one is listed.

    Example: `agenthard findings demo-run/demo --action drop`
    """
    from agenthard.audit.decisions.gravest import gravest_first
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.run_findings import RunFindings

    known = RunFindings(run)
    chosen = known.choose(
        checks=check or (),
        components=component or (),
        tiers=tier or (),
        severities=severity or (),
        actions=action or (),
        tasks=task or (),
    )
    by_id = {item.finding.id: item for item in chosen}
    chosen = [by_id[finding.id] for finding in gravest_first(item.finding for item in chosen)]
    _print(run, chosen, Format.JSON if as_json else form)
    suppressed = len(known.document.get("suppressed", ()))
    more = f"; {suppressed:,} suppressed" if suppressed else ""
    log.info("%s%s", _summary(chosen, len(known.findings)), more)
    if chosen:
        raise typer.Exit(ExitCode.DEFECTS)


def _print(run: Path, chosen: "Sequence[ListedFinding]", form: Format) -> None:
    from agenthard.flows import finding_formats

    if form is Format.JSON:
        print_json({"run": str(run), "findings": list(map(finding_formats.as_data, chosen))})
    elif form is Format.SARIF:
        print_json(finding_formats.as_sarif(run, chosen))
    elif form is Format.CODE_SCANNING:
        print_json(finding_formats.as_code_scanning(run, chosen))
    elif form is Format.CSV:
        typer.echo(finding_formats.as_csv(chosen), nl=False)
    elif form is Format.TABLE:
        rows = [
            (item.finding.id, item.finding.check, item.finding.tier, item.tasks, item.place, item.finding.claim)
            for item in chosen
        ]
        print_table("", ("id", "check", "tier", "tasks", "place", "claim"), rows)
    else:
        text = finding_formats.github_command if form is Format.GITHUB else finding_formats.line
        for item in chosen:
            typer.echo(text(item))


def _summary(chosen: "Sequence[ListedFinding]", total: int) -> str:
    from collections import Counter

    tiers = Counter(item.finding.tier.value for item in chosen)
    counts = ", ".join(f"{tiers[name]:,} {name.value}" for name in Tier if tiers[name])
    return f"{len(chosen):,} of {total:,} findings{f': {counts}' if counts else ''}"
