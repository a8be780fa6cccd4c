"""``agenthard replay``: what a ground truth, or a wrong answer made from it, does step by step."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands.isolation import CHECKOUT_HELP, WEAK_HELP
from flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from flows.replaying import Replayed

SHOWN = 400


def replay(
    source: Annotated[str, typer.Argument(help="Name of the source (`agenthard sources` lists them).")],
    path: Annotated[Path, typer.Argument(help="Folder or file of the benchmark.")],
    task: Annotated[str, typer.Argument(help="Id of the task.")],
    mutant: Annotated[
        str | None, typer.Option(help="Id of a changed ground truth, as findings name it; ? lists them.")
    ] = None,
    checkout: Annotated[Path | None, typer.Option(help=CHECKOUT_HELP)] = None,
    allow_weak_isolation: Annotated[bool, typer.Option("--allow-weak-isolation", help=WEAK_HELP)] = False,
    full: Annotated[bool, typer.Option("--full", help="Do not shorten responses and values.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Replay a task's ground truth in its own environment: calls, responses, changes of the state, verdict.

    Example: `agenthard replay ace ace-suite course_r5_c7_h3_b2`
    """
    from audit.execution.checkout import use_checkout
    from audit.execution.registry import check_checkout
    from audit.execution.workers import allow_weak_isolation as allow
    from audit.execution.workers import isolations_used
    from flows.replaying import find_task, list_mutants, replay_task

    allow(allow_weak_isolation)
    if checkout is not None:
        check_checkout(source, checkout)
        use_checkout(checkout)
    found = find_task(source, path, task)
    if mutant == "?":
        listed = list_mutants(found)
        if as_json:
            print_json([{"id": each.id, "truth": each.truth.value, "change": each.change} for each in listed])
        for each in [] if as_json else listed:
            typer.echo(f"{each.truth.value:<11} {each.id}  {each.change}")
        return
    result = replay_task(found, mutant)
    if as_json:
        print_json(result)
    else:
        _show(result, None if full else SHOWN)
        for used in isolations_used():
            typer.echo(f"isolation: {used}")


def _show(result: "Replayed", width: int | None) -> None:
    from audit.evidence import canonical_json

    def short(value: object) -> str:
        text = value if isinstance(value, str) else canonical_json(value)
        return text if width is None or len(text) <= width else f"{text[:width]} … ({len(text):,} characters)"

    typer.echo(f"{result.task} in {result.environment}")
    if result.mutant:
        typer.echo(f"changed: {result.mutant.change}; it is {result.mutant.truth.value}: {result.mutant.why}")
    if result.not_executed:
        typer.echo(result.not_executed)
    for step in result.steps:
        typer.echo(f"\n{step.turn}.{step.index} {step.call.name} {short(step.call.arguments)}")
        typer.echo(f"    {'fails' if step.error else 'gives'}: {short(step.response)}")
        for change in step.changes:
            typer.echo(f"    {change.pointer}: {short(change.before)} → {short(change.after)}")
        if not step.changes:
            typer.echo("    changes nothing")
    for reply in result.replies:
        typer.echo(f"\nsays: {short(reply)}")
    parts = ", ".join(f"{name} {'passes' if passed else 'fails'}" for name, passed in result.verdict.parts.items())
    typer.echo(f"\nverdict: {'passed' if result.verdict.passed else 'rejected'}{f' ({parts})' if parts else ''}")
    if result.verdict.reason:
        typer.echo(f"    {result.verdict.reason}")
