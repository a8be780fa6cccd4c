"""Names and identifiers that differ as copies do: parts turned round, a plural, two digits exchanged, a lost sign."""

import re
from collections.abc import Iterable

PLURAL = "singular and plural"
_TOKEN = re.compile(r"[#@]?[A-Za-z0-9][\w-]*(?:\.[A-Za-z]\w{0,4}\b)?")
_PART = re.compile(r"[A-Za-z]+|\d+")
_MOMENT = re.compile(r"\d{4}-\d{1,2}(?:-\d{1,2})?(?:[T ][\d:]+Z?)?|\d{1,2}:\d\d(?::\d\d)?")
_SHORTEST = 4
_MOST = 20_000


def names_in(text: str) -> set[str]:
    """Return the words of a text that have the form of a name: with a digit, an underscore, an extension or a mark.

    >>> sorted(names_in("Copy draft_summary.docx to Ticket #7432 of the desk, please."))
    ['#7432', 'draft_summary.docx']
    """
    return {token for token in _TOKEN.findall(text[: _MOST * 5]) if is_name(token)}


def is_name(token: str) -> bool:
    """Tell whether a word is a name by its form: letters with a digit, or parts that are joined."""
    return len(token) >= _SHORTEST and re.search(r"[\d_.]|\w-\w", token) is not None and not _MOMENT.fullmatch(token)


def twist(one: str, other: str) -> str | None:
    """Say how two names differ where they are the same except for one mistake of copying; None for other pairs.

    >>> twist("draft_summary.docx", "summary_draft.docx"), twist("backup_test", "backup_tests"), twist("7432", "7423")
    ('parts turned round', 'singular and plural', 'two digits exchanged')
    >>> twist("log_1.txt", "log_2.txt"), twist("report.txt", "report.csv")
    (None, None)
    """
    a, b = one.casefold().lstrip("#@"), other.casefold().lstrip("#@")
    if a == b:
        return None
    first, second = _PART.findall(a), _PART.findall(b)
    stem, end = a.rpartition(".")[0] or a, b.rpartition(".")[0] or b
    if first != second and sorted(first) == sorted(second) and len(first) > 1 and _has_words(first):
        return "parts turned round" if _ending(a, stem) == _ending(b, end) else None
    if len(first) == len(second) > 1:
        differing = [(x, y) for x, y in zip(first, second, strict=True) if x != y]
        if len(differing) == 1 and _is_plural(*differing[0]):
            return PLURAL
    if re.sub(r"\d", "", a) == re.sub(r"\d", "", b) and _are_exchanged(re.sub(r"\D", "", a), re.sub(r"\D", "", b)):
        return "two digits exchanged"
    return None


def _has_words(parts: Iterable[str]) -> bool:
    return sum(part.isalpha() and len(part) > 2 for part in parts) > 1


def _ending(name: str, stem: str) -> str:
    return name[len(stem) :]


def _is_plural(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return short.isalpha() and len(short) > 2 and long in (f"{short}s", f"{short}es")


def _are_exchanged(one: str, other: str) -> bool:
    """Tell whether two neighbouring digits of a number of four digits or more are exchanged."""
    if len(one) != len(other) or len(one) < _SHORTEST:
        return False
    at = [i for i, (x, y) in enumerate(zip(one, other, strict=True)) if x != y]
    return len(at) == 2 and at[1] == at[0] + 1 and one[at[0]] == other[at[1]] and one[at[1]] == other[at[0]]
