"""JSON Pointers (RFC 6901) into records and JSON values."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel


def escape(part: str) -> str:
    """Escape one reference token.

    >>> escape("a/b~c")
    'a~1b~0c'
    """
    return part.replace("~", "~0").replace("/", "~1")


def join(base: str, *parts: str | int) -> str:
    """Append reference tokens to a pointer.

    >>> join("/a", "b/c", 0)
    '/a/b~1c/0'
    """
    for part in parts:
        base = f"{base}/{escape(part) if isinstance(part, str) else part}"
    return base


def split(pointer: str) -> list[str]:
    """Split a pointer into unescaped reference tokens."""
    if pointer == "":
        return []
    if not pointer.startswith("/"):
        raise ValueError(f"a JSON Pointer is empty or starts with '/': {pointer!r}")
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/")]


def resolve(root: Any, pointer: str) -> Any:
    """Follow ``pointer`` from ``root`` (a record, mapping or sequence).

    Raises:
        LookupError: when a token does not exist.
    """
    value = root
    for token in split(pointer):
        if isinstance(value, BaseModel):
            if token not in type(value).model_fields:
                raise LookupError(f"{type(value).__name__} has no field {token!r} (pointer {pointer!r})")
            value = getattr(value, token)
        elif isinstance(value, Mapping):
            if token not in value:
                raise LookupError(f"no member {token!r} (pointer {pointer!r})")
            value = value[token]
        elif isinstance(value, Sequence) and not isinstance(value, str):
            if not token.isdigit() or int(token) >= len(value):
                raise LookupError(f"no item {token!r} in a list of {len(value)} (pointer {pointer!r})")
            value = value[int(token)]
        else:
            raise LookupError(f"cannot enter a {type(value).__name__} with {token!r} (pointer {pointer!r})")
    return value
