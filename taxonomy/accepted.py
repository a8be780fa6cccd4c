"""Sets of accepted values inside a ground-truth argument.

Some benchmarks accept several values for one argument, at any depth. Such a place holds an *any-of node*, the
JSON object ``{"$any_of": [value, ...], "$optional": bool}``; every other value accepts only itself.
"""

from collections.abc import Iterator, Sequence
from itertools import islice, product
from typing import Any

ANY_OF = "$any_of"
OPTIONAL = "$optional"


def any_of(values: Sequence[Any], *, optional: bool = False) -> dict[str, Any]:
    """Build an any-of node: one of ``values`` is accepted; ``optional`` means the argument may be left out."""
    return {ANY_OF: list(values), OPTIONAL: optional}


def is_any_of(value: Any) -> bool:
    """Tell whether ``value`` is an any-of node."""
    return isinstance(value, dict) and ANY_OF in value


def is_optional(value: Any) -> bool:
    """Tell whether the argument holding ``value`` may be left out."""
    return is_any_of(value) and bool(value.get(OPTIONAL))


def alternatives(value: Any) -> list[tuple[str, Any]]:
    """List the accepted values of one place with the JSON Pointer suffix that leads to each.

    Only the top level is unfolded: a returned value may hold further any-of nodes.

    >>> alternatives({"$any_of": [1, 2], "$optional": False})
    [('/$any_of/0', 1), ('/$any_of/1', 2)]
    >>> alternatives(7)
    [('', 7)]
    """
    if is_any_of(value):
        return [(f"/{ANY_OF}/{i}", item) for i, item in enumerate(value[ANY_OF])]
    return [("", value)]


def concrete_values(value: Any, limit: int = 64) -> list[Any]:
    """Expand ``value`` into at most ``limit`` concrete values without any-of nodes, the first choice first.

    Object members that are optional are present in every expansion, except those without values: these must be left
    out. A node without values that is not optional accepts nothing, and then nothing is returned.

    >>> concrete_values({"a": {"$any_of": [1, 2], "$optional": False}, "b": 3})
    [{'a': 1, 'b': 3}, {'a': 2, 'b': 3}]
    >>> concrete_values({"a": {"$any_of": [], "$optional": True}, "b": 3})
    [{'b': 3}]
    """
    return list(islice(_expand(value, limit), limit))


def nearest_value(value: Any) -> Any:
    """Return one value without any-of nodes, as near to accepted as there is.

    It is the first of :func:`concrete_values`. Where nothing is accepted, members of objects and items of lists that
    accept nothing are left out; a node that accepts nothing itself gives None.

    >>> nearest_value({"a": {"$any_of": [1, 2], "$optional": False}, "b": {"$any_of": [], "$optional": False}})
    {'a': 1}
    """
    accepted = concrete_values(value, limit=1)
    if accepted:
        return accepted[0]
    if is_any_of(value):
        return nearest_value(value[ANY_OF][0]) if value[ANY_OF] else None
    if isinstance(value, dict):
        return {key: nearest_value(item) for key, item in value.items() if not _accepts_nothing(item)}
    return [nearest_value(item) for item in value if not _accepts_nothing(item)]


def _accepts_nothing(value: Any) -> bool:
    return is_any_of(value) and not value[ANY_OF]


def _expand(value: Any, limit: int) -> Iterator[Any]:
    if is_any_of(value):
        for item in value[ANY_OF]:
            yield from _expand(item, limit)
    elif isinstance(value, dict):
        members = {key: item for key, item in value.items() if not is_optional(item) or item[ANY_OF]}
        for combination in product(*(list(islice(_expand(item, limit), limit)) for item in members.values())):
            yield dict(zip(members, combination, strict=True))
    elif isinstance(value, list):
        for combination in product(*(list(islice(_expand(item, limit), limit)) for item in value)):
            yield list(combination)
    else:
        yield value
