"""Tells from the bytes of a JSON record, without parsing it, that it is not one of those that are looked for."""

import re
from collections.abc import Callable, Collection

_ID = re.compile(rb'"id"\s*:\s*"((?:[^"\\]|\\.)*)"')
_ESCAPE, _ASCII_ESCAPE = re.compile(rb"\\u"), re.compile(rb"\\u00[0-7]")


def may_have_id(ids: Collection[str]) -> Callable[[bytes], bool]:
    r"""Return a test that is False only for a record whose field ``id`` is none of the given texts.

    It is True also for records that have the text in an ``id`` further inside, or an escape by which the text or the
    name of the field could be written; a reader then parses them and sees.

    >>> test = may_have_id({"a/1"})
    >>> [test(line) for line in (b'{"id": "a/1"}', b'{"id": "a/11"}', rb'{"id": "a\/1"}', rb'{"id": "\u0061/1"}')]
    [True, False, True, True]
    """
    wanted = {text.encode("utf-8", "surrogatepass") for text in ids}
    escape = _ASCII_ESCAPE if all(map(str.isascii, ids)) else _ESCAPE

    def test(record: bytes) -> bool:
        values = _ID.findall(record)
        return any(b"\\" in value or value in wanted for value in values) or escape.search(record) is not None

    return test
