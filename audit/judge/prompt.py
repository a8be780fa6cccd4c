"""The prompt of a judge, the schema of its answer, and the request that sends both to a model."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any

from agenthard.audit.judge.context.conventions import conventions
from agenthard.audit.judge.context.fence import fence_code, fenced, fenced_text, one_line
from agenthard.audit.judge.context.material import Material, Part, Passage
from agenthard.audit.judge.settings import Judge
from agenthard.audit.judge.templates import data, prompt_version, render
from agenthard.audit.judge.verdict import Verdict
from agenthard.models.request import ChatMessage, OutputSchema, Request
from agenthard.models.structured import strict_schema
from agenthard.taxonomy.categories import COMPONENT_TITLES, Category, Taxonomy
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask


class Prompt(Record):
    """What a judge reads."""

    system: str
    """What it is to do, the rules and the categories. It has no text of the benchmark, so similar tasks share it."""
    user: str
    """The material, fenced."""
    version: str
    """Version of the words, the schema and the taxonomy; the same for all tasks."""


def build_prompt(
    task: AgentTask,
    material: Material,
    categories: Sequence[Category],
    investigates: bool = False,
    taxonomy: Taxonomy | None = None,
) -> Prompt:
    """Write the prompt for one task.

    Args:
        task: The task; of it only the kinds of its parts and its traits decide the wording.
        material: What the judge is shown.
        categories: The categories that apply (agenthard.audit.judge.context.conventions).
        investigates: Whether the judge has tools to look things up.
        taxonomy: Where the categories come from, for the version; AgentHard's own by default.
    """
    return Prompt(
        system=_system(task, material, categories, investigates),
        user=_user(material),
        version=prompt_version(taxonomy),
    )


def _system(task: AgentTask, material: Material, categories: Sequence[Category], investigates: bool) -> str:
    ids = {category.id for category in categories}
    return render(
        "system.md.j2",
        parts={passage.part for passage in material.passages},
        has_gold=task.ground_truth.semantics != "none",
        investigates=investigates,
        conventions=conventions(task),
        components=[
            (title, [category for category in categories if category.component == component])
            for component, title in COMPONENT_TITLES.items()
            if any(category.component == component for category in categories)
        ],
        choices=[sentence for between, sentence in data("wording.yaml")["choices"] if ids.issuperset(between)],
        categories=ids,
        answer=answer_fields(),
    )


def _user(material: Material) -> str:
    left_out = "\n".join(one_line(f"{each.label}: {each.what}") for each in material.omitted)
    code = fence_code(material.passages, [left_out])
    return render(
        "user.md.j2",
        code=code,
        omitted=material.omitted,
        omissions=fenced_text(left_out, code, "left out"),
        parts=shown_parts(material, code),
    )


def shown_parts(material: Material, code: str) -> list[dict[str, Any]]:
    """Return the parts of the material as templates show them: title, note, and the fenced passages."""
    return [_part(part, passages, code) for part, passages in _by_part(material)]


def _by_part(material: Material) -> list[tuple[Part, list[Passage]]]:
    """Group the passages, the parts in the order in which they first come."""
    order = list(dict.fromkeys(passage.part for passage in material.passages))
    by_part = sorted(material.passages, key=lambda passage: order.index(passage.part))
    return [(part, list(passages)) for part, passages in groupby(by_part, key=lambda passage: passage.part)]


def _part(part: Part, passages: list[Passage], code: str) -> dict[str, Any]:
    title, note = data("wording.yaml")["parts"][part]
    return {"title": title, "note": note, "passages": [fenced(passage, code) for passage in passages]}


def answer_schema(categories: Sequence[str]) -> dict[str, Any]:
    """Return the JSON Schema of a verdict, as strict modes take it, in which only these categories can be named.

    It is cached by categories, since building it takes longer than the rest of a prompt. Do not modify it.
    """
    return _schema(tuple(categories))


@cache
def _schema(categories: tuple[str, ...]) -> dict[str, Any]:
    schema = strict_schema(Verdict)
    del schema["description"]
    category = schema["$defs"]["Issue"]["properties"]["category"]
    category["enum"] = list(categories)
    return schema


@cache
def answer_fields() -> tuple[str, ...]:
    """List the fields of a verdict with what belongs into them, for judges that get no schema."""
    schema = strict_schema(Verdict)
    return tuple(_fields(schema, schema["$defs"], ""))


def _fields(node: dict[str, Any], known: dict[str, Any], indent: str) -> Iterator[str]:
    for name, value in node["properties"].items():
        item = value.get("items", {})
        inner = known.get(str(item.get("$ref", "")).removeprefix("#/$defs/"))
        yield f"{indent}- `{name}` ({_kind(value)}): {value['description']}"
        if inner is not None:
            yield from _fields(inner, known, indent + "  ")


def _kind(value: dict[str, Any]) -> str:
    if "enum" in value:
        return " or ".join(f"`{choice}`" for choice in value["enum"])
    if value["type"] == "number":
        return f"number from {value['minimum']:g} to {value['maximum']:g}"
    if value["type"] == "array" and value["items"].get("type") == "string":
        return "list of texts"
    kinds = {"string": "text", "array": "list of objects", "integer": "whole number", "boolean": "true or false"}
    return kinds[value["type"]]


OUTPUT = "verdict"
"""What providers call the record that is asked for."""


def judge_request(judge: Judge, prompt: Prompt, categories: Sequence[Category], sample: int) -> Request:
    """Return the request for one verdict.

    Args:
        judge: Who is asked.
        prompt: What is asked.
        categories: The categories that the prompt offers; the reply can name no other.
        sample: Number of the repetition, from 0.
    """
    schema = answer_schema([category.id for category in categories])
    return Request(
        model=judge.model.name,
        messages=(
            ChatMessage(role="system", text=prompt.system),
            ChatMessage(role="user", text=prompt.user),
        ),
        output=OutputSchema(name=OUTPUT, json_schema=schema),
        sampling=judge.model.sampling,
        sample=sample,
    )
