"""Records that are alternatives to each other: the variants of a product, the cards of a customer."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_DEEPEST = 6
_MOST = 60
"""Records of a group: what a person chooses from; a table of all customers is larger."""
_MOST_CLASSES = 6
_FEWEST_OF_A_CLASS = 5
"""Records that have a value at least for it to be one of the classes of their kind."""
_FEW = 4
"""Records of a group that a value of its own may tell apart; among more it is a name."""
_LONGEST = 40
_SILENT = frozenset(("yes", "no", "none", "true", "false", "other", "basic", "regular", "standard", "small", "large"))
"""Values that a text has for other reasons, too."""
_PART = re.compile(r"\d+(?:\.\d+)?|[^\W\d_]+")


class Sibling(NamedTuple):
    """One of the records of a group."""

    id: str
    """Its key."""
    at: str
    """JSON Pointer into the task."""
    features: dict[str, str]
    """Its texts by name, those of an object inside it included; not its key."""
    numbers: dict[str, float]
    """Its numbers by name."""
    available: bool
    """False where a field says that it cannot be had."""


class Group(NamedTuple):
    """Records with the same fields in one object of the state."""

    name: str
    """Name of the record that holds them, or the empty text."""
    kind: str
    """Name of the field that holds them."""
    members: dict[str, Sibling]
    """The records by key."""
    classes: dict[str, frozenset[str]]
    """The few values that a feature has in all groups in fields of this name, such as the kinds of payment."""

    def tells(self, feature: str) -> bool:
        """Tell whether records may be chosen by a feature: several share a value, or there are few records."""
        own = [each.features[feature] for each in self.members.values() if feature in each.features]
        return len(own) <= _FEW or len(set(own)) < len(own)

    def values(self, feature: str) -> set[str]:
        """Collect the values that the records have for a feature."""
        own = {each.features[feature] for each in self.members.values() if feature in each.features}
        return own | self.classes.get(feature, frozenset())


def _groups(environment: EnvironmentSpec) -> dict[str, Group]:
    found: dict[str, Group | None] = {}
    groups = list(_walk("/environment/state", environment.state, "", 0))
    classes = _classes(groups)
    for group in (each._replace(classes=classes.get(each.kind, {})) for each in groups):
        for key in group.members:
            found[key] = group if key not in found else None  # a key of two groups names neither
    return {key: group for key, group in found.items() if group is not None}


def _classes(groups: list[Group]) -> dict[str, dict[str, frozenset[str]]]:
    """Collect the features with few values in many groups, by the name of the field that holds the groups."""
    counted: dict[str, dict[str, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
    for group in groups:
        for each in group.members.values():
            for feature, value in each.features.items():
                counted[group.kind][feature][value] += 1
    return {
        kind: {
            feature: frozenset(values)
            for feature, values in features.items()
            if len(values) <= _MOST_CLASSES and min(values.values()) >= _FEWEST_OF_A_CLASS
        }
        for kind, features in counted.items()
    }


def _walk(at: str, value: Any, name: str, depth: int) -> Iterator[Group]:
    if not isinstance(value, dict) or depth > _DEEPEST:
        return
    for key, item in value.items():
        if isinstance(item, dict):
            if group := _group(join(at, key), str(key), name, item):
                yield group
            own = item.get("name")
            yield from _walk(join(at, key), item, own if isinstance(own, str) else "", depth + 1)


def _group(at: str, kind: str, name: str, value: dict[str, Any]) -> Group | None:
    rows = list(value.values())
    if not 1 <= len(rows) <= _MOST or not all(isinstance(row, dict) for row in rows):
        return None
    if not all(any(key == row[field] for field in row if isinstance(row[field], str)) for key, row in value.items()):
        return None
    return Group(name, kind, {key: _sibling(key, join(at, key), row) for key, row in value.items()}, {})


def _sibling(key: str, at: str, row: dict[str, Any]) -> Sibling:
    flat = dict(row)
    for item in row.values():
        if isinstance(item, dict):
            flat.update(item)
    texts = {
        name: item for name, item in flat.items() if isinstance(item, str) and 0 < len(item) <= _LONGEST and item != key
    }
    numbers = {
        name: float(item) for name, item in flat.items() if isinstance(item, int | float) and not isinstance(item, bool)
    }
    return Sibling(key, at, texts, numbers, flat.get("available") is not False)


_of_environment: IdentityCache[EnvironmentSpec, dict[str, Group]] = IdentityCache(_groups)


def group_of(task: AgentTask, key: object) -> Group | None:
    """Return the group that the record of a key belongs to; None where no group has it, or two.

    Args:
        task: the task, whose shared state is searched.
        key: the key.
    """
    return _of_environment(task.environment).get(key) if isinstance(key, str) else None


_COMPARED = r" (?:\w+ )?(?:less|more|fewer|cheaper|smaller|larger|bigger)\b"


@lru_cache(maxsize=4096)
def _pattern(value: str, feature: str, others: frozenset[str] | None) -> re.Pattern[str] | None:
    """Return what names a value: the value itself, a word of it that no other value has, its initials."""
    parts = _PART.findall(value.casefold())
    if not parts or value.casefold() in _SILENT:
        return None
    body = r"[\s_./-]*".join(map(re.escape, parts))
    if len(value) <= _SHORT and not (re.search(r"\d", value) and re.search(r"[a-z]", value)):
        word = re.escape(feature.rpartition(" ")[2])
        return re.compile(rf"\b{word}:? (?:is |of )?{body}(?![\w.])|(?<![\w.]){body} {word}\b", re.IGNORECASE)
    known = {part for other in others or () for part in _PART.findall(other.casefold())}
    own = [part for part in parts if len(part) > _SHORT + 1 and part not in known and part not in _SILENT]
    own = own if others is not None and not re.search(r"\d", value) else []
    initials = [f"(?-i:{''.join(part[0].upper() for part in parts)})"] if len(parts) > 1 and "_" in value else []
    names = "|".join((body, *(map(re.escape, own) if not re.search(r"\d", value) else ()), *initials))
    return re.compile(rf"(?<![\w.])(?:{names})(?:s|es)?(?![\w]|\.\d)(?!{_COMPARED})", re.IGNORECASE)


_SHORT = 2
_DENIED = re.compile(
    r"(?:\b(?:not|no|without|instead of|rather than|except|avoid\w*|from|than|lost|stolen|non|never|nor|neither"
    r"|original\w*|was|were|currently|paid|over|if|whether)\b|n['’]t\b)[^.,;!?]{0,30}$|>\s*$",
    re.IGNORECASE,
)


def mentions(text: str, value: str, feature: str, others: Iterable[str] | None = None) -> list[tuple[int, int]]:
    """List where a text names the value of a feature.

    Args:
        text: what the user says.
        value: the value.
        feature: the name of the feature, which tells what a value of one or two characters means.
        others: other values of the feature: a word that only this value has names it, too; None where it does not.

    >>> [slice(*span) for span in mentions("A black 6.1 inch one.", "6.1-inch", "screen size")]
    [slice(8, 16, None)]
    >>> mentions("It is m.", "M", "size"), len(mentions("With Google Home.", "Google Assistant", "hub", ["Alexa"]))
    ([], 1)
    """
    pattern = _pattern(value, feature, None if others is None else frozenset(others) - {value})
    return [match.span() for match in pattern.finditer(text)] if pattern else []


def is_denied(text: str, start: int) -> bool:
    """Tell whether the words before a place say that something else is wanted, or speak of what is there already.

    >>> is_denied("A black one, not the silver one.", 21), is_denied("A black one.", 2)
    (True, False)
    """
    return _DENIED.search(text[max(0, start - 45) : start]) is not None
