from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.formats.tool_docs import tool, translate
from agenthard.taxonomy import Origin

ORIGIN = Origin(file="f.json", line=1, pointer="/function/0")


@pytest.mark.parametrize(
    ("native", "json_type"),
    [
        ("dict", "object"),
        ("HashMap", "object"),
        ("Hashtable", "object"),
        ("array", "array"),
        ("tuple", "array"),
        ("ArrayList", "array"),
        ("Array", "array"),
        ("Queue", "array"),
        ("Stack", "array"),
        ("Set", "array"),
        ("float", "number"),
        ("double", "number"),
        ("integer", "integer"),
        ("long", "integer"),
        ("short", "integer"),
        ("byte", "integer"),
        ("Bigint", "integer"),
        ("string", "string"),
        ("String", "string"),
        ("char", "string"),
        ("boolean", "boolean"),
        ("Boolean", "boolean"),
    ],
)
def test_every_type_name_of_the_three_languages_is_translated(native: str, json_type: str) -> None:
    assert translate({"type": native}, "") == {"type": json_type}


def test_any_allows_everything_and_an_empty_name_is_kept_aside() -> None:
    assert translate({"type": "any"}, "") == {}
    assert translate({"type": ""}, "") == {"x-native-type": ""}
    assert translate({"type": ["string"]}, "") == {"x-native-type": ["string"]}


def test_types_are_translated_at_every_depth_and_the_rest_is_kept() -> None:
    schema = {
        "type": "dict",
        "description": "Where.",
        "required": ["type"],
        "properties": {
            "type": {"type": "string", "enum": ["dict"], "default": None, "optional": True},
            "grid": {"type": "array", "items": {"type": "tuple", "items": {"type": "float"}}, "minItems": 1},
            "named": {"type": "dict", "additionalProperties": {"type": "any", "description": "Either."}},
            "closed": {"type": "dict", "additionalProperties": False},
        },
    }
    assert translate(schema, "") == {
        "type": "object",
        "description": "Where.",
        "required": ["type"],
        "properties": {
            "type": {"type": "string", "enum": ["dict"], "default": None, "optional": True},
            "grid": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}, "minItems": 1},
            "named": {"type": "object", "additionalProperties": {"description": "Either."}},
            "closed": {"type": "object", "additionalProperties": False},
        },
    }


def test_items_by_position_become_prefix_items() -> None:
    translated = translate({"type": "array", "items": [{"type": "float"}, {"type": "string"}]}, "")
    assert translated == {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}
    Draft202012Validator.check_schema(translated)


def test_a_tool_without_properties_takes_no_arguments() -> None:
    spec = tool({"name": "noon", "parameters": {"type": "dict"}}, "python", ORIGIN)
    assert (spec.name, spec.description, spec.returns) == ("noon", "", None)
    assert spec.parameters == {"type": "object", "properties": {}}
    assert spec.origin == ORIGIN


@pytest.mark.parametrize(
    ("doc", "pointer"),
    [
        ({"parameters": {"type": "dict"}}, "/function/0"),
        ({"name": 3, "parameters": {"type": "dict"}}, "/function/0/name"),
        ({"name": "f"}, "/function/0"),
        ({"name": "f", "parameters": {"type": "dict", "properties": []}}, "/function/0/parameters/properties"),
        ({"name": "f", "parameters": {"properties": {"a/b": 1}}}, "/function/0/parameters/properties/a~1b"),
        ({"name": "f", "parameters": {"type": "dict"}, "response": 1}, "/function/0/response"),
    ],
)
def test_a_malformed_tool_is_located(doc: dict[str, Any], pointer: str) -> None:
    with pytest.raises(MalformedRecordError) as caught:
        tool(doc, "python", ORIGIN)
    assert caught.value.pointer == pointer
