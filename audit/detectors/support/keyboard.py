"""Keys that lie next to one another on a keyboard with Latin letters."""

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_PLACES = {key: (row, column + row / 2) for row, keys in enumerate(_ROWS) for column, key in enumerate(keys)}


def neighbours(one: str, other: str) -> bool:
    """Tell whether two letters are neighbouring keys of a QWERTY keyboard.

    >>> neighbours("r", "t"), neighbours("o", "P"), neighbours("h", "m")
    (True, True, False)
    """
    here, there = _PLACES.get(one.casefold()), _PLACES.get(other.casefold())
    if here is None or there is None or here == there:
        return False
    return abs(here[0] - there[0]) <= 1 and abs(here[1] - there[1]) <= 1
