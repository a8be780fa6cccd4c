"""Requests without anything to look up: whether a value of their gold calls can come from any of their words."""

import re
from collections.abc import Iterator

from rapidfuzz import fuzz

from agenthard.audit.detectors.support.gold_values import name_words
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.number_relations import mixed, numbers_of, results, stated_numbers, unit_factors
from agenthard.audit.detectors.support.sharing import LastCache
from agenthard.audit.detectors.support.text import EMPTY_WORDS, squash, words
from agenthard.taxonomy.task import AgentTask

_STEM = 4
_ALIKE = 72.0
_MOST_NUMBERS = 60
_HALF = 0.5
_NUMERALS = {char: float(i) for i, char in enumerate("零一二三四五六七八九十")} | {"两": 2.0, "半": 0.5, "百": 100.0}
_PREFIXES = {"p": 1e-12, "n": 1e-9, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9}
_PREFIXED = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?) ?([pnuµμmkMG])(?=[A-Za-zΩ]{1,3}\b)")
_NOON = re.compile(r"\bnoon|midday|midnight|中午|午夜", re.IGNORECASE)
_SPAN = re.compile(r"span|duration|period|length|long|interval|how many", re.IGNORECASE)
_CALCULATED = re.compile(
    r"\b(?:sum|total|altogether|together|combined|differen\w+|older|younger|taller|shorter|another|other|additional|more"
    r"|less|fewer|plus|minus|remain\w*|rest|left|average|mean|per|each|every|times|increase\w*|decrease\w*|later"
    r"|earlier|after|before|than|half|twice|double|triple|both|between|until|since|ago|split|share)\b|[共总每平均差比多少倍增减]",
    re.IGNORECASE,
)
"""Words by which an agent calculates with what is said."""
_FACTOR = 10
_FRACTION = re.compile(r"(?<![\d/.])(\d{1,4})/(\d{1,6})(?![\d/])")
_HOST = re.compile(r"\w+://([^/:]+)")


