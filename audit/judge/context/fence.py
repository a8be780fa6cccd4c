"""Fences around a benchmark's own text, which is hostile: nothing inside can look like the end of its fence.

The text itself is unchanged, so that quotes of it can be found again. Only half of a surrogate pair, which no
encoding can carry, is shown as U+FFFD. What a reader cannot see is announced in the line that opens the fence.
"""

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Iterable

import regex

from agenthard.audit.judge.context.material import Passage

_SURROGATE = regex.compile(r"[\ud800-\udfff]")
_UNSEEN = regex.compile(r"[\p{Cf}\p{Default_Ignorable_Code_Point}\p{Co}\p{Cs}\p{Cc}--[\t\n\r]]", regex.V1)
_BREAKS = regex.compile(r"[\s\p{Cc}\p{Zl}\p{Zp}]+")
_MOST_TITLE = 200
_SHOWN_KINDS = 4
"""Kinds of invisible characters that are named; the rest is only counted."""


def fence_code(passages: Iterable[Passage], others: Iterable[str] = ()) -> str:
    """Return a code that occurs in nothing that is shown, however it is spelled.

    It is derived from the content, so that equal material gives equal prompts, and checked against it: also where
    letters are written in another case or form, or with invisible characters between them.

    Args:
        passages: The passages to be fenced.
        others: Further texts to be fenced.

    Returns:
        Eight hexadecimal digits.
    """
    texts = [text for p in passages for text in (p.label, p.title, p.text)] + list(others)
    digest = hashlib.sha256("\x1f".join(texts).encode("utf-8", "surrogatepass"))
    folded = [_folded(text) for text in texts]
    while True:
        code = digest.hexdigest()[:8]
        if not any(code in text for text in folded):
            return code
        digest.update(b"again")


def fenced(passage: Passage, code: str) -> str:
    """Return a passage between the lines that open and close its fence."""
    return fenced_text(passage.text, code, f"{one_line(passage.label)} | {one_line(passage.title)[:_MOST_TITLE]}")


def fenced_text(text: str, code: str, heading: str) -> str:
    """Return a text between the lines that open and close its fence, with a heading of one line."""
    note = unseen(text)
    opening = f"<<<{code} {heading} [{note}]" if note else f"<<<{code} {heading}"
    return f"{opening}\n{encodable(text)}\n{code}>>>"


def one_line(text: str) -> str:
    """Return a text without line breaks and control characters, as a line that opens a fence needs it."""
    return encodable(_BREAKS.sub(" ", text)).strip()


def encodable(text: str) -> str:
    """Return a text that UTF-8 can carry."""
    return _SURROGATE.sub("\ufffd", text)


def unseen(text: str) -> str:
    r"""Describe which characters of a text are invisible; empty when all are visible.

    >>> unseen("pay\u200b \u202enow")
    'holds invisible characters: U+200B ZERO WIDTH SPACE, U+202E RIGHT-TO-LEFT OVERRIDE'
    """
    counts = Counter(_UNSEEN.findall(text))
    if not counts:
        return ""
    names = [_named(character, count) for character, count in sorted(counts.items())]
    more = f" and {len(names) - _SHOWN_KINDS} other kinds" if len(names) > _SHOWN_KINDS else ""
    return f"holds invisible characters: {', '.join(names[:_SHOWN_KINDS])}{more}"


def _named(character: str, count: int) -> str:
    name = unicodedata.name(character, "").strip()
    times = f" ({count} times)" if count > 1 else ""
    return f"U+{ord(character):04X} {name}".strip() + times


def _folded(text: str) -> str:
    return _UNSEEN.sub("", unicodedata.normalize("NFKC", text)).casefold()
