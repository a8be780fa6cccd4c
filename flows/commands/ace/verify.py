"""``agenthard ace verify``: every instance proved again."""

from collections import Counter
from typing import TYPE_CHECKING

import typer

from agenthard.flows.commands.ace.reading import PathsArgument, instances, one_message
from agenthard.flows.commands.output import JsonOption, console, error_console, print_json

if TYPE_CHECKING:
    from agenthard.ace.proof import Problem


def verify(paths: PathsArgument, as_json: JsonOption = False) -> None:
    """Prove every instance again: truth, filters, decoys, preference levels, and uniqueness by exact search.

    Where an instance carries a certificate, it must be about this very instance and say what the search finds.
    Exit codes: 0 all hold, 1 a hard violation or a solution that is not unique, 2 something could not be read.

    Example: `agenthard ace verify ace-suite`
    """
    from agenthard.ace.proof import verify
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.progress import current, show_progress

    unreadable: list[str] = []
    problems: list[tuple[str, Problem]] = []
    count = unique = hard = certified = 0
    with one_message(), show_progress(error_console()):
        current().start("proving")
        for instance in instances(paths, unreadable):
            report = verify(instance)
            count += 1
            unique += report.unique
            hard += bool(report.hard)
            certified += instance.certificate is not None
            problems += ((report.id, problem) for problem in report.problems)
            current().advance(1)
    if as_json:
        print_json(
            {
                "instances": count,
                "unique": unique,
                "hard": hard,
                "certified": certified,
                "unreadable": unreadable,
                "problems": [
                    {"id": id, "kind": each.kind, "cell": each.cell, "message": each.message} for id, each in problems
                ],
            }
        )
    else:
        out = console()
        out.print(
            f"{count} instances, {certified} with a certificate: {unique} unique, {hard} with hard violations, "
            f"{len(unreadable)} unreadable"
        )
        for kind, number in Counter(problem.kind for _, problem in problems).items():
            out.print(f"  {number} problems of kind {kind}")
        for id, problem in problems:
            out.print(f"  {id} {problem.cell or ''}: {problem.message}", markup=False)
        for reason in unreadable:
            out.print(f"  unreadable: {reason}", markup=False)
    if hard or unique < count:
        raise typer.Exit(ExitCode.DEFECTS)
    if unreadable:
        raise typer.Exit(ExitCode.INCOMPLETE)
