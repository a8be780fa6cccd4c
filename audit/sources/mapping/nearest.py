"""Suggestions for names that are unknown."""

import typing
from collections.abc import Iterable
from difflib import get_close_matches

from pydantic import BaseModel


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which known name is meant, or which there are.

    >>> nearest("qustion", ["question", "id"])
    "; did you mean 'question'?"
    >>> nearest("x", ["question", "id"])
    '; there are: id, question'
    """
    names = sorted(set(known))
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are: {', '.join(names[:20])}" if names else ""


def unknown_key(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """List the keys that are known where ``loc`` names one that is not."""
    current: type[BaseModel] = model
    for part in loc[:-1]:
        if isinstance(part, str) and part in current.model_fields:
            current = _record(current.model_fields[part].annotation) or current
    return list(current.model_fields)


def _record(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in typing.get_args(annotation) if (found := _record(inner))), None)
