"""Front end: a board of departures in a browser; the table, searching and sorting, what stays in the address."""

from pathlib import Path

from agenthard.agency.scenario import Needs
from agenthard.agency.suite import kit
from agenthard.agency.suite.frontend.board import BOARD
from agenthard.agency.suite.frontend.searching import SEARCHING
from agenthard.agency.suite.frontend.state import STATE

NAME = "frontend"
PLANS = (BOARD, SEARCHING, STATE)
SCENARIO = kit.scenario(NAME, "Frontend", PLANS, Needs(browser=True, programs=("chromium",)))
CHECKS = kit.checks(NAME, PLANS)

README = """\
# Departures of Tarn Ferry

A page without packages and without a server: `index.html` loads `data.js`, then `board.js`.

`data.js` sets `window.DEPARTURES`, a list of objects with `id` (a number), `time` (such as "07:05"), `line`, `to`,
`platform` (all texts) and `delay` (minutes, 0 when on time, null when cancelled). Other data may take its place.
"""
INDEX = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Tarn Ferry</title>
<link rel="stylesheet" href="board.css">
</head>
<body>
<main id="board"></main>
<script src="data.js"></script>
<script src="board.js"></script>
</body>
</html>
"""
DATA = """\
window.DEPARTURES = [
  { id: 1, time: "07:05", line: "B2", to: "Harrow Quay", platform: "3", delay: 0 },
  { id: 2, time: "06:50", line: "N", to: "Sill", platform: "1", delay: 12 },
  { id: 3, time: "07:05", line: "A", to: "Old Mole", platform: "2", delay: null },
];
"""


def seed(folder: Path) -> None:
    """Write the workspace that the first task begins on."""
    kit.write_files(
        folder, {"README.md": README, "index.html": INDEX, "data.js": DATA, "board.css": "", "board.js": ""}
    )
