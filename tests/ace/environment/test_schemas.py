"""Tools as providers want them, from one declaration."""

from random import Random
from typing import Any

import jsonschema
import pytest
from google.genai import types as google
from openai.types.chat import ChatCompletionFunctionToolParam
from pydantic import TypeAdapter

from agenthard.ace import domains
from agenthard.ace.environment import Environment, Mode, declare
from agenthard.ace.environment.schemas import gemini, openai, parameters
from tests.ace.environment.small import puzzle

BASE_ORDER = [
    "set_slot",
    "get_current_grid_state",
    "get_hidden_slot_query_budget",
    "get_global_check_budget",
    "get_slot_id",
    "done",
    "query_course_candidate_from_attribute",
    "get_course_item_info",
    "get_course_item_attributes",
    "check_course_slot_constraints",
    "check_course_global_constraints",
]
ARGUMENTS: dict[str, dict[str, Any]] = {
    "set_slot": {"row": 0, "col": 1, "id": None},
    "query_course_candidate_from_attribute": {"row": 0, "col": 1, "field": "price", "operator": "<", "value": 2.5},
    "get_course_item_info": {"id": "C1"},
    "get_course_item_attributes": {"ids": ["C1"], "field": ["price", "name"]},
}


def names(domain: str = "course", shuffle: int | None = None) -> list[str]:
    return [tool.name for tool in declare(domains.load(domain), shuffle=shuffle)]


def test_eleven_tools_in_the_order_of_the_released_code() -> None:
    assert names() == BASE_ORDER
    assert names("pc_build")[6:] == [name.replace("course", "pc_build") for name in BASE_ORDER[6:]]


def test_shuffling_is_that_of_the_seed() -> None:
    shuffled = list(BASE_ORDER)
    Random(670487).shuffle(shuffled)
    assert names(shuffle=670487) == shuffled != BASE_ORDER
    assert [tool.name for tool in Environment(puzzle()).tools(670487)] == shuffled


def test_thirty_six_tools_with_all_domains() -> None:
    course, *others = [domains.load(name) for name in ("course", "meal", "pc_build", "shopping", "travel", "workforce")]
    tools = [tool.name for tool in declare(course, others)]
    assert len(tools) == len(set(tools)) == 36
    environment = Environment(puzzle())
    foreign = "This tool is from other domain, not this domain"
    answers = [environment.call(name, {"row": 0, "col": 0, "id": "x"})["messages"] for name in tools[11:]]
    assert answers == [foreign] * 25


@pytest.mark.parametrize("name", domains.names())
def test_schemas_are_valid_and_accept_what_the_tools_take(name: str) -> None:
    for tool in declare(domains.load(name)):
        schema = parameters(tool)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["additionalProperties"] is False
        assert tool.description and all(p["description"] for p in schema["properties"].values())


def test_schemas_tell_apart_good_and_bad_arguments() -> None:
    schemas = {tool.name: parameters(tool) for tool in declare(domains.load("course"))}
    for name, arguments in ARGUMENTS.items():
        jsonschema.validate(arguments, schemas[name])
        for bad in ({**arguments, "kwargs": {}}, {}):
            with pytest.raises(jsonschema.ValidationError):
                jsonschema.validate(bad, schemas[name])


def test_openai_schema() -> None:
    tools = [openai(tool) for tool in declare(domains.load("course"))]
    TypeAdapter(list[ChatCompletionFunctionToolParam]).validate_python(tools)
    assert tools[4] == {
        "type": "function",
        "function": {
            "name": "get_slot_id",
            "description": "Show which course a cell holds; null means that it is empty.",
            "parameters": {
                "type": "object",
                "properties": {
                    "row": {"type": "integer", "description": "Row of the cell, counted from 0."},
                    "col": {"type": "integer", "description": "Column of the cell, counted from 0."},
                },
                "required": ["row", "col"],
                "additionalProperties": False,
            },
        },
    }


def test_reference_schema_keeps_the_form_of_the_released_code() -> None:
    tools = {tool.name: openai(tool, Mode.REFERENCE)["function"] for tool in declare(domains.load("course"))}
    query = tools["query_course_candidate_from_attribute"]
    assert query["description"].endswith(
        "\n\nrow: Row of the cell, counted from 0.\ncol: Column of the cell, counted from 0.\n"
        "field: Attribute to compare. Numbers: difficulty, credits, price, workload. Text: name, category, teacher.\n"
        "operator: For numbers one of > >= = < <=; for text one of in not_in.\n"
        "value: What to compare with: a number, or for text one value or a list of values."
    )
    texts = {"type": "array", "items": {"type": "string"}}
    assert query["parameters"] == {
        "properties": {
            "row": {"type": "integer", "title": "Row"},
            "col": {"type": "integer", "title": "Col"},
            "field": {"type": "string", "title": "Field"},
            "operator": {"type": "string", "title": "Operator"},
            "value": {
                "anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "number"}, texts],
                "title": "Value",
            },
            "kwargs": {"title": "Kwargs"},
        },
        "required": ["row", "col", "field", "operator", "value", "kwargs"],
        "title": "parameters",
        "type": "object",
    }
    no_arguments = {
        "properties": {"kwargs": {"title": "Kwargs"}},
        "required": ["kwargs"],
        "title": "parameters",
        "type": "object",
    }
    assert tools["done"]["parameters"] == no_arguments
    assert tools["set_slot"]["parameters"]["required"] == ["row", "col", "kwargs"]


def test_gemini_declarations_are_what_its_client_takes() -> None:
    tools = declare(domains.load("course"))
    declared = [google.FunctionDeclaration.model_validate(gemini(tool)) for tool in tools]
    google.Tool(function_declarations=declared)
    assert [d.name for d in declared] == BASE_ORDER
    for tool, declaration in zip(tools, declared, strict=True):
        assert declaration.parameters_json_schema == (parameters(tool) if tool.parameters else None)
