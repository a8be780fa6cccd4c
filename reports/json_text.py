"""JSON that every reader can decode, whatever a benchmark's own JSON held."""

import json
import math
from typing import Any


def utf8(text: str) -> str:
    r"""Make text encodable: a lone surrogate, which a benchmark's JSON can hold, becomes its escape.

    >>> utf8("a\ud800")
    'a\\ud800'
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def json_text(value: Any, **options: Any) -> str:
    """Serialise plain data as strict JSON in UTF-8; NaN and infinities, which JSON has no word for, become null.

    Args:
        value: dicts, lists, tuples and scalars.
        options: passed to ``json.dumps``.

    >>> json_text({"a": float("nan"), "b": (1, "é")})
    '{"a": null, "b": [1, "é"]}'
    """
    return utf8(json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, **options))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value
