"""Single-turn tasks before the package's own checkers."""

from collections.abc import Callable
from typing import Any

import pytest

from agenthard.audit.execution.bfcl import BfclEnvironment
from agenthard.audit.execution.environment import Attempt, UnavailableError
from agenthard.taxonomy import AgentTask, ToolCall
from tests.audit.execution.bfcl.conftest import documented

pytestmark = pytest.mark.network
Single = Callable[..., AgentTask]
BREW = documented(
    "tea.brew",
    {
        "kind": {"type": "string"},
        "minutes": {"type": "float"},
        "cups": {"type": "array", "items": {"type": "integer"}},
        "extras": {"type": "dict", "properties": {"milk": {"type": "string"}}},
    },
)
POUR = documented("tea.pour", {"cup": {"type": "integer"}})
ANSWER = [
    {
        "tea.brew": {
            "kind": ["green", "Sencha"],
            "minutes": [3.0],
            "cups": [[1, 2], ""],
            "extras": [{"milk": ["oat", ""]}, ""],
        }
    }
]


def brew(**arguments: Any) -> ToolCall:
    return ToolCall(name="tea.brew", arguments=arguments)


@pytest.mark.parametrize(
    ("arguments", "passed"),
    [
        ({"kind": "green", "minutes": 3.0}, True),
        ({"kind": "SENCHA.", "minutes": 3}, True),
        ({"kind": "green", "minutes": 3.0, "cups": [1, 2], "extras": {"milk": "oat"}}, True),
        ({"kind": "green", "minutes": 3.0, "extras": {}}, True),
        ({"kind": "green"}, False),
        ({"kind": "green", "minutes": "3"}, False),
        ({"kind": "green", "minutes": 3.0, "cups": [2, 1]}, False),
        ({"kind": "green", "minutes": 3.0, "extras": {"milk": "cow"}}, False),
        ({"kind": "green", "minutes": 3.0, "sugar": 1}, False),
    ],
)
def test_values_are_judged_as_the_package_does(
    bfcl: BfclEnvironment, single: Single, arguments: dict[str, Any], passed: bool
) -> None:
    task = single("simple", [BREW], ANSWER)
    verdict = bfcl.evaluate(task, Attempt(turns=((brew(**arguments),),)))
    assert verdict.passed is passed
    assert bool(verdict.reason) is not passed


def test_the_number_and_the_order_of_calls(bfcl: BfclEnvironment, single: Single) -> None:
    one, two = (ToolCall(name="tea.pour", arguments={"cup": cup}) for cup in (1, 2))
    task = single("parallel", [BREW, POUR], [{"tea.pour": {"cup": [1]}}, {"tea.pour": {"cup": [2]}}])
    attempts = [Attempt(turns=(calls,)) for calls in ((one, two), (two, one), (one,), (one, one), ())]
    verdicts = bfcl.evaluate_many(task, attempts)
    assert [verdict.passed for verdict in verdicts] == [True, True, False, False, False]  # type: ignore[union-attr]
    other = single("multiple", [BREW, POUR], [{"tea.pour": {"cup": [1]}}])
    assert bfcl.evaluate(other, Attempt(turns=((one,),))).passed
    assert "wrong_func_name" in bfcl.evaluate(other, Attempt(turns=((brew(kind="green", minutes=3),),))).reason


def test_whether_there_is_a_call(bfcl: BfclEnvironment, single: Single) -> None:
    silent, calling = Attempt(turns=((),)), Attempt(turns=((brew(kind="green"),),))
    for category, attempt, passed in (
        ("irrelevance", silent, True),
        ("irrelevance", calling, False),
        ("live_relevance", silent, False),
        ("live_relevance", calling, True),
    ):
        assert bfcl.evaluate(single(category, [BREW], []), attempt).passed is passed


def test_java_and_javascript_values_are_written_as_source_text(bfcl: BfclEnvironment, single: Single) -> None:
    values: dict[str, Any] = {"on": True, "size": 3, "names": ["a", "b"], "limits": {"most": 5}, "who": "me"}
    answer = [{"set": {**{key: [value] for key, value in values.items()}, "limits": [{"most": [5]}]}}]
    types = {
        "java": ("boolean", "long", "ArrayList", "HashMap", "String"),
        "javascript": ("Boolean", "Bigint", "array", "dict", "String"),
    }
    for language, names in types.items():
        properties: dict[str, Any] = {key: {"type": name} for key, name in zip(values, names, strict=True)}
        properties["names"]["items"] = {"type": "String"}
        task = single(language, [documented("set", properties, language=language)], answer)
        verdict = bfcl.evaluate(task, Attempt(turns=((ToolCall(name="set", arguments=values),),)))
        assert verdict.passed, (language, verdict.reason)
        wrong = {**values, "size": 4}
        assert not bfcl.evaluate(task, Attempt(turns=((ToolCall(name="set", arguments=wrong),),))).passed


def test_a_broken_answer_is_an_error_and_no_verdict(bfcl: BfclEnvironment, single: Single) -> None:
    task = single("parallel", [BREW], [{"tea.drink": {"cup": [1]}}])
    [failure] = bfcl.evaluate_many(task, [Attempt(turns=((brew(kind="green"),),))])
    assert "the checker broke: TypeError" in str(failure)


def test_single_turn_tasks_cannot_be_replayed(bfcl: BfclEnvironment, single: Single) -> None:
    with pytest.raises(UnavailableError, match="no environment"):
        bfcl.reset(single("simple", [BREW], ANSWER))


def test_categories_of_other_releases_are_not_supported(bfcl: BfclEnvironment, single: Single) -> None:
    assert "web_search_base" in str(bfcl.supports(single("web_search_base", [BREW], [])))
