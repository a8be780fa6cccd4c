"""The page of our own suite: written from its records, scores and mutants."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def script() -> ModuleType:
    sys.path.insert(0, str(ROOT / "perf"))
    try:
        return __import__("write_suite_page")
    finally:
        sys.path.remove(str(ROOT / "perf"))


def test_the_page_is_what_the_script_writes(script: ModuleType) -> None:
    assert script.TARGET.read_text(encoding="utf-8") == script.page(), "run perf/write_suite_page.py"
