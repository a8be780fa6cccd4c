"""The words of the operators: what authors of benchmarks really write when they make a mistake."""

import re
from functools import cache
from importlib import resources
from random import Random
from typing import Any

from agenthard.taxonomy.yaml_text import load_yaml

_MARK = re.compile("«(\\w+)»")


@cache
def wordings(name: str) -> tuple[str, ...]:
    """Return all wordings of an operator.

    Raises:
        KeyError: there are none of that name.
    """
    return _all()[name]


@cache
def _all() -> dict[str, tuple[str, ...]]:
    written = load_yaml(resources.files("agenthard.audit.faults").joinpath("wordings.yaml").read_text(encoding="utf-8"))
    return {name: tuple(map(str, entries)) for name, entries in written.items()}


def filled(wording: str, /, **values: Any) -> str:
    """Put values in the places of the marks of a wording."""
    return _MARK.sub(lambda mark: str(values[mark[1]]), wording)


def worded(operator: str, rng: Random, /, **values: Any) -> str:
    """Draw one of the wordings of an operator and fill it in.

    Args:
        operator: its id.
        rng: source of chance.
        values: what represents the marks.
    """
    return filled(rng.choice(wordings(operator)), **values)


def placed(text: str, addition: str, rng: Random) -> str:
    """Put an addition into a text: before it, after it, as a paragraph, or between two of its paragraphs."""
    text, paragraphs = text.strip(), text.strip().split("\n\n")
    places = [f"{text} {addition}", f"{text}\n\n{addition}", f"{addition}\n\n{text}", f"{addition} {text}"]
    if "\n" in addition:
        places = places[1:3]  # what has lines stands on lines of its own
    if len(paragraphs) > 2:
        at = rng.randrange(1, len(paragraphs))
        places.append("\n\n".join((*paragraphs[:at], addition, *paragraphs[at:])))
    return rng.choice(places).strip()
