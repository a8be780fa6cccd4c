"""Records from replies: strict schemas, and what is said of a reply that is no record."""

from enum import Enum
from typing import Annotated, Literal

import jsonschema
import pytest
from pydantic import Field

from agenthard.models.errors import ConfigurationError, MalformedReplyError
from agenthard.models.request import Completion, Provider, Request
from agenthard.models.structured import parse, strict_schema
from agenthard.taxonomy.record import Record
from tests.loopback import Answer, Loopback
from tests.models.providers.talking import APIS, SECONDS, ask, model_file, provider


class Grade(Enum):
    GOOD = "good"
    BAD = "bad"


class Cat(Record):
    """A cat."""

    kind: Literal["cat"]
    """What it is."""
    lives: int = 9
    """How many."""


class Dog(Record):
    kind: Literal["dog"]
    """What it is."""
    friend: "Dog | None" = None
    """Another one."""


class Verdict(Record):
    grade: Grade
    """How it is."""
    pets: list[Annotated[Cat | Dog, Field(discriminator="kind")]] = []
    """Whose it is."""
    default: str | None = None
    """A field with an awkward name."""


class Direct:
    """Asks a provider without anything between, and counts."""

    def __init__(self, made: Provider) -> None:
        self.made, self.requests = made, list[Request]()

    async def complete(self, request: Request, *, purpose: str, owner: str) -> Completion:
        self.requests.append(request)
        return Completion(reply=await self.made.complete(request, SECONDS))


def objects(node: object) -> list[dict[str, object]]:
    if isinstance(node, list):
        return [found for part in node for found in objects(part)]
    if not isinstance(node, dict):
        return []
    return ([node] if "properties" in node else []) + [found for part in node.values() for found in objects(part)]


def test_a_strict_schema_is_closed_and_complete() -> None:
    schema = strict_schema(Verdict)
    found = objects(schema)
    assert len(found) >= 3
    for node in found:
        assert node["additionalProperties"] is False
        assert node["required"] == list(node["properties"])  # type: ignore[call-overload]
    text = str(schema)
    assert "oneOf" not in text and "discriminator" not in text and "'default':" in text
    assert schema["properties"]["grade"] == {
        "description": "How it is.", "enum": ["good", "bad"], "title": "Grade", "type": "string"
    }  # fmt: skip
    jsonschema.Draft202012Validator.check_schema(schema)
    whole = {"grade": "good", "pets": [{"kind": "dog", "friend": {"kind": "dog", "friend": None}}], "default": None}
    jsonschema.validate(whole, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"grade": "good", "pets": []}, schema)


class Free(Record):
    counts: dict[str, int]
    """How often."""


class Pair(Record):
    place: tuple[int, int]
    """Where."""


@pytest.mark.parametrize(("schema", "why"), [(Free, "Free.counts is an object"), (Pair, "Pair.place is a tuple")])
def test_what_strict_modes_refuse_is_refused_here(schema: type[Record], why: str) -> None:
    with pytest.raises(ConfigurationError, match=why):
        strict_schema(schema)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize("api", APIS)
async def test_a_record_comes_back(api: str, loopback: Loopback) -> None:
    loopback.service.brain = lambda _: Answer(text='```json\n{"kind": "cat", "lives": 7}\n```')
    file = model_file(api, loopback)
    async with provider(file) as made:
        cat, completion = await parse(Direct(made), ask(file), Cat, purpose="judge", owner="o")
    assert cat == Cat(kind="cat", lives=7)
    assert completion.reply.finish == "stop"
    assert loopback.service.heard[0].schema == strict_schema(Cat)


@pytest.mark.usefixtures("keys")
@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (Answer(text='{"kind": "cat", "lives": "many"}'), "lives: Input should be a valid integer"),
        (Answer(text='{"kind": "cat", "lives": 1, "x": 2}'), "x: Extra inputs are not permitted"),
        (Answer(text="Meow"), "reply: Invalid JSON"),
        (Answer(text=""), "reply: Invalid JSON"),
        (Answer(text="No cats.", finish="refusal"), "refused to return a Cat: No cats."),
        (Answer(text='{"kind": "cat"', finish="length"), "was cut off within a Cat"),
    ],
)
async def test_what_is_no_record_is_said_once(answer: Answer, why: str, loopback: Loopback) -> None:
    loopback.service.brain = lambda _: answer
    file = model_file("chat", loopback)
    async with provider(file) as made:
        model = Direct(made)
        with pytest.raises(MalformedReplyError, match=why):
            await parse(model, ask(file), Cat, purpose="judge", owner="o")
    assert len(model.requests) == 1
