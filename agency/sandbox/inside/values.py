"""Values of a page: compared, and made short enough for the record."""

import json
import math
from typing import Any

MOST_VALUE = 4000


def equal(found: Any, wanted: Any, tolerance: float) -> bool:
    """Compare two values as JSON, with a tolerance for numbers at any depth; true is not 1."""
    if isinstance(wanted, bool) or isinstance(found, bool):
        return type(found) is type(wanted) and found == wanted
    if isinstance(wanted, int | float) and isinstance(found, int | float):
        return abs(found - wanted) <= tolerance
    if isinstance(wanted, list) and isinstance(found, list):
        pairs = zip(found, wanted, strict=False)
        return len(found) == len(wanted) and all(equal(a, b, tolerance) for a, b in pairs)
    if isinstance(wanted, dict) and isinstance(found, dict):
        return found.keys() == wanted.keys() and all(equal(found[k], wanted[k], tolerance) for k in wanted)
    return type(found) is type(wanted) and bool(found == wanted)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, dict):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def shown(value: Any, most: int = MOST_VALUE) -> Any:
    """Return a value as JSON has it; a long one as the beginning of its text."""
    plain = _plain(value)
    text = json.dumps(plain)
    return plain if len(text) <= most else text[:most]


def short(value: Any) -> str:
    """Write a value in a few words."""
    return json.dumps(_plain(value), ensure_ascii=False)[:200]
