"""The prompt of a judge, made of the taxonomy, the task's records and its material."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from agenthard.audit.judge.answer import answer_fields
from agenthard.audit.judge.context.conventions import conventions
from agenthard.audit.judge.context.material import Material, Part, Passage
from agenthard.audit.judge.fence import fence_code, fenced, fenced_text, one_line
from agenthard.audit.judge.wording import data, prompt_version, render
from agenthard.taxonomy.categories import COMPONENT_TITLES, Category, Taxonomy
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask


class Prompt(Record):
    """What a judge reads."""

    system: str
    """What it is to do, the rules and the categories. No word of it is the benchmark's, so tasks alike share it."""
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
        categories: The categories that apply (agenthard.audit.judge.context.applicable).
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
