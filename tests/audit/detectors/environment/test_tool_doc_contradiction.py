from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit
from agenthard.audit.detectors.environment import ToolDocContradiction
from agenthard.audit.evidence import failure
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import EnvironmentSpec, Severity, Status, ToolSpec
from tests.builders import make_task
from tests.corpora import tasks_of


def hits(properties: dict[str, Any], *, description: str = "Do it.", **more: Any) -> list[Hit]:
    """Inspect one tool, and check that every quote stands where the hit says."""
    language = more.pop("language", "python")
    schema = {"type": "object", "properties": properties, **more}
    tool = ToolSpec(name="act", description=description, parameters=schema, language=language)
    found = list(ToolDocContradiction().inspect_tool(tool))
    assert [failure(item, tool, {}) for hit in found for item in hit.evidence if failure(item, tool, {})] == []
    return found


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["day", "week"], "description": "Interval, e.g. 'daily'."},
        {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "description": "Kinds, such as 'a' or 'c'."},
        {"type": "integer", "description": "The group, such as 'Group A' or 'Group B'."},
        {"type": "boolean", "description": "Garden, for example 'large'."},
    ],
)
def test_an_example_that_type_or_enum_exclude(schema: dict[str, Any]) -> None:
    [hit] = hits({"p": schema})
    assert "example" in hit.claim


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "description": "Port, for example '80'."},
        {"type": "integer", "description": "How many, such as '5 doors'."},
        {"type": "string", "enum": ["3d", "imax"], "description": "Format, such as '3D' or 'IMAX'."},
        {"type": "string", "enum": ["day", "week"], "description": "Interval, e.g. 'day' or 'week'."},
        {"type": "string", "enum": ["day"], "description": "Interval, e.g. 'all'."},
        {"type": "string", "enum": ["day", "week"], "description": "The 'daily' report's interval."},
        {"type": ["integer", "string"], "description": "Id, such as 'Group A'."},
        {"description": "Anything, such as 'x'."},
    ],
)
def test_an_example_that_fits_or_is_only_prose(schema: dict[str, Any]) -> None:
    assert hits({"p": schema}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "enum": ["red", "blue"], "default": "general"},
        {"type": "array", "items": {"type": "string"}, "default": "timing, attractions"},
        {"type": "array", "enum": ["red", "blue"], "default": ["green"]},
        {"type": "integer", "default": "5 years"},
        {"type": "string", "default": 3},
    ],
)
def test_a_default_that_type_or_enum_exclude(schema: dict[str, Any]) -> None:
    [hit] = hits({"p": schema})
    assert "default" in hit.claim
    assert hit.severity is None


@pytest.mark.parametrize(
    "default", [None, "", "None", "null", "N/A", "any", "all", "All Genres", "dontcare", [None, None]]
)
def test_defaults_that_mean_nothing_given(default: Any) -> None:
    assert hits({"p": {"type": "string", "default": default}, "q": {"enum": ["x"], "default": default}}) == []


@pytest.mark.parametrize("default", ["any", "N/A", "auto"])
def test_a_word_as_the_default_of_a_number_is_suspected(default: str) -> None:
    [hit] = hits(
        {"p": {"type": "integer", "default": default}, "q": {"type": ["integer", "string"], "default": default}}
    )
    assert hit.tier == "suspected"


@pytest.mark.parametrize("default", [None, "", "None", "null", [None, None]])
def test_null_as_the_default_of_a_number_is_nothing_given(default: Any) -> None:
    assert hits({"p": {"type": "integer", "default": default}}) == []


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "example": "soon"},
        {"enum": ["day", "week"], "examples": ["day", "yearly"]},
        {"enum": ["day", "week"], "description": "How often. Examples:\n- “day”\n- “yearly”"},
        {"type": "number", "description": "A length; sample value: `wide`."},
    ],
)
def test_examples_that_are_not_allowed(schema: dict[str, Any]) -> None:
    [hit] = hits({"p": schema})
    assert "example" in hit.claim


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "example": "3", "examples": [4, 5]},
        {"type": "array", "items": {"type": "integer"}, "examples": [4, [5]]},
        {"type": "number", "examples": {"short": {"value": "wide"}}},
        {"enum": ["Day", "week"], "description": 'Examples:\n- "day"'},
    ],
)
def test_examples_that_are(schema: dict[str, Any]) -> None:
    assert hits({"p": schema}) == []


@pytest.mark.parametrize(
    ("kind", "default"), [("boolean", "false"), ("boolean", "True"), ("integer", "0"), ("number", "1.2")]
)
def test_a_default_spelled_as_text_is_cosmetic(kind: str, default: str) -> None:
    [hit] = hits({"p": {"type": kind, "default": default}})
    assert hit.severity is Severity.COSMETIC