class ClosedTexts:
    """What a task says whose calls all have to follow from its texts."""

    def __init__(self, task: AgentTask) -> None:
        texts = [text for _, text in task.user_texts()]
        self.text = "\n".join(texts)
        self._squashed = squash(self.text)
        self._words = frozenset((*words(self.text), *name_words(self.text)))
        self._stems = frozenset(word[:_STEM] for word in self._words)
        self._initials = "".join(word[0] for word in words(self.text))
        self._numbers = numbers_of(self.text) | {v for char, v in _NUMERALS.items() if char in self.text}
        self._said = stated_numbers(self.text)
        self._moments = len([m for m in mentions(self.text) if m.kind in ("date", "time")])
        self._moments += len(_NOON.findall(self.text))
        self._fractions = {float(a) / float(b) for a, b in _FRACTION.findall(self.text) if float(b)}
        self._prefixed = {float(number) * _PREFIXES[prefix] for number, prefix in _PREFIXED.findall(self.text)}
        self._times = {v for m in mentions(self.text) if m.kind == "time" for v in m.values if isinstance(v, float)}

    def has_text(self, text: str) -> bool:
        """Tell whether a text is said, or half of its words are like words that are said."""
        bare = squash(text)
        if not bare or bare in self._squashed or bare in self._initials:
            return True
        if text.isupper() and len(bare) <= _STEM:
            return True  # codes of currencies and countries, which agents know
        head = words(text.partition(",")[0])
        initials = "".join(word[0] for word in head)
        if any(len(initials) > 1 and word.startswith(initials) for word in self._words):
            return True
        parts = [part for part in words(text) if len(part) > 2 and part not in EMPTY_WORDS] or words(text)
        if any(part[:3] in self._words for part in head):
            return True
        return sum(map(self._has_word, parts)) >= _HALF * len(parts)

    def has_literal(self, text: str) -> bool:
        """Tell whether a code, an address or the name of a file is said, in other marks or in its parts."""
        if squash(text) in self._squashed:
            return True
        host = _HOST.match(text)
        if host is not None:
            return host[1] in self.text
        parts = [part for part in re.split(r"[^A-Za-z0-9]+", text) if part]
        if len(parts) > 1 and sum(squash(part) in self._squashed for part in parts) > _HALF * len(parts):
            return True
        digits = re.findall(r"\d+", text)
        return len(parts) == 1 and any(len(part) > 1 and part in self.text for part in digits)

    def has_part_of_day(self, text: str) -> bool:
        """Tell whether the day or the year of a date is said, from which the rest may follow."""
        return any(
            re.search(rf"(?<!\d){int(part)}(?:st|nd|rd|th)?(?!\d)", self.text) is not None
            for mention in mentions(text)
            if mention.kind == "date"
            for value in mention.values
            for part in (str(value)[-2:], str(value)[:4])
            if part.isdigit()
        )

    def has_chinese(self, text: str) -> bool:
        """Tell whether two signs of a Chinese text follow each other in the texts too, or most of its signs occur."""
        pairs = {text[i : i + 2] for i in range(len(text) - 1)}
        return any(pair in self.text for pair in pairs) or sum(char in self.text for char in text) > _HALF * len(text)

    def _has_word(self, part: str) -> bool:
        pieces = {part, *name_words(part)}
        if any(piece[:_STEM] in self._stems for piece in pieces if len(piece) > 1):
            return True
        return any(fuzz.ratio(part, word) >= _ALIKE for word in self._words if len(word) > 2)

    def has_number(self, number: float, documentation: str) -> bool:
        """Tell whether a number is said, or follows from what is said."""
        goal = abs(number)
        if goal in self._numbers or len(self._numbers) > _MOST_NUMBERS or f"'{goal % 100:02.0f}" in self.text:
            return True
        if any(60 * (goal // 100) + goal % 100 == time for time in self._times):
            return True  # 1500 for 3 pm
        factors = unit_factors(f"{self.text} {documentation}")
        ones = {*self._said, *self._prefixed, *self._fractions, 0.5, 1.0}
        if any(_is_nearly(one * factor, goal) for one in ones for factor in (*factors, 1.0, 0.01, 1e3, 1e6)):
            return True
        if goal == int(goal) and (goal in factors or (self._moments > 1 and _SPAN.search(documentation))):
            return True
        return any(
            _is_nearly(result, goal) for a in self._said for b in self._said for result in self._results(a, b, factors)
        )

    def _results(self, one: float, other: float, factors: tuple[float, ...]) -> Iterator[float]:
        """Yield what a request of this wording lets an agent work out of two numbers."""
        yield from mixed(one, other, factors)
        if _CALCULATED.search(self.text):
            yield from results(one, other)
            yield from (one + 1, one - 1)
        elif min(one, other) >= _FACTOR:
            yield one * other


def _is_nearly(result: float, goal: float) -> bool:
    """Tell whether a number of three digits or more is another one rounded, or a shorter one the same."""
    digits = f"{goal:.10g}".replace(".", "").lstrip("0")
    decimals = len(f"{goal:.10f}".rstrip("0").partition(".")[2])
    rounding = 0.5 * 10**-decimals if len(digits) > 2 else 0.0
    return abs(abs(result) - goal) <= max(rounding, 1e-6 * goal) + 1e-12


closed_texts = LastCache(ClosedTexts)


def is_closed(task: AgentTask) -> bool:
    """Tell whether nothing can be looked up in a task: a scripted request, one turn of calls, and no state."""
    return (
        task.user.kind == "scripted"
        and task.initial_state is None
        and task.environment.state is None
        and task.ground_truth.call_matching in ("exact", "any_order")
        and task.ground_truth.semantics == "required"
        and sum(bool(calls) for calls in task.ground_truth.turns) == 1
    )
