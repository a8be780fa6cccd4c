"""What a record or a call says of single days: the legs of a journey, each with its day and its plain fields."""

from collections.abc import Container, Iterator
from typing import Any

from agenthard.audit.judge.context.terms import as_term, is_time

Field = tuple[str, str]
"""The name of a field and a term that it holds."""
Fields = frozenset[Field]


def plain_fields(value: Any) -> Fields:
    """Return the strings at the top of an object, but for times of day, which are shared by chance.

    >>> sorted(plain_fields({"from": "RIGA", "leaves": "09:00", "stops": ["KIEL"], "berths": 3}))
    [('from', 'riga')]
    """
    members = value.items() if isinstance(value, dict) else ()
    strings = ((str(key), as_term(text)) for key, text in members if isinstance(text, str))
    return frozenset((key, term) for key, term in strings if term and not is_time(term))


def dated(value: Any, days: Container[str]) -> Iterator[tuple[str, Fields]]:
    """Yield the plain fields of each object in a JSON value that has a day, or lies in one that has.

    Args:
        value: JSON data.
        days: the days that count, as ISO dates: a date of birth is none of them.

    >>> booking = {"of": "ada", "legs": [{"on": "2031-06-05", "sailing": "F1"}, {"on": "2031-06-09", "sailing": "F2"}]}
    >>> [(day, sorted(fields)[-1]) for day, fields in dated(booking, {"2031-06-05", "2031-06-09"})]
    [('2031-06-09', ('sailing', 'f2')), ('2031-06-05', ('sailing', 'f1'))]
    """
    waiting: list[tuple[Any, tuple[str, ...]]] = [(value, ())]
    while waiting:
        each, outer = waiting.pop()
        if isinstance(each, dict):
            own = tuple(text for text in each.values() if isinstance(text, str) and text in days) or outer
            yield from ((day, plain_fields(each)) for day in own)
            waiting += [(member, own) for member in each.values() if isinstance(member, (dict, list, tuple))]
        elif isinstance(each, (list, tuple)):
            waiting += [(member, outer) for member in each]
