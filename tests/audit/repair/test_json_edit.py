import json
from typing import Any

import jsonpatch
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agenthard.audit.repair.json_edit import EditError, edit_json

TEXT = '{"a": [1,  {"b/c": "x"} ,3],\n "d":{ "e" : null }, "f": [ ]}'


@pytest.mark.parametrize(
    ("operation", "expected"),
    [
        ({"op": "replace", "path": "/a/1/b~1c", "value": "y"}, TEXT.replace('"x"', '"y"')),
        ({"op": "replace", "path": "/d/e", "value": [1]}, TEXT.replace("null", "[1]")),
        ({"op": "remove", "path": "/a/0"}, TEXT.replace("1,  ", "")),
        ({"op": "remove", "path": "/a/2"}, TEXT.replace(" ,3", "")),
        ({"op": "remove", "path": "/d/e"}, TEXT.replace('"e" : null', "")),
        ({"op": "remove", "path": "/a"}, TEXT.replace('"a": [1,  {"b/c": "x"} ,3],\n ', "")),
        ({"op": "move", "from": "/d", "path": "/g"}, TEXT.replace('"d":', '"g":')),
        ({"op": "add", "path": "/f/-", "value": 7}, TEXT.replace("[ ]", "[7 ]")),
        ({"op": "add", "path": "/d/h", "value": 7}, TEXT.replace("null", 'null, "h": 7')),
    ],
)
def test_only_the_changed_value_is_written(operation: dict[str, Any], expected: str) -> None:
    assert edit_json(TEXT, operation) == expected
    assert json.loads(edit_json(TEXT, operation)) == jsonpatch.apply_patch(json.loads(TEXT), [operation])


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        ({"op": "replace", "path": "/a/9", "value": 0}, "no value at"),
        ({"op": "replace", "path": "/a/0/b", "value": 0}, "neither a list nor an object"),
        ({"op": "add", "path": "/a/0", "value": 0}, "end of a list"),
        ({"op": "add", "path": "/d/e", "value": 0}, "already"),
        ({"op": "move", "from": "/a/0", "path": "/a/1"}, "no name"),
        ({"op": "move", "from": "/a", "path": "/d/a"}, "own object"),
        ({"op": "copy", "from": "/a", "path": "/d"}, "cannot copy a value"),
    ],
)
def test_what_cannot_be_edited_is_said(operation: dict[str, Any], message: str) -> None:
    with pytest.raises(EditError, match=message):
        edit_json(TEXT, operation)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(JSON, min_size=1, max_size=4), JSON, st.data(), st.sampled_from([None, 1, 3]), st.booleans())
def test_the_text_says_what_the_patch_says(
    document: list[Any], value: Any, data: st.DataObject, indent: int | None, ascii_only: bool
) -> None:
    text = json.dumps(document, indent=indent, ensure_ascii=ascii_only)
    place = f"/{data.draw(st.integers(0, len(document) - 1))}"
    for operation in ({"op": "replace", "path": place, "value": value}, {"op": "remove", "path": place}):
        assert json.loads(edit_json(text, operation)) == jsonpatch.apply_patch(document, [operation])