def test_a_required_parameter_with_a_fitting_default_is_fine() -> None:
    assert hits({"p": {"type": "integer", "default": 3}}, required=["p"]) == []


def test_a_default_under_the_items_of_an_array_is_passed_over() -> None:
    items = {"type": "string", "enum": ["a", "b"], "default": ["a"]}
    assert hits({"p": {"type": "array", "items": items}}) == []


def test_an_enum_that_no_value_of_the_type_can_meet() -> None:
    [hit] = hits({"p": {"type": "boolean", "enum": ["True", "False", "dontcare"], "default": "dontcare"}})
    assert '"dontcare"' in hit.claim
    assert hit.severity is None


def test_an_enum_of_spelled_numbers_is_cosmetic() -> None:
    [hit] = hits({"p": {"type": "integer", "enum": ["1", "2"]}})
    assert hit.severity is Severity.COSMETIC


def test_an_enum_with_null_or_written_beside_an_array_is_fine() -> None:
    assert hits({"p": {"type": "string", "enum": ["a", None]}, "q": {"type": "array", "enum": ["a", "b"]}}) == []


def test_a_word_that_the_text_tells_to_give() -> None:
    schema = {"type": "number", "description": "Rating. Use 'dontcare' to include all.", "default": "dontcare"}
    [hit] = hits({"p": schema})
    assert "tells to give 'dontcare'" in hit.claim


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "description": "Age, or 'null' if unknown."},
        {"type": "string", "enum": ["a", "dontcare"], "description": "Use 'dontcare' to include all."},
        {"type": "boolean", "description": "Select 'true' for smoking rooms."},
        {"type": "string", "description": "Use 'now' for the current time."},
    ],
)
def test_a_word_that_may_be_given(schema: dict[str, Any]) -> None:
    assert hits({"p": schema}) == []


def test_types_of_source_text_are_not_compared_but_allowed_values_are() -> None:
    text = {"type": "integer", "default": "maxCount"}
    choice = {"type": "string", "enum": ["a"], "default": "b"}
    [hit] = hits({"p": text, "q": choice}, language="java")
    assert "q" in hit.claim


def test_a_required_name_without_documentation_at_any_depth() -> None:
    inner = {"type": "object", "properties": {"street": {"type": "string"}}, "required": ["street", "town"]}
    found = hits({"address": inner}, required=["address", "speed"])
    assert ["'speed'" in found[0].claim, "'town'" in found[1].claim] == [True, True]


@pytest.mark.parametrize(
    "text",
    [
        "The 'from' parameter must be given.",
        "Uses the argument `start`.",
        "Moves.\n\n:param start: where to begin",
        "Moves.\n\nArgs:\n    _from (int): first\n    start (int): begin\n        more about it\n",
    ],
)
def test_a_text_that_names_a_parameter_that_is_not_there(text: str) -> None:
    [hit] = hits({"_from": {"type": "integer"}}, description=text)
    assert "does not exist" in hit.claim


@pytest.mark.parametrize(
    "text",
    [
        "The '_from' parameter must be given.",
        "Moves.\n\nArgs:\n    _from (int): first\n",
        "Returns 'start' and 'end'.",
        "Pass parameters by name.",
    ],
)
def test_a_text_that_names_only_what_is_there(text: str) -> None:
    assert hits({"_from": {"type": "integer"}}, description=text) == []


def test_broken_schemas_break_nothing() -> None:
    assert hits({"p": "text", "q": {"type": 3, "enum": "x", "default": 1}}, required="p") == []
    assert list(ToolDocContradiction().inspect_tool(ToolSpec(name="a", parameters={"properties": []}))) == []


def test_a_task_that_never_calls_the_tool_only_carries_the_flaw() -> None:
    tool = ToolSpec(name="act", parameters={"properties": {"p": {"type": "integer", "default": "x"}}})
    result = check_shard([make_task(environment=EnvironmentSpec(tools=(tool,)))], {}, [ToolDocContradiction()])
    [hit] = result.hits
    assert (hit.task_ids, hit.also_in) == ((), ("lib/1",))


@pytest.mark.corpora
def test_bfcl(corpora: Path) -> None:
    tasks = tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17")
    result = check_shard(tasks, {}, [ToolDocContradiction()])
    assert Status.ERROR not in {row.status for row in result.coverage}
    claims = {hit.hit.claim: hit for hit in result.hits}
    [interval] = [claim for claim in claims if "interval in extract_parameters_v1 gives the example 'daily'" in claim]
    assert claims[interval].task_ids == ("live_simple_71-35-0",)
    assert not any("None" in claim or "null" in claim for claim in claims)
