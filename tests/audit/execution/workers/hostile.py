"""A benchmark that runs what its data says, as some do with ``eval``; it never imports ctypes. Run by a worker."""

from collections.abc import Callable, Iterator
from typing import Any


def setup() -> Callable[[Any], Iterator[Any]]:
    return serve


def serve(request: Any) -> Iterator[Any]:
    names: dict[str, Any] = {"result": None}
    exec(request["code"], names)
    yield from names["result"] if request.get("many") else [names["result"]]
