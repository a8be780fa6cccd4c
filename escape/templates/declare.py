"""Short forms to declare templates in."""

from random import Random

from agenthard.escape.ports import Port, PortType
from agenthard.escape.templates.template import Files, Fill, Kind, Run, Template, ToolUseError, Values
from agenthard.escape.templates.values import plain_value

_TYPES: dict[str, PortType] = {
    "B": "Big_Int",
    "T": "Text_Generic",
    "H": "Hex_String",
    "K": "Hex_String_Key_AES",
    "V": "Hex_String_IV_AES",
    "F": "File_Id",
    "C": "Code_Python",
    "I": "Item",
    "J": "Hidden_Item",
}


def port(text: str) -> Port:
    """Declare a port.

    >>> port("modulus:B! a prime number above the base").special
    True
    """
    head, _, about = text.partition(" ")
    name, _, kind = head.partition(":")
    return Port(name, _TYPES[kind[0]], about, special=kind.endswith("!"))


def plain_fill(inputs: tuple[Port, ...]) -> Fill:
    """Make the fill of a tool whose inputs do not constrain each other."""

    def fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
        return {port.name: plain_value(port.type, rng) for port in inputs if port.name not in known}

    return fill


def tool(id: str, about: str, inputs: list[str], outputs: list[str], run: Run, fill: Fill | None = None) -> Template:
    """Declare a tool: ports are written as ``name:TYPE what it means``, with ``!`` after the type of a special one."""
    given = tuple(map(port, inputs))
    return Template(id, "tool", about, given, tuple(map(port, outputs)), run, fill or plain_fill(given))


def _no_function(values: Values, files: Files) -> dict[str, str]:
    raise ToolUseError("what this gives does not follow from what it is given")


def thing(id: str, kind: Kind, about: str, inputs: list[str], output: str) -> Template:
    """Declare what is looked at, opened or unlocked: what it gives does not follow from its inputs."""
    given = tuple(map(port, inputs))
    return Template(id, kind, about, given, (port(output),), _no_function, plain_fill(given))
