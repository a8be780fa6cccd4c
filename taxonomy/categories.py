"""The taxonomy as data: components and categories of flaws, from ``issues.yaml`` and from a user's own file."""

from collections.abc import Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError, model_validator

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_own_yaml, parse_record, read_yaml_text

Component = Literal["user", "environment", "evaluation", "ground_truth"]

COMPONENT_TITLES: dict[Component, str] = {
    "user": "User",
    "environment": "Environment",
    "evaluation": "Evaluation System",
    "ground_truth": "Ground Truth",
}


class TaxonomyError(AgentHardError):
    """A taxonomy file cannot be used; the message names the file and the place in it."""

    code = "AH002"
    remedy = "Correct the file at the place that the message names; `agenthard taxonomy` shows valid categories."


class Category(Record):
    """One way a task can be wrong."""

    id: str
    """Stable kebab-case id."""
    name: str
    """Name for people."""
    component: Component
    """Part of the task that is wrong."""
    origin: Literal["paper", "agenthard", "user"]
    """Who defined it: the audit paper, this project, or the user's own file."""
    rule: str
    """Decision rule: when a task belongs here."""
    positive: str
    """An example that belongs here."""
    negative: str
    """A look-alike that does not."""
    checks: tuple[str, ...] = ()
    """Ids of detectors that can decide it; a judge can decide every category."""


class Taxonomy(Record):
    """All categories, in order of component."""

    version: str
    """Raised whenever a decision rule changes."""
    categories: tuple[Category, ...]
    """The categories."""

    @model_validator(mode="after")
    def _unique(self) -> "Taxonomy":
        seen: set[str] = set()
        for category in self.categories:
            if category.id in seen:
                raise ValueError(f"the category {category.id!r} is defined twice; give one of them another id")
            seen.add(category.id)
        return self

    def __getitem__(self, category_id: str) -> Category:
        """Return a category by id.

        Raises:
            KeyError: when there is none; the message lists the ids.
        """
        for category in self.categories:
            if category.id == category_id:
                return category
        raise KeyError(f"no category {category_id!r}; there are {', '.join(c.id for c in self.categories)}")

    def component(self, component: Component) -> list[Category]:
        """Return the categories of one component."""
        return [category for category in self.categories if category.component == component]


@cache
def builtin_taxonomy() -> Taxonomy:
    """Return the taxonomy that ships with AgentHard."""
    text = resources.files("agenthard.taxonomy").joinpath("issues.yaml").read_text(encoding="utf-8")
    return parse_record(text, Taxonomy, error=TaxonomyError, name="taxonomy/issues.yaml", load=load_own_yaml)


def load_taxonomy(extra: Path | None = None) -> Taxonomy:
    """Return the taxonomy, with the categories of a user's own file added.

    Args:
        extra: YAML file with ``version`` and ``categories``, as in ``issues.yaml``; ``origin`` is set to user.

    Raises:
        TaxonomyError: when the file cannot be read, has unknown fields, or repeats an id.
    """
    base = builtin_taxonomy()
    if extra is None:
        return base
    try:
        text = read_yaml_text(extra)
    except (OSError, UnicodeDecodeError) as error:
        raise TaxonomyError(f"{extra}: cannot be read: {error}") from error
    own = parse_record(
        text, Taxonomy, error=TaxonomyError, name=str(extra), docs="docs/taxonomy.md", prepare=_as_users_own
    )
    order = list(COMPONENT_TITLES)
    merged = sorted((*base.categories, *own.categories), key=lambda c: order.index(c.component))
    try:
        return Taxonomy(version=f"{base.version}+{own.version}", categories=tuple(merged))
    except ValidationError as error:
        raise TaxonomyError(f"{extra}: {error.errors()[0]['msg']}") from error


def _as_users_own(data: Any) -> Any:
    """Mark every category of a user's file as the user's; anything malformed is left to the validation."""
    if not isinstance(data, dict) or not isinstance(data.get("categories"), list):
        return data
    marked = [{**item, "origin": "user"} if isinstance(item, dict) else item for item in data["categories"]]
    return {**data, "categories": marked}


_ORIGINS = {"paper": "the audit paper", "agenthard": "AgentHard", "user": "the user"}

_INTRODUCTION = """\
# What can be wrong with an agent task

This page is generated from `taxonomy/issues.yaml` (version {version}) by `agenthard taxonomy --markdown`; change the
data, not the page.

An agent task couples a user, an environment, an evaluation and a ground truth. Each category below belongs to the
component that has to be fixed. {paper} categories come from the audit paper, {ours} are ours.

Categories of your own go into a YAML file of the same layout (`version`, `categories` with `id`, `name`, `component`,
`rule`, `positive`, `negative`, `checks`); `agenthard taxonomy --add FILE` checks and prints it.
"""


def taxonomy_page(taxonomy: Taxonomy, pages: Mapping[str, str]) -> str:
    """Render the taxonomy as Markdown: one section per component, one subsection per category.

    Args:
        taxonomy: the taxonomy.
        pages: file name of the page of each check in ``docs/checks``, by its id; the index for others.
    """
    origins = [category.origin for category in taxonomy.categories]
    parts = [
        _INTRODUCTION.format(version=taxonomy.version, paper=origins.count("paper"), ours=origins.count("agenthard"))
    ]
    for component, title in COMPONENT_TITLES.items():
        parts.append(f"\n## {title}\n")
        for category in taxonomy.component(component):
            checks = ", ".join(
                f"[`{check}`](checks/{pages.get(check, 'index.md')}#{check})" for check in category.checks
            )
            parts.append(
                f"\n### {category.id}\n\n**{category.name}** (from {_ORIGINS[category.origin]})\n\n{category.rule}\n\n"
                f"* Belongs here: {category.positive}\n* Does not: {category.negative}\n"
                f"* Checks that can decide it: {checks or 'none yet; a judge or a person'}\n"
            )
    return "".join(parts)
