"""The exits."""

import hashlib
import hmac

from agenthard.escape.templates.declare import plain_fill, port
from agenthard.escape.templates.template import Template, Values

SALT = "salt"
"""Key among the values of an exit that holds the secret of the room; no agent ever gives or sees it."""


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
