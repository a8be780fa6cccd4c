"""Back end: an HTTP service for parcel lockers; storing, collecting, and what survives a restart."""

import json
from pathlib import Path

from agenthard.agency.scenario import Needs
from agenthard.agency.suite import kit
from agenthard.agency.suite.backend.collecting import COLLECTING
from agenthard.agency.suite.backend.lasting import LASTING
from agenthard.agency.suite.backend.storing import STORING

NAME = "backend"
PLANS = (STORING, COLLECTING, LASTING)
SCENARIO = kit.scenario(NAME, "Backend", PLANS, Needs(programs=("python3",)))
CHECKS = kit.checks(NAME, PLANS)

README = """\
# Parcel lockers

A service for one wall of lockers, in Python without packages beyond the standard library.

    python3 service.py PORT DATABASE LOCKERS

listens on 127.0.0.1:PORT. DATABASE is the path of a file that only the service uses, and that does not exist at first;
LOCKERS is a JSON file such as `lockers.json`. All bodies are JSON objects or lists in UTF-8; every answer has a body.
"""
LOCKERS = [{"id": "A1", "size": "S"}, {"id": "A2", "size": "M"}, {"id": "B1", "size": "S"}, {"id": "B2", "size": "L"}]


def seed(folder: Path) -> None:
    """Write the workspace that the first task begins on."""
    kit.write_files(folder, {"README.md": README, "lockers.json": json.dumps(LOCKERS, indent=1) + "\n"})
