"""The page of AgencyBench: its numbers are those that the script computes."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

import agenthard as ah

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script() -> ModuleType:
    sys.path.insert(0, str(ROOT / "perf"))
    try:
        return __import__("write_agencybench_page")
    finally:
        sys.path.remove(str(ROOT / "perf"))


@pytest.mark.corpora
def test_the_figures_of_the_page_are_those_of_the_released_run(script: ModuleType, corpora: Path) -> None:
    page = script.TARGET.read_text(encoding="utf-8")
    assert script.put(page, script.figure_parts(corpora / "agencybench")) == page


def test_findings_are_counted_per_check_and_their_words_escaped(script: ModuleType, tmp_path: Path) -> None:
    text = '{"subtask_count": 2, "subtask1": "x", "subtask2": "Query:\\nExtend Subtask 7 <b>.\\nRubric:\\n- Done."}'
    folder = tmp_path / "Game" / "scenario1"
    folder.mkdir(parents=True)
    (folder / "description.json").write_text(text, encoding="utf-8")
    result = ah.audit(ah.open_source("agencybench", tmp_path), select=["wrong-step-reference"])
    assert len(result.findings) == 1
    rows = script.findings_part(result.findings).splitlines()
    assert rows[0] == "| check | findings | tasks | the first one says |" and len(rows) == 3
    assert rows[2].startswith("| `wrong-step-reference` | 1 confirmed | 1 | ")
    assert script._short("<b> | x") == "\\<b\\> \\| x"


def test_a_page_without_a_place_is_refused(script: ModuleType) -> None:
    with pytest.raises(SystemExit, match="has no place for 'idle': add its two markers"):
        script.put("a page", {"idle": "x"})
