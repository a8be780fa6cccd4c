"""``agenthard escape verify``: every room proved again."""

from collections import Counter
from statistics import mean
from typing import TYPE_CHECKING, Any

import typer

from agenthard.flows.commands.escape.reading import PathsArgument, instances, one_message
from agenthard.flows.commands.output import JsonOption, console, error_console, print_json

if TYPE_CHECKING:
    from agenthard.escape.proof import Problem, Report
    from agenthard.escape.room import Instance


def verify(paths: PathsArgument, as_json: JsonOption = False) -> None:
    """Prove every room again: execution from the sources, answer, hints, leaks, and the oracle's way out.

    Where a room carries a certificate, it must say what the proof finds; no two rooms of one size may have one graph.
    Exit codes: 0 all hold, 1 a room is not what it says, 2 something could not be read.

    Example: `agenthard escape verify escape-suite`
    """
    from agenthard.escape.proof import verify as prove
    from agenthard.flows.errors import ExitCode
    from agenthard.flows.progress import current, show_progress

    unreadable: list[str] = []
    problems: list[tuple[str, Problem]] = []
    by_size: dict[int, list[Report]] = {}
    graphs = Counter[str]()
    with one_message(), show_progress(error_console()):
        current().start("proving")
        for instance in instances(paths, unreadable):
            report = prove(instance)
            by_size.setdefault(instance.room.nodes, []).append(report)
            problems += ((report.id, problem) for problem in report.problems)
            graphs[_graph(instance)] += 1
            current().advance(1)
    twice = sum(count - 1 for count in graphs.values())
    tiers = [_tier(size, reports) for size, reports in sorted(by_size.items())]
    if as_json:
        listed = [{"id": id, "kind": p.kind, "part": p.part, "message": p.message} for id, p in problems]
        print_json({"tiers": tiers, "same_graph": twice, "problems": listed, "unreadable": unreadable})
    else:
        _show(tiers, problems, unreadable, twice)
    if problems or twice:
        raise typer.Exit(ExitCode.DEFECTS)
    if unreadable:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _graph(instance: "Instance") -> str:
    """What rooms with isomorphic graphs share: the templates, and the kinds of links between them."""
    template = {id: mechanism.template for id, mechanism in instance.secret.mechanisms.items()}
    links = [(template.get(x.source), x.output, template.get(x.target), x.input) for x in instance.secret.links]
    return repr((sorted(template.values()), sorted(map(repr, links))))


def _tier(size: int, reports: "list[Report]") -> dict[str, Any]:
    proved = [report.certificate for report in reports if report.ok]
    return {
        "size": size,
        "rooms": len(reports),
        "proved": len(proved),
        "min_calls": mean(each.min_calls for each in proved) if proved else None,
        "hidden": mean(each.hidden for each in proved) if proved else None,
        "without_hidden": sum(not each.hidden for each in proved),
    }


def _show(
    tiers: list[dict[str, Any]], problems: "list[tuple[str, Problem]]", unreadable: list[str], twice: int
) -> None:
    out = console()
    for kind, number in Counter(problem.kind for _, problem in problems).items():
        out.print(f"  {number} problems of kind {kind}")
    for id, problem in problems:
        out.print(f"  {id} {problem.part}: {problem.message}", markup=False)
    for reason in unreadable:
        out.print(f"  unreadable: {reason}", markup=False)
    for tier in tiers:
        calls = "" if tier["min_calls"] is None else f", fewest calls {tier['min_calls']:.2f} on average"
        hidden = "" if tier["hidden"] is None else f", {tier['hidden']:.2f} parts hidden"
        bare = f", {tier['without_hidden']} rooms with none"
        out.print(f"{tier['size']} parts: {tier['proved']} of {tier['rooms']} rooms proved{calls}{hidden}{bare}")
    rooms, proved = sum(tier["rooms"] for tier in tiers), sum(tier["proved"] for tier in tiers)
    out.print(f"{rooms} rooms: {proved} proved, {twice} with the graph of another, {len(unreadable)} unreadable")
