"""The page of the docs names every column, figure and file of the report."""

import re
from pathlib import Path

from agenthard.ace.declared import ACE
from agenthard.reports.evaluation import About, analyse
from agenthard.reports.evaluation.episodes import REQUIRED, TEXTS, numbers_of
from agenthard.reports.figures.evaluation import figures
from tests.reports.evaluation.frames import episodes

PAGE = (Path(__file__).parents[3] / "docs" / "evaluation-report.md").read_text(encoding="utf-8")


def test_every_column_is_described() -> None:
    table = PAGE.partition("## The table of episodes")[2].partition("## The figures")[0]
    assert {*numbers_of(ACE), *REQUIRED, *TEXTS} <= set(re.findall(r"`(\w+)`", table))


def test_every_figure_has_its_section() -> None:
    drawn = figures(analyse(episodes(), About(), declared=ACE))
    assert re.findall(r"^### (\w+):", PAGE, re.M) == list(drawn)
    assert [PAGE.lower().find(f": {figure.title.lower()}\n") > 0 for figure in drawn.values()] == [True] * len(drawn)
