"""Escapes untrusted text for display in a terminal, a log or a Markdown page.

Benchmarks, run logs and model servers can put control characters into any text. A terminal would obey them: clear the
screen, change its title, hide what follows, or show a line in another order than it is written.
"""

import re

_HOSTILE = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 except tab and line feed, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # changes of the direction of writing
    "\u2028\u2029"  # line breaks that editors show and `grep` does not know
    "\ud800-\udfff"  # halves of a surrogate pair, which no file can hold
    "\U000e0000-\U000e007f"  # tags, which nothing shows
)
_CONTROL = re.compile(f"[{_HOSTILE}]")


def printable(text: str) -> str:
    r"""Show control characters as escapes; line feeds and tabs stay, and so does a line feed after a return.

    >>> printable("a\x1b[31mb\u202ec\r\nd")
    'a\\x1b[31mb\\u202ec\nd'
    """
    return _CONTROL.sub(_escape, text.replace("\r\n", "\n"))


def printable_line(text: str) -> str:
    r"""Show a text as one line: line feeds and tabs become escapes too.

    >>> printable_line("a\nb")
    'a\\nb'
    """
    return printable(text).replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def printable_json(text: str) -> str:
    r"""Escape control characters in JSON text, so that the values stay what they are.

    >>> printable_json('"\u009b31m"')
    '"\\u009b31m"'
    """
    return _CONTROL.sub(_json_escape, text)


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    code -= 0x10000
    return f"\\u{0xD800 + (code >> 10):04x}\\u{0xDC00 + (code & 0x3FF):04x}"
