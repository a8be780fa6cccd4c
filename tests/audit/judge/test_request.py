import json
from collections.abc import Iterator
from typing import Any

import jsonschema
import pytest

from agenthard.audit.judge.context.applicable import applicable
from agenthard.audit.judge.prompt import answer_fields, answer_schema, judge_request
from agenthard.audit.judge.settings import Judge
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Sampling
from agenthard.taxonomy.categories import builtin_taxonomy
from tests.audit.judge.prompting import prompt_of
from tests.audit.judge.test_reading import flawed, sound
from tests.builders import make_task

IDS = ["incorrect-tool-call", "too-strict"]
JUDGE = Judge(name="a", model=ModelFile(name="openai/a", sampling=Sampling(temperature=0.5, max_output_tokens=99)))
GOOGLE_TAKES = {
    *("$defs", "$ref", "additionalProperties", "anyOf", "description", "enum", "items", "maximum", "minimum"),
    *("properties", "required", "title", "type"),
}
"""Keywords of Gemini's responseJsonSchema; OpenAI's strict mode takes all of them too."""


def nodes(schema: Any) -> Iterator[dict[str, Any]]:
    yield schema
    for key in ("properties", "$defs"):
        for inner in schema.get(key, {}).values():
            yield from nodes(inner)
    if "items" in schema:
        yield from nodes(schema["items"])


def test_the_request() -> None:
    task = make_task()
    categories = applicable(task, builtin_taxonomy())
    prompt = prompt_of(task)
    request = judge_request(JUDGE, prompt, categories, 3)
    assert (request.model, request.sample, request.sampling) == ("openai/a", 3, JUDGE.model.sampling)
    assert [(m.role, m.text) for m in request.messages] == [("system", prompt.system), ("user", prompt.user)]
    assert request.output is not None
    category = request.output.json_schema["$defs"]["Issue"]["properties"]["category"]
    assert category["enum"] == [c.id for c in categories]


def test_the_schema_is_one_that_strict_modes_take() -> None:
    for node in nodes(answer_schema(IDS)):
        assert set(node) <= GOOGLE_TAKES
        assert "$ref" not in node or len(node) == 1
        if node.get("type") == "object":
            assert node["additionalProperties"] is False and node["required"] == list(node["properties"])


@pytest.mark.parametrize(
    ("answer", "valid"),
    [
        (flawed(), True),
        (sound(), True),
        (flawed(category="too-strict", patch=[{"op": "remove", "path": "/a", "value": ""}]), True),
        (flawed(category="too-lenient"), False),
        (flawed(severity="grave"), False),
        (flawed(confidence=2), False),
        (sound(more=1), False),
    ],
)
def test_the_schema_takes_what_is_read(answer: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(answer_schema(IDS)).is_valid(answer) == valid


def test_one_schema_does_not_change_the_next() -> None:
    assert json.dumps(answer_schema(["a"])) != json.dumps(answer_schema(["b"]))


def test_the_words_name_every_field_of_the_schema() -> None:
    schema = answer_schema(IDS)
    names = [*schema["properties"]] + [name for part in schema["$defs"].values() for name in part.get("properties", {})]
    written = "\n".join(answer_fields())
    assert all(f"- `{name}` (" in written for name in names)
    assert "`affects_score` or `may_affect_score` or `cosmetic`" in written and "number from 0 to 1" in written
