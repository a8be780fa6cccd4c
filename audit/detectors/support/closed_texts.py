"""Requests without anything to look up: whether a value of their gold calls can come from any of their words."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from rapidfuzz import fuzz

from agenthard.audit.detectors.support.gold_values import GoldValue, documented, name_words
from agenthard.audit.detectors.support.knowledge import knowledge_of, scalars_in
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.number_relations import mixed, numbers_of, results, stated_numbers, unit_factors
from agenthard.audit.detectors.support.numbers import derives
from agenthard.audit.detectors.support.sharing import LastCache
from agenthard.audit.detectors.support.text import EMPTY_WORDS, squash, words
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, ToolCall

_STEM = 4
_ALIKE = 72.0
_MOST_NUMBERS = 60
_MOST_WORDS = 8
_HALF = 0.5
_LARGE = 100
_YEARS = frozenset({"year", "years"})
_NUMERALS = {char: float(i) for i, char in enumerate("零一二三四五六七八九十")} | {"两": 2.0, "半": 0.5, "百": 100.0}
_KNOWN_NAMES = frozenset(
    "latitude longitude lat lon lng long coord coords coordinate coordinates position point points altitude elevation"
    " timestamp population distance hour hours minute minutes month day days time".split()
)
"""Words of parameters whose numbers agents know, or work out from words for times."""
_LORE = re.compile(
    r"\bdeck\b|cards?\b|\bdice?\b|poker|\bcoin|chess|zodiac|alphabet|adult|senior|child|teen|young|\bpi\b|standard"
    r"|family|size|grade|decade|centur|generation|quarter|年代|世纪|成人|儿童|青年|季度",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\b(?:now|today|tonight|tomorrow|yesterday|current\w*|recent\w*|latest|last|past|next|this|coming|upcoming|ago"
    r"|since)\b|[今去明昨前后]|最近|目前|现在|当前",
    re.IGNORECASE,
)
_CALENDAR = re.compile(
    r"(?i:\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\bnow\b|today|tonight|tomorrow|yesterday|week|month|year|\bdays?\b|christmas|easter|halloween|season|spring"
    r"|summer|autumn|fall|winter|holiday|current|date|morning|noon|evening|night|o'clock|\bat \d|minute|second|\d ?[ap]\.?m|hour)"
    r"|[年月日号周天]|星期|上午|下午|晚上|早上|点"
)
"""Words for days and times, from which dates and times may follow."""
_EXAMPLE = re.compile(r"(?:e\.g\.|for example|such as|for instance|\blike|example:?|例如|比如|如)[^.;。；]*$", re.IGNORECASE)
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
_FORMULA = re.compile(r"[#*^=\\{}<>()|&$%]|\bdef\b|lambda|://|\n")
_TODAY = re.compile(
    r"(?:the )?current (?:time|date) is [^。.\n]*|today(?:'s date)? is [^。.\n]*|今天是[^。\n]*|当前时间[是为：:][^。\n]*", re.IGNORECASE
)
_RELATIVE = re.compile(
    r"(?i:today|tonight|tomorrow|yesterday|\bnow\b|current|next|last|past|coming|upcoming|this|recent|latest|ago|since|week"
    r"|month|quarter|year|day|season|spring|summer|autumn|fall|winter|christmas|easter|halloween)"
    r"|[今去明昨前后上下本]|最近|目前|现在|当前|天|周|月|年|日|号|星期|季"
)
_HOST = re.compile(r"\w+://([^/:]+)")
_CHINESE = re.compile(r"[\u4e00-\u9fff]{2,12}")
_LITERAL = re.compile(
    r"(?!\d+[-/.]\d+[-/.]\d+$)(?![A-Za-z]+_?\d$)(?=\S*\d)[A-Za-z0-9_./:@?=+-]*(?:\d{3}|[A-Za-z]\d|\d[A-Za-z]|\.[a-z]{2,4}\b|\d\.\d)[A-Za-z0-9_./:@?=+-]*"
    r"|https?://\S+|[\w.+-]+@[\w-]+\.[\w.]+|[A-Za-z0-9_/-]+\.(?:pdf|txt|csv|json|md|docx?|xlsx?|jpe?g|png|mp[34]|wav|py|html|xml|log)"
)
"""Codes, addresses, versions and names of files, which are copied letter by letter."""
_LEFT_OPEN = frozenset(
    "user me self none null na any all dontcare default unknown unspecified english en us usd usa true false yes no"
    " notspecified anonymous".split()
)


_INFERRED = frozenset(
    "country language continent currency state timezone category type zone region locale nationality".split()
)
"""Words of parameters whose values agents infer: the country of a city."""


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
        """Tell whether any two signs of a Chinese text follow each other in the texts too, or most of its signs occur."""
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
        return any(_is_nearly(result, goal) for a in self._said for b in self._said for result in self._results(a, b, factors))

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


def may_be_unstated(task: AgentTask, call: ToolCall, value: GoldValue) -> bool:
    """Tell whether a value of a closed task is of a kind that is looked at: no choice, no default, no truth value."""
    return _looked_up(task, call, value) is not None


def unstated(task: AgentTask, call: ToolCall, value: GoldValue) -> str | None:
    """Return why no word of a closed task leads to a value that its gold demands; None where one may.

    Args:
        task: a task for which `is_closed` holds.
        call: the gold call.
        value: one of its values.
    """
    place, given = _looked_up(task, call, value), [item for _, item in value.accepted]
    if place is None:
        return None
    if all(isinstance(item, str) for item in given):
        return _unstated_text(closed_texts(task), given, place)
    if all(abs(item) >= _LARGE for item in given) and _YEARS.isdisjoint(name_words(value.name)):
        known, text = knowledge_of(task), closed_texts(task).text
        if not any(known.documented(f"{item:g}") or derives(item, text) for item in given):
            return None  # the check invented-value reports it
    return _unstated_number(closed_texts(task), value, given, place)


class _Place(NamedTuple):
    """What the documentation says of a value."""

    schema: dict[str, Any]
    optional: bool
    whole: dict[str, Any]
    """The schema of the parameter that the value is in."""


def _looked_up(task: AgentTask, call: ToolCall, value: GoldValue) -> _Place | None:
    tool = task.tool(call.name, call.requestor)
    place = documented(tool, value.at) if tool and tool.language in ("json", "python") else None
    given = [item for _, item in value.accepted]
    if place is None or value.omissible or "enum" in place.schema or "pattern" in place.schema:
        return None
    if any(item is None or item == "" or isinstance(item, bool) for item in given):
        return None
    if place.schema.get("default", _NONE) in given:
        return None
    same = all(isinstance(item, str) for item in given) or all(isinstance(item, int | float) for item in given)
    if not same or _INFERRED & set(name_words(value.member)):
        return None
    properties = tool.parameters.get("properties") if tool else None
    whole = properties.get(split(value.at)[0]) if isinstance(properties, dict) else None
    return _Place(place.schema, place.optional, whole if isinstance(whole, dict) else {})


_NONE = object()


def _unstated_number(said: ClosedTexts, value: GoldValue, given: list[Any], place: _Place) -> str | None:
    names = set(name_words(value.name))
    if names & _KNOWN_NAMES or 0 in given or 1 in given:
        return None
    if all(item == int(item) for item in given) and _LORE.search(said.text):
        return None
    if names & _YEARS and (not place.optional or _MOMENT.search(said.text)):
        return None
    docs = " ".join(scalars_in(place.schema))
    if any(said.has_number(item, docs) or _provided(f"{item:g}", place) for item in given):
        return None
    return "it is neither said nor follows from what is said"


def _unstated_text(said: ClosedTexts, given: list[str], place: _Place) -> str | None:
    found = [_mentioned(text) for text in given]
    if all(kind in ("date", "time") for kind in found):
        return _unstated_moment(said, given, found[0], place)
    if all(_LITERAL.fullmatch(text) for text in given):
        if any(said.has_literal(text) or _provided(text, place) or _is_documented(text, place) for text in given):
            return None
        return "no text has it, and it is of a kind that is copied"
    if all(_CHINESE.fullmatch(text) for text in given):
        if any(said.has_chinese(text) or _is_documented(text, place) for text in given):
            return None
        return "no text says it, or anything like it"
    if not said.text.isascii() or any(not _is_name(text) for text in given):
        return None
    if any(said.has_text(text) or _is_documented(text, place) for text in given):
        return None
    return "no text says it, or anything like it"


def _unstated_moment(said: ClosedTexts, given: list[str], kind: str, place: _Place) -> str | None:
    example = all(_in_examples(text, place) for text in given)
    if any(_says_moment(said, text) for text in given):
        return None
    asked = _TODAY.sub("", said.text)
    if not _CALENDAR.search(asked) and not any(said.has_part_of_day(text) for text in given):
        return "the request names no day and no time"
    if kind == "date" and example:
        return "it is the example of the documentation"
    if kind == "date" and not _RELATIVE.search(asked) and not any(said.has_part_of_day(text) for text in given):
        return "the request names no such day"
    return None


def _is_name(text: str) -> bool:
    return (
        text.isascii()
        and any(char.isalpha() for char in text)
        and not any(char.isdigit() for char in text)
        and not _FORMULA.search(text)
        and len(text.split()) <= _MOST_WORDS
        and squash(text) not in _LEFT_OPEN
    )


def _mentioned(text: str) -> str:
    found = mentions(text)
    return found[0].kind if found and len(found) <= 2 and len(found[0].text) * 2 >= len(text) else ""


def _says_moment(said: ClosedTexts, text: str) -> bool:
    own = {str(value)[-6:] if mention.kind == "date" else value for mention in mentions(text) for value in mention.values}
    heard = {str(v)[-6:] if m.kind == "date" else v for m in mentions(said.text) for v in m.values}
    return bool(own & heard) or squash(text) in squash(said.text)


def _prose(place: _Place) -> str:
    return " ".join(str(place.schema.get(key, "")) for key in ("description", "default", "examples"))


def _is_documented(text: str, place: _Place) -> bool:
    """Tell whether the documentation of the parameter names a value or one of its words."""
    named = set(words(_prose(place)))
    return squash(text) in squash(_prose(place)) or all(part in named for part in words(text))


def _in_examples(text: str, place: _Place) -> bool:
    prose = _prose(place)
    at = prose.find(text)
    return at >= 0 and _EXAMPLE.search(prose[:at]) is not None


def _provided(text: str, place: _Place) -> bool:
    """Tell whether the documentation names a value otherwise than as an example."""
    prose = " ".join(scalars_in(place.whole))
    at = re.search(rf"(?<![\w.]){re.escape(text)}(?![\w]|\.\d)", prose)
    if at is None:
        return False
    is_example = _EXAMPLE.search(prose[: at.start()]) is not None
    return not is_example or re.match(r"['\"]? (?:for|means|is|=|represents|[(])", prose[at.end() :]) is not None
