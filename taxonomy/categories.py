"""The taxonomy as data: components and categories of flaws, from ``issues.yaml`` and from a user's own file."""

from functools import cache
from importlib import resources
from pathlib import Path
from typing import Literal

import yaml
from pydantic import ValidationError, model_validator

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_yaml, read_yaml_text

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
    return _parse(text, "taxonomy/issues.yaml")


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
        raise TaxonomyError(f"{extra}: cannot read it: {error}") from error
    own = _parse(text, str(extra), origin="user")
    order = list(COMPONENT_TITLES)
    merged = sorted((*base.categories, *own.categories), key=lambda c: order.index(c.component))
    try:
        return Taxonomy(version=f"{base.version}+{own.version}", categories=tuple(merged))
    except ValidationError as error:
        raise TaxonomyError(f"{extra}: {error.errors()[0]['msg']}") from error


def _parse(text: str, name: str, origin: str | None = None) -> Taxonomy:
    try:
        data = load_yaml(text)
        if origin is not None and isinstance(data, dict):
            data["categories"] = [{**item, "origin": origin} for item in data.get("categories", [])]
        return Taxonomy.model_validate(data)
    except (yaml.YAMLError, TypeError) as error:
        raise TaxonomyError(f"{name}: not a taxonomy in YAML: {error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = "/".join(str(part) for part in first["loc"]) or "top level"
        raise TaxonomyError(f"{name}: at {place}: {first['msg']}; see docs/taxonomy.md for the fields") from error
