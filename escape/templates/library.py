"""All templates by id, and the variants that stay hidden until something is opened."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain

from agenthard.escape.templates.catalogues import CATALOGUES
from agenthard.escape.templates.codecs import CODECS
from agenthard.escape.templates.containers import CONTAINERS
from agenthard.escape.templates.crypto import CRYPTO
from agenthard.escape.templates.declare import port
from agenthard.escape.templates.files import FILES
from agenthard.escape.templates.graphs import GRAPHS
from agenthard.escape.templates.items import ITEMS
from agenthard.escape.templates.numbers import NUMBERS
from agenthard.escape.templates.programs import PROGRAMS
from agenthard.escape.templates.template import Template
from agenthard.escape.templates.terminals import TERMINALS
from agenthard.escape.templates.texts import TEXTS
from agenthard.escape.templates.times import TIMES

_FAMILIES = (NUMBERS, CRYPTO, CODECS, FILES, GRAPHS, CATALOGUES, TEXTS, TIMES, PROGRAMS)
TOOLS: tuple[Template, ...] = tuple(chain.from_iterable(_FAMILIES))
_TRIGGERS = {"item": "trigger:I what makes it appear", "hidden": "trigger:J what makes it appear"}


def _variants(templates: Iterable[Template]) -> dict[str, Template]:
    made = (
        replace(base, id=f"{base.id}__{mark}", inputs=(port(trigger), *base.inputs))
        for base in templates
        for mark, trigger in _TRIGGERS.items()
    )
    return {template.id: template for template in made}


LIBRARY: dict[str, Template] = {each.id: each for each in (*TOOLS, *TERMINALS, *ITEMS, *CONTAINERS)}
"""Templates without a trigger."""
VARIANTS: dict[str, Template] = _variants((*TOOLS, *TERMINALS))
"""Tools and exits that appear only when something is opened: 68."""
_ITEM_VARIANTS = _variants(ITEMS)


def find_template(id: str) -> Template | None:
    """Return a template or a variant by its id; None when there is none."""
    return LIBRARY.get(id) or VARIANTS.get(id) or _ITEM_VARIANTS.get(id)


def variants_of_items() -> dict[str, Template]:
    """Return items that appear only when something is opened; they are not counted among the variants."""
    return _ITEM_VARIANTS
