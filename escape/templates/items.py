"""Things that are looked at, opened or unlocked, and the exits."""

import hashlib
import hmac

from agenthard.escape.templates.declare import plain_fill, port
from agenthard.escape.templates.template import Files, Kind, Template, ToolUseError, Values

SALT = "salt"
"""Key among the values of an exit that holds the secret of the room; no agent ever gives or sees it."""


def _no_function(values: Values, files: Files) -> dict[str, str]:
    raise ToolUseError("what this gives does not follow from what it is given")


def _thing(id: str, kind: Kind, about: str, inputs: list[str], output: str) -> Template:
    given = tuple(map(port, inputs))
    return Template(id, kind, about, given, (port(output),), _no_function, plain_fill(given))


ITEMS = (
    *(
        _thing(name, "item", "holds a text", [], "text:T the text on it")
        for name in ("note", "diary", "plaque", "poster")
    ),
    *(_thing(name, "item", "shows a number", [], "number:B the number on it") for name in ("ledger", "dial", "ticket")),
    *(
        _thing(name, "item", "carries rows of bytes", [], "bytes:H the bytes on it")
        for name in ("hex_tape", "microfilm")
    ),
    _thing("key_card", "item", "carries a key", [], "key:K the key on it"),
    _thing("crystal", "item", "carries a vector", [], "vector:V the vector in it"),
    *(_thing(name, "item", "stores a file", [], "file:F the file on it") for name in ("usb_stick", "cassette")),
    _thing("punch_card", "item", "carries a program", [], "program:C the program on it"),
    _thing("locked_case", "lock", "opens for a number and holds a text", ["pin:B the number"], "text:T the text in it"),
    _thing("locked_drive", "lock", "opens for a text and stores a file", ["pass:T the text"], "file:F the file on it"),
)
CONTAINERS = (
    _thing("safe", "container", "opens for a number", ["combo:B the number"], "drop:I what falls out"),
    _thing("chest", "container", "opens for a text", ["word:T the text"], "drop:I what falls out"),
    _thing("wall_panel", "container", "opens for a row of bytes", ["hex:H the bytes"], "drop:J what comes into sight"),
    _thing("false_floor", "container", "opens for a text", ["word:T the text"], "drop:J what comes into sight"),
)


def flag(values: Values) -> str:
    """Compute what an exit gives: a code that follows from its inputs and the secret of the room."""
    given = "\0".join(values[name] for name in sorted(values) if name != SALT)
    return "ESC-" + hmac.new(values[SALT].encode(), given.encode(), hashlib.sha256).hexdigest()[:16]


def _exit(id: str, about: str, inputs: list[str]) -> Template:
    given = tuple(map(port, inputs))
    return Template(
        id, "terminal", about, given, (port("flag:T the answer"),), lambda v, f: {"flag": flag(v)}, plain_fill(given)
    )


TERMINALS = (
    _exit("exit_keypad", "opens the way out for a text", ["code:T the text"]),
    _exit(
        "exit_vault",
        "opens the way out for a number and a row of bytes",
        ["number:B the number", "seal:H the row of bytes"],
    ),
)
