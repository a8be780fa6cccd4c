"""``agenthard explain``: a check, a category, an error code, or a finding of a run."""

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.flows.finding_facts import FindingFacts
    from agenthard.taxonomy.finding import Finding

ERROR_CODE = re.compile(r"AH\d{3}")
ERRORS_PAGE = """# Error codes

Every error that a command or the library raises has a code, which stays the same between releases. A command prints it
(`error AH101: …`) and ends with exit code 3; in Python it is the attribute `code` of the exception, and
`agenthard.errors` exports all classes. The hundreds say which part raises the error: AH0 records and files,
AH1 sources, AH2 checks, decisions and repairs, AH3 execution, AH4 judges, AH5 models, AH6 ACE-Bench,
AH7 statistics and reports, AH8 commands. `agenthard explain CODE` prints one row of this table.

| code | error | what happened | what to do |
|---|---|---|---|
"""
SHOWN = 400
"""Characters of a quote that are shown."""
MOST_TASKS = 12
"""Task ids that are listed."""
LEVELS = {
    "task": "this task",
    "environment": "what tasks share (tools, policy, database, simulator)",
    "evaluator": "how runs are scored, for every task",
    "suite": "the benchmark as a whole, or its logs",
}


def explain(
    identity: Annotated[
        str,
        typer.Argument(metavar="ID", help="Id of a check, of a category or of a finding, an error code, or `errors`."),
    ],
    run: Annotated[
        Path | None, typer.Option(help="Run folder that has the finding; default: the newest in and below this folder.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", hidden=True, help="Print docs/reference/errors.md.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Explain a check or a category (rule, examples, limits), a finding (evidence, decisions, history), or an error.

    `agenthard explain errors` lists all error codes.

    Example: `agenthard explain call-schema`
    """
    if identity == "errors" or ERROR_CODE.fullmatch(identity):
        explain_errors(identity, markdown, as_json)
        return
    from agenthard.flows.finding_facts import is_finding_id

    if is_finding_id(identity):
        explain_finding(identity, run, as_json)
        return
    from agenthard.audit.detectors.measured import measured_lines
    from agenthard.audit.detectors.registry import detectors
    from agenthard.flows.errors import CommandError
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
        near = _similar(identity, [*known, *categories])
        raise CommandError(
            f"no check and no category {identity!r}{near}; `agenthard checks` lists the checks; a finding id has "
            "12 hexadecimal digits"
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
    from agenthard.flows.errors import CommandError

    try:
        found = errors.BY_CODE if identity == "errors" else {identity: errors.error_of(identity)}
    except KeyError:
        raise CommandError(f"no error code {identity}; `agenthard explain errors` lists all") from None
    rows = [(code, kind.__name__, _first_paragraph(kind), kind.remedy) for code, kind in sorted(found.items())]
    columns = ("code", "error", "what happened", "what to do")
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    elif markdown:
        typer.echo(ERRORS_PAGE, nl=False)
        for row in rows:
            typer.echo(f"| {' | '.join(row)} |")
    elif identity == "errors":
        print_table(f"{len(rows)} error codes", columns, rows)
    else:
        code, name, what, remedy = rows[0]
        typer.echo(f"{code}: {name}\n\n{what}\n\nWhat to do: {remedy}")


def _first_paragraph(error: type[Exception]) -> str:
    return " ".join(inspect.cleandoc(error.__doc__ or "").split("\n\n")[0].split())


def _similar(identity: str, known: list[str]) -> str:
    from rapidfuzz import process

    match = process.extractOne(identity, known, score_cutoff=60)
    return f" (did you mean {match[0]}?)" if match else ""


def explain_finding(identity: str, run: Path | None, as_json: bool) -> None:
    """Print claim, evidence, level of the cause, tasks, decisions, proof, command and history of a finding."""
    from agenthard.flows.finding_facts import find_finding

    facts = find_finding(identity, run)
    if as_json:
        print_json(facts)
        return
    finding = facts.finding
    typer.echo(f"{finding.id}: {finding.claim}\n")
    rows = [
        (
            "check",
            f"{finding.check} (version {finding.check_version}); `agenthard explain {finding.check}` has its rule",
        ),
        ("category", f"{finding.category}{f' ({facts.component})' if facts.component else ''}"),
        ("sure", f"{finding.tier.value}, {finding.severity.value}"),
        ("fix in", f"{finding.level.value}: {LEVELS[finding.level.value]}"),
        ("why", finding.why),
        ("change", finding.fix),
        ("tasks", _tasks(finding.task_ids)),
        ("also in", _tasks(finding.also_in) if finding.also_in else ""),
        ("decides", _tasks(finding.decides) if finding.decides else ""),
        (
            "led to",
            "; ".join(f"{action} {_tasks(tasks)}" for action, tasks in facts.decisions.items()) or "no decision",
        ),
        ("figures", ", ".join(f"{name} {value:g}" for name, value in sorted(finding.measures.items()))),
    ]
    for name, text in rows:
        if text:
            typer.echo(f"  {name:<10}{text}")
    _show_evidence(facts)
    _show_proof(finding)
    command = finding.command or "none: the quoted lines show it"
    typer.echo(f"\nCommand:\n  {command}")
    typer.echo("\nHistory of this benchmark's audits at hand, oldest first:")
    for seen in facts.history:
        has = "has it" if seen.has_it else "does not have it"
        version = f"check version {seen.check_version}" if seen.check_version else "without this check"
        typer.echo(f"  {seen.run}: {has} (AgentHard {seen.agenthard}, {version}, benchmark {seen.benchmark})")


def _tasks(ids: tuple[str, ...]) -> str:
    more = f" and {len(ids) - MOST_TASKS} more" if len(ids) > MOST_TASKS else ""
    return f"{len(ids)} ({', '.join(ids[:MOST_TASKS])}{more})" if ids else "none"


def _show_evidence(facts: "FindingFacts") -> None:
    typer.echo("\nEvidence:")
    for number, item in enumerate(facts.finding.evidence):
        place = facts.places[number] if number < len(facts.places) else ""
        where = f"run {item.trajectory_id}" if item.trajectory_id else item.task_id
        typer.echo(f"  {place or 'no file'} ({where} {item.pointer}){f': {item.note}' if item.note else ''}")
        cut = f" … ({len(item.quote):,} characters)" if len(item.quote) > SHOWN else ""
        for line in (item.quote[:SHOWN] + cut).splitlines():
            typer.echo(f"    {line}")


def _show_proof(finding: "Finding") -> None:
    from agenthard.audit.evidence import canonical_json

    proof = finding.proof
    if proof is None:
        return
    passes, should = (("passes" if value else "fails") for value in (proof.passes, proof.should_pass))
    typer.echo(
        f"\nProof: a {proof.kind} run of {proof.task_id} {passes} and should be one that {should} ({proof.evaluator})"
    )
    if proof.trajectory_id:
        typer.echo(f"  run {proof.trajectory_id}")
    for number, turn in enumerate(proof.turns):
        for call in turn:
            typer.echo(f"  turn {number}: {call.name} {canonical_json(call.arguments)[:SHOWN]}")
    for reply in proof.replies:
        typer.echo(f"  says: {reply[:SHOWN]}")
    typer.echo(f"  `agenthard replay --finding {finding.id}` carries it out again")
