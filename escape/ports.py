"""Ports: the closed vocabulary of what flows between the parts of a room, and the one way to write each value."""

import re
from dataclasses import dataclass
from typing import Any, Literal

from agenthard.taxonomy.errors import AgentHardError

PortType = Literal[
    "Big_Int",
    "Text_Generic",
    "Hex_String",
    "Hex_String_Key_AES",
    "Hex_String_IV_AES",
    "File_Id",
    "Code_Python",
    "Item",
    "Hidden_Item",
]
PHYSICAL: tuple[PortType, ...] = ("Item", "Hidden_Item")
"""Things, not values: they make a part of the room appear and are never given as parameters."""
MAX_LENGTH = 4_096
"""Characters of a value. The paper's values are shorter; what an agent or a stranger's file sends may not be."""
_INTEGER = re.compile(r"(-?)0*(\d+)")
_HEX = re.compile(r"(?:0x)?((?:[0-9a-f]{2})+)")
_KEY_LENGTHS = {"Hex_String_Key_AES": (32, 48, 64), "Hex_String_IV_AES": (32,)}


class WrongTypeError(AgentHardError, ValueError):
    """A value is not of the type of its port; the message says what the type is."""

    code = "AH620"
    remedy = "Give a value of the type that the message names."


@dataclass(frozen=True, slots=True)
class Port:
    """An input or an output of a template."""

    name: str
    """Name, unique among the inputs, and among the outputs, of a template."""
    type: PortType
    """What flows through it."""
    about: str
    """What it means, as it is told to agents."""
    special: bool = False
    """True for an input whose value must suit the other inputs, so that only a free item or nothing may feed it."""


def canonical(type: PortType, value: Any) -> str:
    r"""Write a value the one way that values are compared in.

    Args:
        type: Type of the port.
        value: What an agent sent, or a tool returned.

    Returns:
        An integer in decimal digits, hexadecimal in lower case without ``0x``, a text without one trailing line break.

    Raises:
        WrongTypeError: The value is not of this type.

    >>> canonical("Big_Int", "007"), canonical("Hex_String", "0xAB"), canonical("Text_Generic", "a b\n")
    ('7', 'ab', 'a b')
    """
    if isinstance(value, int) and not isinstance(value, bool) and type == "Big_Int" and value.bit_length() < MAX_LENGTH:
        return str(value)
    if not isinstance(value, str):
        raise WrongTypeError(f"{type} is expected, as text")
    if len(value) > MAX_LENGTH:
        raise WrongTypeError(f"a value has at most {MAX_LENGTH:,} characters; this one has {len(value):,}")
    if type == "Big_Int":
        return _integer(value)
    if type.startswith("Hex_String"):
        return _hex(type, value)
    text = value.rstrip() if type == "Code_Python" else value.removesuffix("\n")
    if not text:
        raise WrongTypeError(f"{type} is expected; the value is empty")
    return text


def _integer(value: str) -> str:
    found = _INTEGER.fullmatch(value.strip())
    if not found or not found[2].isascii():
        raise WrongTypeError("Big_Int is expected: a whole number in decimal digits")
    return found[2] if found[2] == "0" else f"{found[1]}{found[2]}"


def _hex(type: PortType, value: str) -> str:
    found = _HEX.fullmatch(value.strip().lower())
    if not found:
        raise WrongTypeError(f"{type} is expected: an even number of hexadecimal digits")
    lengths = _KEY_LENGTHS.get(type)
    if lengths and len(found[1]) not in lengths:
        raise WrongTypeError(f"{type} is expected: {' or '.join(map(str, lengths))} hexadecimal digits")
    return found[1]
