"""The texts of the prompts: templates and sentences in ``prompts/``, with one version for all of them."""

import hashlib
import json
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from agenthard.audit.judge.verdict import Verdict
from agenthard.models.structured import strict_schema
from agenthard.taxonomy.categories import Taxonomy, builtin_taxonomy
from agenthard.taxonomy.yaml_text import load_own_yaml

LAYOUT = "2"
"""Raised when code changes what a prompt says although no word in ``prompts/`` does."""
WORDS = ("system.md.j2", "user.md.j2", "lookups.md.j2", "wording.yaml", "conditions.yaml")
"""Files that the question for a verdict is made of."""
_FOLDER = "prompts"


@cache
def data(name: str) -> Any:
    """Return the content of a YAML file of the folder, cached. Do not modify it."""
    return load_own_yaml(_read(name))


def render(template: str, **values: Any) -> str:
    """Fill in a template of the folder. Values are put in as they are, never read as templates."""
    return _templates().get_template(template).render(**values)


def prompt_version(taxonomy: Taxonomy | None = None) -> str:
    """Return the version of all prompts: a hash of their words, of the verdict's schema and of the taxonomy.

    Args:
        taxonomy: The taxonomy in use; AgentHard's own by default.

    Returns:
        Twelve hexadecimal digits, the same for every task.
    """
    return _version(taxonomy or builtin_taxonomy())


@cache
def _version(taxonomy: Taxonomy) -> str:
    content = {
        "layout": LAYOUT,
        "words": {name: _words(name) for name in WORDS},
        "schema": strict_schema(Verdict),
        "taxonomy": taxonomy.model_dump(mode="json", exclude={"categories": {"__all__": {"checks"}}}),
    }
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


def _words(name: str) -> str:
    """Return what a prompt takes from a file: all of a template; of a YAML file what is read, without comments."""
    return json.dumps(data(name)) if name.endswith(".yaml") else _read(name)


def _read(name: str) -> str:
    return resources.files("agenthard.audit.judge").joinpath(_FOLDER, name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    # Plain text for a model, so nothing is escaped; what is hostile is fenced (agenthard.audit.judge.context.fence).
    return Environment(
        loader=PackageLoader("agenthard.audit.judge", _FOLDER),
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
