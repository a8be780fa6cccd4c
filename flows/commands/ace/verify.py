"""``agenthard ace verify``: every instance proved again."""

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.ace.reading import PathsArgument, instances, one_message
from agenthard.flows.commands.output import JsonOption, console, error_console, print_json

if TYPE_CHECKING:
    from agenthard.ace.instance import Instance, QueryPlan
    from agenthard.ace.proof import Problem


def verify(
    paths: PathsArgument,
    query_plans: Annotated[
        bool, typer.Option("--query-plans", help="Look for a query plan where an instance carries none.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Prove every instance again: truth, filters, decoys, preference levels, and uniqueness by exact search.

    Where an instance carries a certificate, it must be about this very instance and say what the search finds; its
    query plan is carried out in the paper's environment. Without a plan, solvability within the budget is not proved.

    Exit codes: 0 all hold, 1 a hard violation or a solution that is not unique, 2 something could not be read.

    Example: `agenthard ace verify ace-suite`
    """
    from agenthard.ace.proof import verify
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.progress import current, show_progress

    unreadable: list[str] = []
    problems: list[tuple[str, Problem]] = []
    count = unique = hard = certified = 0
    extra = Counter[int | None]()
    with one_message(), show_progress(error_console()):
        current().start("proving")
        for instance in instances(paths, unreadable):
            report = verify(instance)
            count += 1
            unique += report.unique
            hard += bool(report.hard)
            certified += instance.certificate is not None
            problems += ((report.id, problem) for problem in report.problems)
            plan, problem = _plan(instance, sound=report.ok, search=query_plans)
            extra[plan.extra_queries if plan else None] += 1
            if problem:
                hard += not report.hard
                problems.append((report.id, problem))
            current().advance(1)
    if as_json:
        print_json(
            {
                "instances": count,
                "unique": unique,
                "hard": hard,
                "certified": certified,
                "query_plans": {"none": extra.pop(None, 0), "by_extra_queries": dict(sorted(extra.items()))},
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
        out.print(_solvable(extra))
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


def _plan(instance: "Instance", *, sound: bool, search: bool) -> "tuple[QueryPlan | None, Problem | None]":
    """Return the plan that leads to the solution, carried or found, and what is wrong with the one carried."""
    from agenthard.ace.proof import Problem
    from agenthard.ace.proof.plan import find_plan, plan_problem

    carried = instance.certificate.plan if instance.certificate else None
    if not sound:
        return None, None
    if carried is None:
        return find_plan(instance) if search else None, None
    reason = plan_problem(instance, carried)
    return (None, Problem("certificate", reason)) if reason else (carried, None)


def _solvable(extra: "Counter[int | None]") -> str:
    from agenthard.ace.environment import Budgets

    usual = Budgets().extra_queries
    within = sum(number for queries, number in extra.items() if queries is not None and queries <= usual)
    more = {queries: number for queries, number in extra.items() if queries is not None and queries > usual}
    beyond = f", {sum(more.values())} with up to {max(more)}" if more else ""
    return (
        f"by a query plan, ids only: {within} solvable within the paper's budget ({usual} extra queries per slot)"
        f"{beyond}, {extra[None]} without a plan"
    )
