"""Game: a courier who slides over ice, lights lanterns and leaves; its engine, its record of play, its solver."""

from pathlib import Path

from agenthard.agency.scenario import Needs
from agenthard.agency.suite import kit
from agenthard.agency.suite.game.engine import ENGINE
from agenthard.agency.suite.game.play import PLAY
from agenthard.agency.suite.game.solver import SOLVER

NAME = "game"
PLANS = (ENGINE, PLAY, SOLVER)
SCENARIO = kit.scenario(NAME, "Game", PLANS, Needs(programs=("node",)))
CHECKS = kit.checks(NAME, PLANS)

FIRST_LEVEL = """\
#########
#@..#..*#
#...o...#
#.~.....#
#*..#..E#
#########
"""
README = """\
# Ice courier

A game without a screen. Levels are text files in `levels/`, one line for each row:

    #  wall            o  snow          *  lantern, not lit     E  exit
    .  ice             ~  water         @  the courier, on ice

Programs are CommonJS modules for Node.js, without packages: `const game = require("./courier.js")`.
"""


def seed(folder: Path) -> None:
    """Write the workspace that the first task begins on."""
    kit.write_files(folder, {"README.md": README, "levels/first.txt": FIRST_LEVEL})
