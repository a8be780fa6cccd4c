"""The tiny scenario with a page, which judges that see look at in a browser."""

from pathlib import Path

from agenthard.agency.sandbox import Plan
from agenthard.agency.sandbox.plan import Click, Screenshot
from agenthard.agency.scenario import Needs
from tests.agency import tiny

__file__ = tiny.__file__  # gold and solutions are those of the tiny scenario
SCENARIO = tiny.SCENARIO.model_copy(update={"needs": Needs(browser=True)})
CHECKS = tiny.CHECKS
_LOOK = Plan(steps=(Screenshot(label="start"), Click(selector="button"), Screenshot(label="after a click")))
VIEWS = {task.id: _LOOK for task in SCENARIO.tasks}


def seed(folder: Path) -> None:
    tiny.seed(folder)
    (folder / "index.html").write_text("<h1>Sum</h1><button onclick='this.textContent = 70123'>?</button>\n")
