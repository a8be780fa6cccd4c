"""What a model is told at the start."""

import json
import re

import pytest

from agenthard.ace.environment import Budgets, Environment, Mode
from agenthard.ace.environment.prompts import messages, value_ranges
from tests.ace.environment.small import puzzle

TAGS = ["instructions", "tool_usage", "task_policy", "task_goal"]


def system(**options: object) -> str:
    first, second = messages(Environment(puzzle(), **options))  # type: ignore[arg-type]
    assert (first["role"], second["role"]) == ("system", "user")
    return first["content"]


def block(text: str, tag: str) -> str:
    found = re.search(rf"<{tag}>\n(.*?)\n</{tag}>", text, re.DOTALL)
    assert found
    return found.group(1)


@pytest.mark.parametrize("mode", list(Mode))
def test_four_blocks_in_order(mode: Mode) -> None:
    assert re.findall(r"^<(\w+)>$", system(mode=mode), re.MULTILINE) == TAGS


def test_reference_mode_passes_the_task_text_on() -> None:
    assert block(system(mode=Mode.REFERENCE), "task_policy") == puzzle().instruction


def test_paper_mode_tells_every_rule_and_asks_for_no_text() -> None:
    policy = block(system(), "task_policy")
    for clause in (
        "the total credits of all courses in the whole grid must be at least 10",
        "the total price of all courses in the whole grid must be at most 900",
        "the same teacher can appear at most 2 times in the whole grid",
        "the same category can appear at most 2 times in the whole grid",
        "the total workload of all courses in the whole grid must be at most 12",
        "the course in slot (0, 1) must have price at most 300",
        "the course in slot (0, 1) must have credits at least 2",
        "the course in slot (1, 0) must have difficulty at most 3",
        "the course in slot (1, 0) must have credits at least 1",
    ):
        assert f"- {clause}\n" in policy + "\n"
    assert "Return only" not in system()


def test_paper_mode_tells_which_values_occur() -> None:
    text = block(system(), "instructions")
    assert "- price: 100 to 350\n" in text
    assert "- teacher: Ada Berg, Ben Costa, Cleo Dunn, Dev Erikson\n" in text
    assert value_ranges(puzzle(), Environment(puzzle()).domain)["credits"] == range(1, 5)
    assert "350" not in block(system(mode=Mode.REFERENCE), "instructions")


def test_limits_are_told_as_they_are() -> None:
    unlimited = block(system(budgets=Budgets.UNLIMITED), "tool_usage")
    assert "get_hidden_slot_query_budget" not in unlimited
    assert unlimited.endswith("- Checks of the whole grid are not limited.")
    limited = block(system(), "tool_usage")
    assert "get_hidden_slot_query_budget" in limited and "may be checked 2 times" in limited
    assert block(system(budgets=Budgets(alpha=0)), "tool_usage").endswith("are not available in this task.")


@pytest.mark.parametrize("mode", list(Mode))
def test_only_ids_of_the_grid_are_told(mode: Mode) -> None:
    first, second = messages(Environment(puzzle(), mode=mode))
    assert json.loads(second["content"].splitlines()[1]) == [["C1", None], [None, "C2"]]
    assert set(re.findall(r"\bC\d+\b", first["content"] + second["content"])) == {"C1", "C2"}
