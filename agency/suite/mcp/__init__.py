"""MCP: the store of a museum behind a real MCP server, which programs ask, tidy and clean through its tools."""

import json
from pathlib import Path

from agenthard.agency.scenario import Needs
from agenthard.agency.suite import kit
from agenthard.agency.suite.mcp.model import drawn
from agenthard.agency.suite.mcp.tasks import INVENTORY, MERGE, TIDY

NAME = "mcp"
PLANS = (INVENTORY, TIDY, MERGE)
SCENARIO = kit.scenario(NAME, "MCP", PLANS, Needs(programs=("python3",), packages=("mcp",)))
CHECKS = kit.checks(NAME, PLANS)

README = """\
# The store of a museum

`desk/server.py` serves a store over the Model Context Protocol (standard input and output):

    python3 desk/server.py desk/store.json

It needs the package `mcp`. Its tools and the resource `store://rules` describe themselves; lists come in pages.
`desk/client.py` is a client for the standard library only, which is all that your programs have:

    python3 inventory.py python3 desk/server.py desk/store.json

runs a program of yours on the store in `desk/store.json`, which is for trying things out.
"""


def seed(folder: Path) -> None:
    """Write the workspace that the first task begins on."""
    here = Path(__file__).parent
    files = {f"desk/{name}": (here / name).read_text(encoding="utf-8") for name in ("server.py", "client.py")}
    store = json.dumps(drawn(90, 16), indent=1) + "\n"
    kit.write_files(folder, {"README.md": README, "desk/__init__.py": "", "desk/store.json": store, **files})
