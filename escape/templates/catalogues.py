"""Tools that look up what is only similar. All sizes are limited."""

import json
from random import Random

from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.files import document
from agenthard.escape.templates.template import Files, ToolUseError, UnfillableError, Values
from agenthard.escape.templates.values import hex_digits, words

_MARGIN = 15
"""Points by which the best entry of a catalogue has to be ahead of the next."""
_ENTRIES, _NAME = 100, 300
"""Entries of a catalogue, and characters of a name: comparing takes time with the product of the lengths."""


def _fuzzy(values: Values, files: Files) -> dict[str, str]:
    from rapidfuzz import fuzz

    entries = document(files, values["file"])
    if not isinstance(entries, dict) or not 2 <= len(entries) <= _ENTRIES:
        raise ToolUseError("the file is not a catalogue")
    if max(map(len, (values["query"], *entries))) > _NAME:
        raise ToolUseError("a name is too long")
    scored = sorted(((fuzz.WRatio(values["query"], name), name) for name in entries), reverse=True)
    if scored[0][0] - scored[1][0] < _MARGIN or not isinstance(entries[scored[0][1]], str):
        raise ToolUseError("no entry is clearly the most similar one")
    return {"entry": entries[scored[0][1]]}


def _fuzzy_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    from rapidfuzz import fuzz

    made = {} if "query" in known else {"query": words(rng)}
    query = known.get("query") or made["query"]
    at = rng.randrange(len(query))
    near = query[:at] + rng.choice("aeiou") + query[at + 1 :]
    others = [words(rng) for _ in range(5)]
    if near == query or fuzz.WRatio(query, near) - max(fuzz.WRatio(query, each) for each in others) < _MARGIN:
        raise UnfillableError("the entries are too similar")
    names = [near, *others]
    rng.shuffle(names)
    return made | {
        "file": files.add(json.dumps({name: f"{hex_digits(rng, 8)}-{words(rng, 1)}" for name in names}).encode())
    }


CATALOGUES = (
    tool(
        "fuzzy_lookup",
        "finds the entry of a catalogue whose name is most similar to a text",
        ["file:F! the catalogue", "query:T the text"],
        ["entry:T the entry"],
        _fuzzy,
        _fuzzy_fill,
    ),
)
