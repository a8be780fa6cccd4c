"""A scenario of two tasks for tests: sum numbers, then report on the sum."""

import json
from pathlib import Path

from agenthard.agency.judges import Check, Outcome, Probe
from agenthard.agency.scenario import Criterion, Deliverable, Scenario, ScenarioTask

SCENARIO = Scenario(
    id="Code/tiny",
    capability="Code",
    regime="per_attempt",
    carry="last",
    license="MIT",
    tasks=(
        ScenarioTask(
            id="Code/tiny/one",
            number=1,
            query="Write sum.sh, which prints the sum of the numbers in numbers.txt.",
            deliverables=(Deliverable(text="`sum.sh`", path="sum.sh"),),
            criteria=(
                Criterion(id="sum", text="sum.sh prints the sum.", check="sum", weight=3),
                Criterion(id="note", text="A file note.txt names the author.", check="note"),
            ),
        ),
        ScenarioTask(
            id="Code/tiny/two",
            number=2,
            query="Write report.json with the sum under the key total.",
            criteria=(Criterion(id="report", text="The key total holds 70123.", check="report_check", visible=False),),
        ),
    ),
)


def seed(folder: Path) -> None:
    (folder / "numbers.txt").write_text("70000\n100\n23\n")


def _sum(probe: Probe) -> Outcome:
    done = probe.run("/bin/sh", "sum.sh")
    right = done.stdout.strip() == probe.gold("sum.txt").strip()
    return Outcome(float(right), "" if right else f"another sum, exit code {done.exit_code}")


def _note(probe: Probe) -> Outcome:
    return Outcome(float(bool(probe.text("note.txt").strip())), "note.txt is empty")


def _report(probe: Probe) -> Outcome:
    try:
        found = json.loads(probe.text("report.json")).get("total")
    except (ValueError, AttributeError):
        found = None
    right = str(found) == probe.gold("sum.txt").strip()
    return Outcome(float(right), "" if right else f"total is {found}, and should be {probe.gold('sum.txt').strip()}")


CHECKS: dict[str, Check] = {"sum": _sum, "note": _note, "report_check": _report}
