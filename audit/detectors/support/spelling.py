"""Slips of the keyboard: in values that have to be copied, and in ordinary words."""

import re
from collections import Counter, deque
from dataclasses import dataclass
from difflib import SequenceMatcher

from rapidfuzz.distance import OSA, Indel, Levenshtein

from agenthard.audit.detectors.support.dates import parse_date
from agenthard.audit.detectors.support.gold_values import GoldValue
from agenthard.audit.detectors.support.knowledge import Knowledge, knowledge_of
from agenthard.audit.detectors.support.numbers import derives
from agenthard.audit.detectors.support.sharing import LastCache
from agenthard.audit.detectors.support.text import EMPTY_WORDS, content_words, squash
from agenthard.taxonomy.task import AgentTask

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


_COPIED = re.compile(
    r"(?<![\w@.#$%&*+=-])(?:[\w+-][\w.+-]*@[\w-]+(?:\.[\w-]+)+|[\w-]+\.[A-Za-z]\w{0,4}|(?=[\w-]*\d)\w[\w-]{3,})(?![\w@#$%&*+=-]|\.\w)"
)
"""An e-mail address, a file name, or an identifier or number of four characters or more with a digit."""
_SHORTEST = 4
_LONGEST = 200


@dataclass(frozen=True)
class Slip:
    """A gold value that is one slip away from what the user says."""

    at: str
    """JSON Pointer of the gold value, relative to the arguments."""
    said: str
    """What the user says."""
    said_at: str
    """JSON Pointer of the text that says it."""


class Conversation:
    """What the user says that has to be copied."""

    def __init__(self, task: AgentTask, knowledge: Knowledge) -> None:
        self._knowledge = knowledge
        self._text = "\n".join(text for _, text in task.user_texts())
        said = [(m[0], at) for at, text in task.user_texts() for m in _COPIED.finditer(text) if len(m[0]) <= _LONGEST]
        self._said = {word: at for word, at in reversed(said)}

    @property
    def names(self) -> int:
        """How many different things the user says that have to be copied."""
        return len(self._said)

    def slip(self, value: GoldValue) -> Slip | None:
        """Return what a required value is meant to copy, where the user says exactly one thing that is a slip away."""
        if not self._said or value.omissible or len(value.accepted) != 1:
            return None
        at, given = value.accepted[0]
        text = str(given)
        if isinstance(given, bool) or not isinstance(given, str | int) or not _SHORTEST <= len(text) <= _LONGEST:
            return None
        near = [word for word in self._said if is_slip(text, word)]
        if len(near) != 1 or parse_date(text) or self._stands(text):
            return None
        return Slip(at, near[0], self._said[near[0]])

    def _stands(self, text: str) -> bool:
        word = re.compile(rf"(?<![\w.-]){re.escape(text)}(?![\w-]|\.\w)", re.IGNORECASE)
        if word.search(self._text) or self._knowledge.documented(text) or self._knowledge.in_state(text):
            return True
        return text.isdecimal() and derives(float(text), self._text)


conversation_of = LastCache[AgentTask, Conversation](lambda task: Conversation(task, knowledge_of(task)))
"""Returns what the user says in a task that has to be copied."""


def is_slip(given: str, said: str) -> bool:
    """Tell whether one character inside or at the end was lost, doubled or put in, or two neighbours exchanged.

    Another character in the place of one is not a slip, because it can name another entity, nor is anything at the
    start, where prefixes are put ("P followed by 1234"), nor a zero at the end of a number, which can be another unit.

    >>> [is_slip(given, "plan.txt") for given in ("plantxt", "pla.ntxt", "plan.txtt", "plan.tzt", "aplan.txt")]
    [True, True, True, False, False]
    >>> is_slip("12334", "1234"), is_slip("12340", "1234")
    (True, False)
    """
    a, b = given.casefold(), said.casefold()
    if a[:1] != b[:1] or abs(len(a) - len(b)) > 1 or OSA.distance(a, b, score_cutoff=1) != 1:
        return False
    if a.isdecimal() and b.isdecimal() and len(a) != len(b) and max(a, b, key=len) == min(a, b, key=len) + "0":
        return False
    return len(a) != len(b) or sorted(a) == sorted(b)


_MOST_SLIPS = 3
_SHORTEST_WORD = 4
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
    one is not a slip ("hotel", "motel"), nor is another form of a word ("books", "saved"), nor anything in a name, a
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
    enough = len(longer) >= _SHORTEST_WORD or not EMPTY_WORDS.isdisjoint((left, right))
    return enough and not another_form and is_slip(left, right)


def _meant(word: str) -> str:
    """Return the word without meaning that one text left out and in which the other slipped; empty when none is."""
    if word in EMPTY_WORDS or not word.isalpha():
        return ""
    return next((empty for empty in sorted(EMPTY_WORDS) if _is_slip(word, empty) or _is_next_to(word, empty)), "")


def _is_next_to(word: str, empty: str) -> bool:
    changed = [pair for pair in zip(word, empty, strict=False) if pair[0] != pair[1]]
    return len(word) == len(empty) >= _SHORTEST_WORD and len(changed) == 1 and neighbours(*changed[0])


def _in_small_letters(word: str, text: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


FILE_NAME = re.compile(r"(?<![\w/@.-])[\w-]+\.[A-Za-z]\w{0,4}(?![\w@])")
IDENTIFIER = re.compile(r"(?<![\w#-])#?(?=[\w-]*\d)\w[\w-]{5,}(?![\w-])")
_FEWEST_WORDS = 4
_LONGEST_NAME = 200


def nearly_same_phrase(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Tell whether two texts of four words or more differ in one word without digits."""
    if (
        min(len(a), len(b)) < _FEWEST_WORDS
        or abs(len(a) - len(b)) > 1
        or Levenshtein.distance(a, b, score_cutoff=1) != 1
    ):
        return False
    changed = set(a).symmetric_difference(b)
    return bool(changed) and all(word.isalpha() and len(set(word)) > 1 for word in changed)


def nearly_same_name(gold: str, said: str, closed_world: bool) -> bool:
    """Tell whether two file names differ by a letter or so, or, in a closed world, two identifiers by one character."""
    if max(len(gold), len(said)) > _LONGEST_NAME:
        return False
    if FILE_NAME.fullmatch(gold) and FILE_NAME.fullmatch(said):
        letters = [re.sub(r"\d", "", name.casefold()) for name in (gold, said)]
        same_digits = re.findall(r"\d", gold) == re.findall(r"\d", said)
        return same_digits and 1 <= OSA.distance(*letters) <= max(1, len(letters[0]) // 8)
    if closed_world and IDENTIFIER.fullmatch(gold) and IDENTIFIER.fullmatch(said):
        return OSA.distance(squash(gold), squash(said), score_cutoff=1) == 1
    return False
