"""Code: a library of time slots with faults that users report; repair it, then add recurrence and planning."""

from pathlib import Path

from agenthard.agency.scenario import Needs
from agenthard.agency.suite import kit
from agenthard.agency.suite.code.library import SEED
from agenthard.agency.suite.code.plan import PLAN
from agenthard.agency.suite.code.recurrence import RECURRENCE
from agenthard.agency.suite.code.repair import REPAIR

NAME = "code"
PLANS = (REPAIR, RECURRENCE, PLAN)
SCENARIO = kit.scenario(NAME, "Code", PLANS, Needs(programs=("python3",)))
CHECKS = kit.checks(NAME, PLANS)


def seed(folder: Path) -> None:
    """Write the workspace that the first task begins on."""
    kit.write_files(folder, SEED)
