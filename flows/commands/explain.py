"""``agenthard explain``: the rule of a check or a category, or an error code."""

import inspect
import re
from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.completion import complete_rule
from agenthard.flows.commands.output import JsonOption, print_json, print_table
from agenthard.flows.logs import log

ERROR_CODE = re.compile(r"AH\d{3}")
ERRORS_PAGE = """# Error codes

Every error that a command or the library raises has a code, which stays the same between releases. A command prints
it (`error AH101: …`) and ends with exit code 64 where the call has to change, or a file that it names, and with 3
otherwise. In Python it is the attribute `code` of the exception, and `agenthard.errors` exports all classes. The
hundreds say which part raises the error: AH0 records and files, AH1 sources, AH2 checks, decisions and repairs, AH3
execution, AH4 judges, AH5 models, AH6 ACE-Bench, AH7 statistics and reports, AH8 commands. `agenthard explain CODE`
prints one row of this table.

| code | error | what happened | what to do | exit code |
|---|---|---|---|---|
"""


def explain(
    identity: Annotated[
        str,
        typer.Argument(
            metavar="ID",
            autocompletion=complete_rule,
            help="Id of a check or of a category, an error code, or `errors`.",
        ),
    ],
    run: Annotated[
        Path | None, typer.Option(hidden=True, help="Run folder of a finding: use `agenthard show`.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", hidden=True, help="Print docs/reference/errors.md.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Explain a check or a category (rule, examples, limits), or an error.

    `agenthard explain errors` lists all error codes, `agenthard explain exit-codes` what commands end with. A finding
    of a run is shown by `agenthard show RUN FINDING`.

    Example: `agenthard explain call-schema`
    """
    if identity == "errors" or ERROR_CODE.fullmatch(identity):
        explain_errors(identity, markdown, as_json)
        return
    if identity == "exit-codes":
        from agenthard.flows.errors import EXIT_CODES

        if as_json:
            print_json({str(int(code)): meaning for code, meaning in EXIT_CODES.items()})
        else:
            print_table("", ("exit code", "meaning"), [(str(int(code)), words) for code, words in EXIT_CODES.items()])
        return
    from agenthard.flows.runs_at_hand import is_finding_id

    if is_finding_id(identity):
        _show_finding(identity, run, as_json)
        return
    from agenthard.audit.detectors.measured import measured_lines
    from agenthard.audit.detectors.registry import detectors
    from agenthard.flows.errors import CommandError
    from agenthard.flows.run_findings import did_you_mean
    from agenthard.taxonomy.categories import load_taxonomy

    categories = {category.id: category for category in load_taxonomy().categories}
    known = {detector.id: detector for detector in detectors()}
    if identity in known:
        detector = known[identity]
        text = inspect.cleandoc(detector.__doc__ or "")
        facts = {
            "id": detector.id,
            "title": detector.title,
            "version": detector.version,
            "category": detector.category,
            "tier": detector.tier.value,
            "severity": detector.severity.value,
            "experimental": "yes, runs with --experimental only" if detector.experimental else "",
            "why": detector.why,
            "documentation": text,
            "measured": measured_lines(detector.id),
        }
    elif identity in categories:
        category = categories[identity]
        text = f"{category.rule}\n\nBelongs here: {category.positive}\nDoes not: {category.negative}"
        facts = {**category.model_dump(mode="json"), "documentation": text}
    else:
        near = did_you_mean(identity, [*known, *categories])
        raise CommandError(
            f"no check and no category {identity!r}{near}; `agenthard checks` lists the checks; a finding or a task is "
            "shown by `agenthard show RUN ID`"
        )
    if as_json:
        print_json(facts)
        return
    typer.echo(f"{identity}: {facts.get('title') or facts.get('name')}\n")
    shown = ("category", "component", "origin", "tier", "severity", "version", "experimental", "checks", "why")
    for key in (name for name in shown if facts.get(name)):
        value = facts[key]
        typer.echo(f"  {key:<10}{', '.join(value) if isinstance(value, list) else value}")
    typer.echo(f"\n{text}")
    if "measured" in facts:
        typer.echo("\nMeasured:\n" + "\n".join(f"  {line}" for line in facts["measured"]))


def explain_errors(identity: str, markdown: bool, as_json: bool) -> None:
    """Print what happened and what to do for one error code, or for all."""
    from agenthard import errors
    from agenthard.flows.errors import CommandError, exit_code

    try:
        found = errors.BY_CODE if identity == "errors" else {identity: errors.error_of(identity)}
    except KeyError:
        raise CommandError(f"no error code {identity}; `agenthard explain errors` lists all") from None
    rows = [
        (code, kind.__name__, _first_paragraph(kind), kind.remedy, str(int(exit_code(kind))))
        for code, kind in sorted(found.items())
    ]
    columns = ("code", "error", "what happened", "what to do", "exit code")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif markdown:
        typer.echo(ERRORS_PAGE, nl=False)
        for row in rows:
            typer.echo(f"| {' | '.join(row)} |")
    elif identity == "errors":
        print_table(f"{len(rows)} error codes", columns, rows)
    else:
        code, name, what, remedy, ends = rows[0]
        typer.echo(f"{code}: {name}\n\n{what}\n\nWhat to do: {remedy}\nExit code of a command: {ends}")


def _first_paragraph(error: type[Exception]) -> str:
    return " ".join(inspect.cleandoc(error.__doc__ or "").split("\n\n")[0].split())


def _show_finding(identity: str, run: Path | None, as_json: bool) -> None:
    """Show a finding of the newest run folder at hand that has it, and name the command that shows findings."""
    from agenthard.flows.commands.show import show_finding
    from agenthard.flows.run_findings import RunFindings
    from agenthard.flows.runs_at_hand import find_run

    known = RunFindings(find_run(identity, run))
    log.info("findings are shown by: agenthard show %s %s", known.run, identity)
    finding = known.find(identity)
    assert finding is not None, "find_run returns a folder that has it"
    show_finding(known, known.listed(finding), as_json)
