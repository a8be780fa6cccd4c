"""Slips of the keyboard in ordinary words: what differs between a text and the same text typed again."""

import re
from collections import Counter, deque
from difflib import SequenceMatcher

from rapidfuzz.distance import Indel

from agenthard.audit.detectors.support.courtesy import EMPTY_WORDS, content_words
from agenthard.audit.detectors.support.keyboard import neighbours
from agenthard.audit.detectors.support.typing_slips import is_slip

_MOST_SLIPS = 3
_SHORTEST = 4
_LONG = 8
"""In a word of so many letters a letter may be lost and another put in."""
_ENDINGS = frozenset("sdryn")
"""Letters that make another form of a word: books, saved, larger."""


def slipped_words(one: str, other: str) -> list[tuple[str, str]]:
    """Return the word pairs by which two texts differ, when nothing but slips of the keyboard does.

    Compared are the words that say what is wanted. A slip is a letter lost, doubled or put in after the first, or two
    neighbouring letters exchanged, in a word that both texts write in small letters and that has four letters or
    carries nothing ("teh"); a neighbouring key in the place of a letter of a word that carries nothing ("thete"); one
    letter lost and another put in, in a long word ("tommorow"); a lost or added space. Any other letter in the place of
    one is no slip ("hotel", "motel"), nor is another form of a word ("books", "saved"), nor anything in a name, a
    number or an identifier.

    Args:
        one: a text.
        other: the other.

    Returns:
        At most three pairs; none where something else differs, or nothing does.

    >>> slipped_words("Book the cheapest flight", "book teh cheapset flight"), slipped_words("Lend it", "Lent it")
    ([('the', 'teh'), ('cheapest', 'cheapset')], [])
    """
    first, second = content_words(one).split(), content_words(other).split()
    if sum(((Counter(first) - Counter(second)) + (Counter(second) - Counter(first))).values()) > 2 * _MOST_SLIPS:
        return []
    texts = f"{one}\n{other}"
    found: list[tuple[str, str]] = []
    for what, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        if what == "equal":
            continue
        pairs = _pairs(first[a:b], second[c:d])
        ordinary = (EMPTY_WORDS & {*pair} or all(_in_small_letters(word, texts) for word in pair) for pair in pairs)
        if not pairs or not all(ordinary):
            return []
        found += pairs
    return found if len(found) <= _MOST_SLIPS else []


def _pairs(first: list[str], second: list[str]) -> list[tuple[str, str]]:
    """Pair the words of two stretches; a word without a partner has to be a slip of one that carries nothing."""
    left, right = deque(first), deque(second)
    found: list[tuple[str, str]] = []
    while left or right:
        if left and right and _is_slip(left[0], right[0]):
            found.append((left.popleft(), right.popleft()))
        elif len(left) > 1 and right and left[0] + left[1] == right[0]:
            found.append((f"{left.popleft()} {left.popleft()}", right.popleft()))
        elif len(right) > 1 and left and right[0] + right[1] == left[0]:
            found.append((left.popleft(), f"{right.popleft()} {right.popleft()}"))
        elif right and (meant := _meant(right[0])):
            found.append((meant, right.popleft()))
        elif left and (meant := _meant(left[0])):
            found.append((left.popleft(), meant))
        else:
            return []
    return found


def _is_slip(left: str, right: str) -> bool:
    if not (left.isalpha() and right.isalpha()):
        return False
    if len(left) == len(right) >= _LONG and left[0] == right[0] and Indel.distance(left, right, score_cutoff=2) == 2:
        return True
    shorter, longer = sorted((left, right), key=len)
    another_form = longer[:-1] == shorter and longer[-1] in _ENDINGS and longer[-1] != shorter[-1]
    enough = len(longer) >= _SHORTEST or not EMPTY_WORDS.isdisjoint((left, right))
    return enough and not another_form and is_slip(left, right)


def _meant(word: str) -> str:
    """Return the word without meaning that one text left out and in which the other slipped; empty when none is."""
    if word in EMPTY_WORDS or not word.isalpha():
        return ""
    return next((empty for empty in sorted(EMPTY_WORDS) if _is_slip(word, empty) or _is_next_to(word, empty)), "")


def _is_next_to(word: str, empty: str) -> bool:
    changed = [pair for pair in zip(word, empty, strict=False) if pair[0] != pair[1]]
    return len(word) == len(empty) >= _SHORTEST and len(changed) == 1 and neighbours(*changed[0])


def _in_small_letters(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None
