"""Required texts that are one slip of the keyboard away from a text that the agent can read."""

import re
from collections.abc import Iterator

from rapidfuzz import process
from rapidfuzz.distance import OSA

from agenthard.audit.detectors.support.keyboard import neighbours
from agenthard.audit.detectors.support.knowledge import texts_in
from agenthard.taxonomy.task import AgentTask

_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_FEWEST_LETTERS = 5
_FEWEST_OF_PUT_IN, _FEWEST_OF_REPLACED = 6, 7
"""Letters of a word that stands alone, for one put in, lost or replaced to be a slip: "least" is no slip of "last"."""
_MOST_WORDS = 6
_SPELLINGS = frozenset({frozenset("sz"), frozenset("ce"), frozenset("cs"), frozenset("iy")})
"""Letters that two spellings of one word have in place of one another: organise, organize; licence, license."""


def meant(task: AgentTask, text: str) -> str | None:
    """Return the one text of the state, the policy or the tools that ``text`` is a slip away from, or None.

    A slip changes one word: two neighbouring letters are exchanged, or one inside the word is lost, put in or replaced
    by another, which in a short word that stands alone makes another word as often. A change at the end of a word is
    inflection and none, nor is one at its start, unless it is a neighbouring key in one of several words, nor one of
    digits.

    Args:
        task: the task.
        text: a text that stands nowhere in the task.
    """
    given = _words(text)
    if not 0 < len(given) <= _MOST_WORDS or sum(map(str.isalpha, text)) < _FEWEST_LETTERS:
        return None
    joined = " ".join(given)
    there = {" ".join(passage) for passage in _passages(task, len(given))}
    near = process.extract(joined, there, scorer=OSA.distance, score_cutoff=1, limit=None)
    found = sorted(other for other, _, _ in near if _is_slip(given, other.split(" ")))
    return found[0] if len(found) == 1 else None


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _passages(task: AgentTask, length: int) -> Iterator[tuple[str, ...]]:
    """Yield all runs of ``length`` words of what the agent can read, apart from what the user says."""
    tools = (*task.environment.tools, *task.environment.user_tools)
    texts = {task.environment.policy, *(tool.description for tool in tools)}
    for source in (task.environment.state, task.initial_state, *(tool.parameters for tool in tools)):
        texts |= {text for _, text in texts_in(source)}
    for text in texts:
        words = _words(text)
        yield from zip(*(words[start:] for start in range(length)), strict=False)


def _is_slip(given: list[str], other: list[str]) -> bool:
    changed = [pair for pair in zip(given, other, strict=True) if pair[0] != pair[1]]
    return len(changed) == 1 and _is_slip_of_word(*changed[0], alone=len(given) == 1)


def _is_slip_of_word(given: str, other: str, alone: bool = True) -> bool:
    """Tell whether one word is a misspelling of the other.

    >>> [_is_slip_of_word(given, "evening") for given in ("evenign", "evning", "eveening", "evenimg", "evenings")]
    [True, True, True, True, False]
    """
    start = next((i for i, (a, b) in enumerate(zip(given, other, strict=False)) if a != b), min(len(given), len(other)))
    longer = max(given, other, key=len)
    inside = 0 < start < len(longer) - 1
    if len(given) != len(other):
        return inside and longer[start].isalpha() and (not alone or len(longer) >= _FEWEST_OF_PUT_IN)
    here, there = given[start : start + 2], other[start : start + 2]
    if here == there[::-1]:
        return here.isalpha() and {here, there} != {"er", "re"}
    letters = frozenset((here[0], there[0]))
    long = not alone or len(given) >= _FEWEST_OF_REPLACED
    if start == 0 and len(given) > 2 and not alone and given[1:] == other[1:]:
        return neighbours(*sorted(letters))
    return inside and long and all(map(str.isalpha, letters)) and letters not in _SPELLINGS
