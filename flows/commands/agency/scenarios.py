"""``agenthard agency scenarios``: which scenarios there are, and which can be played here."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.agency.scenario import Scenario


def scenarios(
    path: Annotated[
        Path | None, typer.Argument(help="Suite, or the public release of AgencyBench. Default: those installed.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Empty folder to write the installed ones to, as a suite.")] = None,
    as_json: JsonOption = False,
) -> None:
    """List scenarios with what keeps them from being played and judged on this machine, or write them as a suite.

    Exit codes: 0 listed, 64 no suite at the path, or the folder is not empty.

    Example: `agenthard agency scenarios`
    """
    from agenthard.agency.imported import obstacles

    found = _found(path)
    if out is not None:
        _write(out)
    rows = [
        {
            "id": each.id,
            "capability": each.capability,
            "tasks": len(each.tasks),
            "criteria": sum(len(task.criteria) for task in each.tasks),
            "regime": each.regime,
            "carry": each.carry,
            "obstacles": [*_without_pack(each, path), *obstacles(each)],
        }
        for each in found
    ]
    if as_json:
        print_json({"scenarios": rows, "suite": str(out) if out else None})
        return
    cells = [
        (
            *(str(row[name]) for name in ("id", "tasks", "criteria", "regime", "carry")),
            "; ".join(row["obstacles"]) or "can be played",  # type: ignore[arg-type]
        )
        for row in rows
    ]
    print_table("", ("scenario", "tasks", "criteria", "regime", "carry", "here"), cells, right=("tasks", "criteria"))
    if out is not None:
        typer.echo(f"suite  {out}")


def _found(path: Path | None) -> "list[Scenario]":
    """Read the scenarios of a suite, of the release, or of the installed packs."""
    from agenthard.agency.imported import scenarios_of
    from agenthard.agency.packs import packs
    from agenthard.agency.source import AgencySuite
    from agenthard.audit.sources.base import Quarantine
    from agenthard.audit.sources.registry import open_source
    from agenthard.flows.errors import CommandError
    from agenthard.taxonomy.errors import AgentHardError

    if path is None:
        return [pack.scenario for pack in packs().values()]
    try:
        if AgencySuite.recognises(path):
            return [stored.scenario for _, stored in AgencySuite(path).instances(Quarantine())]
        return list(scenarios_of(open_source("agencybench", path).read_tasks()[0]))
    except AgentHardError as error:
        raise CommandError(str(error)) from error


def _without_pack(scenario: "Scenario", path: Path | None) -> list[str]:
    from agenthard.agency.packs import packs

    if path is None or scenario.id in packs():
        return []
    return ["no installed package has its graders"]


def _write(out: Path) -> None:
    from agenthard.agency.packs import packs
    from agenthard.agency.suite_files import SuiteError, write_suite
    from agenthard.flows.errors import CommandError

    if not packs():
        raise CommandError("no scenario is installed, so there is nothing to write")
    try:
        write_suite(packs().values(), out)
    except SuiteError as error:
        raise CommandError(str(error)) from error
