"""Research: the papers of a lighthouse; questions with one answer, what contradicts what, and claims to be checked."""

from pathlib import Path

from agenthard.agency.scenario import Needs
from agenthard.agency.suite import kit
from agenthard.agency.suite.research.claims import CLAIMS, CLAIMS_FILE
from agenthard.agency.suite.research.papers import PAPERS
from agenthard.agency.suite.research.questions import QUESTIONS
from agenthard.agency.suite.research.timeline import TIMELINE

NAME = "research"
PLANS = (QUESTIONS, TIMELINE, CLAIMS)
SCENARIO = kit.scenario(NAME, "Research", PLANS, Needs())
CHECKS = kit.checks(NAME, PLANS)

README = """\
# Papers of Orrin Head

`documents/` holds extracts from papers about a lighthouse; place and people are made up. What `errata.txt` corrects is
right as corrected. Evidence is the name of a file in `documents/`, the number of a line (from 1), and a quote: at least
20 characters of that line, as they are. The heading above an indented line, and the line that an erratum corrects, may
be given next to it.

`claims.txt` is for the third task.
"""


def seed(folder: Path) -> None:
    """Write the workspace that the first task begins on."""
    papers = {f"documents/{name}": text for name, text in PAPERS.items()}
    kit.write_files(folder, {"README.md": README, "claims.txt": CLAIMS_FILE, **papers})
