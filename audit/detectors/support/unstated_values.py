"""Values of a closed request that no word of it leads to, by the kinds of values that are copied."""

import re
from typing import Any, NamedTuple

from agenthard.audit.detectors.support.closed_texts import ClosedTexts, closed_texts
from agenthard.audit.detectors.support.gold_values import GoldValue, documented, name_words
from agenthard.audit.detectors.support.knowledge import knowledge_of, scalars_in
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.numbers import derives
from agenthard.audit.detectors.support.text import squash, words
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, ToolCall

_MOST_WORDS = 8
_KNOWN_NAMES = frozenset(
    "latitude longitude lat lon lng long coord coords coordinate coordinates position point points altitude elevation"
    " timestamp population distance hour hours minute minutes month day days time".split()
)
"""Words of parameters whose numbers agents know, or work out from words for times."""
_LEFT_OPEN = frozenset(
    "user me self none null na any all dontcare default unknown unspecified english en us usd usa true false yes no"
    " notspecified anonymous".split()
)
_LARGE = 100
_NUMERIC = ("integer", "number", "float")
_EXTREME = re.compile(
    r"\b(?:half|full|max\w*|min(?:imum|imal)?|lowest|highest|loud\w*|quiet\w*)\b|最[大小高低]|一半", re.IGNORECASE
)
"""Words that pick a number from the range of a parameter."""
_YEARS = frozenset({"year", "years"})
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
    r"|\bnow\b|today|tonight|tomorrow|yesterday|week|month|year|\bdays?\b|christmas|easter|halloween|anniversar|birthday|season|spring"
    r"|summer|autumn|fall|winter|holiday|current|date|morning|noon|evening|night|o'clock|\bat \d"
    r"|minute|second|\d ?[ap]\.?m|hour)"
    r"|[年月日号周天]|星期|上午|下午|晚上|早上|点"
)
"""Words for days and times, from which dates and times may follow."""
_EXAMPLE = re.compile(
    r"(?:e\.g\.|for example|such as|for instance|\blike|example:?|例如|比如|如)[^.;。；]*$", re.IGNORECASE
)
_FORMULA = re.compile(r"[#*^=\\{}<>()|&$%]|\bdef\b|lambda|://|\n")
_TODAY = re.compile(
    r"(?:the )?current (?:time|date) is [^。.;\n]*|today(?:'s date)? is [^。.;\n]*|今天是[^。\n]*"
    r"|当前时间[是为：:][^。\n]*",
    re.IGNORECASE,
)
_RELATIVE = re.compile(
    r"(?i:today|tonight|tomorrow|yesterday|\bnow\b|current|next|last|past|coming|upcoming|this|recent|latest|ago|since"
    r"|week|month|quarter|year|day|season|spring|summer|autumn|fall|winter|christmas|easter|halloween|anniversar|birthday)"
    r"|[今去明昨前后上下本]|最近|目前|现在|当前|天|周|月|年|日|号|星期|季"
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]{2,12}")
_LITERAL = re.compile(
    r"(?!\d+[-/.]\d+[-/.]\d+$)(?![A-Za-z]+_?\d$)(?=\S*\d)[A-Za-z0-9_./:@?=+-]*"
    r"(?:\d{3}|[A-Za-z]\d|\d[A-Za-z]|\.[a-z]{2,4}\b|\d\.\d)[A-Za-z0-9_./:@?=+-]*"
    r"|https?://\S+|[\w.+-]+@[\w-]+\.[\w.]+"
    r"|[A-Za-z0-9_/-]+\.(?:pdf|txt|csv|json|md|docx?|xlsx?|jpe?g|png|mp[34]|wav|py|html|xml|log)"
)
"""Codes, addresses, versions and names of files, which are copied letter by letter."""
_INFERRED = frozenset(
    "country language continent currency state timezone category type zone region locale nationality".split()
)
"""Words of parameters whose values agents infer: the country of a city."""


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
    if place.schema.get("type", "number") not in _NUMERIC or _EXTREME.search(said.text):
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
    if place.schema.get("type", "string") != "string":
        return None
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
    own = {
        str(value)[-6:] if mention.kind == "date" else value for mention in mentions(text) for value in mention.values
    }
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
