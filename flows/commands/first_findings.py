"""The findings of a run to look at first, and the commands that show more of it: how an audit and the demo end."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from agenthard.flows.commands.output import console

if TYPE_CHECKING:
    from agenthard.flows.run_findings import ListedFinding

MOST = 5
"""Findings that an audit ends with."""


def show_first(run: Path) -> None:
    """Print the findings to look at first with place, tasks and decision, and the commands that show more."""
    from agenthard.flows.run_findings import RunFindings
    from agenthard.reports.look_first import look_first

    known, out = RunFindings(run), console()
    first = [known.listed(finding) for finding in look_first(known.findings, known.tickets)[:MOST]]
    if first:
        out.print(f"\nlook at these first ({len(first)} of {len(known.findings):,} findings):")
    for item in first:
        out.print(f"  {first_line(item)}", markup=False, soft_wrap=True)
    out.print(f"\n{commands(run, first[0].finding.id if first else None)}", markup=False, soft_wrap=True)


def first_line(item: "ListedFinding") -> str:
    """Return one finding as ``file:line: claim (tasks: decisions) [id]``."""
    from agenthard.taxonomy.printable import printable_line

    place = f"{item.place}: " if item.place else ""
    return printable_line(f"{place}{item.finding.claim} ({item.tasks}: {item.led_to}) [{item.finding.id}]")


def commands(run: Path, identity: str | None) -> str:
    """Return the commands that show more of a run, one a line."""
    folder = shlex.quote(str(run))
    shown = f"agenthard show {folder} {identity or 'TASK'}"
    return f"next       agenthard findings {folder}\n           {shown}\n           agenthard open {folder}"
