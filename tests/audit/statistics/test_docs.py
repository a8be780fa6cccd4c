import doctest
import inspect
from pathlib import Path

import pytest

import agenthard.audit.statistics as statistics

PAGE = Path(__file__).parents[3] / "docs" / "statistics.md"


@pytest.mark.parametrize("name", [n for n in statistics.__all__ if inspect.isfunction(getattr(statistics, n))])
def test_every_function_is_on_the_page(name: str) -> None:
    assert f"`{name}" in PAGE.read_text(encoding="utf-8")


def test_the_example_on_the_page_runs() -> None:
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted >= 7 and result.failed == 0


def test_no_module_has_the_name_of_a_public_name() -> None:
    modules = {path.stem for path in Path(statistics.__file__).parent.glob("*.py")}
    assert modules.isdisjoint(statistics.__all__)


def test_all_public_names_exist_and_are_sorted() -> None:
    assert all(hasattr(statistics, name) for name in statistics.__all__)
    assert statistics.__all__ == sorted(set(statistics.__all__))
