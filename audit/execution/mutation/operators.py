"""Operators: each changes one value of a ground truth, and says whether the result is wrong or equivalent.

Choices, entities of the state and documented defaults; numbers; texts, dates and the user's own spelling.
"""

import re
import weakref
from collections.abc import Iterator
from datetime import date, timedelta
from random import Random
from typing import Any

from agenthard.audit.execution.mutation.mutant import OMITTED, Change, MutationSite, Truth
from agenthard.taxonomy.accepted import concrete_values, is_optional
from agenthard.taxonomy.task import EnvironmentSpec

_DEFAULT = re.compile(r"\bdefaults?(?: value)?(?: is| to|:| =)\s*(?:set to )?['\"]?(-?[\w.]*\w)", re.IGNORECASE)
_indexes: dict[int, dict[str, dict[str, Any]]] = {}


def other_choice(place: MutationSite, random: Random) -> Iterator[Change]:
    """Use another documented choice, or the opposite boolean: wrong, because the choices differ in meaning."""
    if isinstance(place.value, bool):
        yield Change("other-choice", not place.value, Truth.WRONG, "it is the opposite", "field")
        return
    choices = place.schema.get("enum")
    if isinstance(choices, list) and place.value in choices:
        others = [choice for choice in choices if str(choice).casefold() != str(place.value).casefold()]
        if others:
            why = "the documentation lists it as another choice"
            yield Change("other-choice", random.choice(others), Truth.WRONG, why, "field")


def other_entity(place: MutationSite, random: Random) -> Iterator[Change]:
    """Use another entity of the same kind: wrong, because it is a different record."""
    if not isinstance(place.value, str):
        return
    kind = _index(place.task.environment).get(place.value, {})
    others = sorted(key for key in kind if key != place.value)
    if others:
        why = "the state holds both, and they are two things"
        yield Change("other-entity", random.choice(others), Truth.WRONG, why, "field")


def left_out(place: MutationSite, random: Random) -> Iterator[Change]:
    """Leave out an argument that the documentation does not require.

    With the documented default it is equivalent, whatever the user says; certain where the user does not mention it.
    If the user states another value and does not mention the default, it is wrong.
    """
    if place.required or len(place.path) > 1:
        return
    default = _default(place.schema)
    if default is None:
        return
    node = place.call.arguments[place.argument]
    if _same(default, place.value):
        if not is_optional(node):
            why = f"the documented default is {default!r}"
            unsaid = not isinstance(place.value, bool) and not _may_be_stated(place)
            yield Change("default-left-out", OMITTED, Truth.EQUIVALENT, why, "field", certain=unsaid)
    elif is_optional(node) and "default" in place.schema:
        accepted = concrete_values(node)
        if all(_stated(place, value) for value in accepted) and not _stated(place, default):
            why = f"the user states the value, and the documented default is {default!r}"
            yield Change("stated-value-left-out", OMITTED, Truth.WRONG, why, "task")


def _default(schema: dict[str, Any]) -> Any:
    if "default" in schema:
        return schema["default"]
    found = _DEFAULT.search(str(schema.get("description", "")))
    return found[1] if found else None


def _same(default: Any, value: Any) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return str(default).casefold() == str(value).casefold()
    try:
        return float(default) == float(value)
    except (TypeError, ValueError):
        return str(default).casefold() == str(value).casefold()


def _stated(place: MutationSite, value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value == "":
        return False
    word = re.compile(rf"(?<![\w.]){re.escape(str(value))}(?![\w]|\.\d)", re.IGNORECASE)
    return any(word.search(text) for _, text in place.task.user_texts())


def _may_be_stated(place: MutationSite) -> bool:
    """Tell whether the user may state the value; zero has many names, and other scripts are not understood."""
    if place.value == 0:
        return True
    foreign = any(sum(not ch.isascii() for ch in text) > len(text) / 4 for _, text in place.task.user_texts())
    return foreign or any(_stated(place, value) for value in concrete_values(place.call.arguments[place.argument]))


def _index(environment: EnvironmentSpec) -> dict[str, dict[str, Any]]:
    """Return, for each record key of the shared state, the mapping that holds it."""
    key = id(environment)
    if key not in _indexes:
        found: dict[str, dict[str, Any]] = {}
        _collect(environment.state, found, 0)
        _indexes[key] = found
        weakref.finalize(environment, _indexes.pop, key, None)
    return _indexes[key]


def _collect(value: Any, found: dict[str, dict[str, Any]], depth: int) -> None:
    if not isinstance(value, dict) or depth > 5:
        return
    records = len(value) > 1 and all(isinstance(item, dict) for item in value.values()) and depth > 0
    for name, item in value.items():
        if records:
            found.setdefault(name, value)
        _collect(item, found, depth + 1)


_DECIMAL = re.compile(r"\d+\.\d*[1-9]\d*")
_NEGATIVE = re.compile(r"-(?:\d+(?:\.\d+)?)")
_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split()


def other_number(place: MutationSite, random: Random) -> Iterator[Change]:
    """Add one to a number, and take one far above and one far below: wrong, because they are other numbers."""
    if isinstance(place.value, bool) or not isinstance(place.value, (int, float)) or "enum" in place.schema:
        return
    yield Change("off-by-one", place.value + 1, Truth.WRONG, "it is another number", "field")
    yield Change("far-above", abs(place.value) * 1000 + 777, Truth.WRONG, "it is another number", "field")
    yield Change("far-below", 0 if place.value > 1 else -777, Truth.WRONG, "it is another number", "field")


def as_fraction(place: MutationSite, random: Random) -> Iterator[Change]:
    """Write a whole number as 86.0 where any number is documented: equivalent, JSON makes no difference."""
    value = place.value
    if isinstance(value, int) and not isinstance(value, bool) and place.schema.get("type") == "number":
        why = "the documentation asks for a number, and these are the same one"
        yield Change("whole-number-as-fraction", float(value), Truth.EQUIVALENT, why, "operator")


def lost_mark(place: MutationSite, random: Random) -> Iterator[Change]:
    """Drop the point or the sign of a number given as text: wrong, because it is another number."""
    if not isinstance(place.value, str):
        return
    if _DECIMAL.fullmatch(place.value):
        why = "without its decimal point it is another number"
        yield Change("lost-decimal-point", place.value.replace(".", ""), Truth.WRONG, why, "operator")
    if _NEGATIVE.fullmatch(place.value) and float(place.value) != 0:
        yield Change("lost-sign", place.value[1:], Truth.WRONG, "without its sign it is another number", "operator")


def written_otherwise(text: str) -> Iterator[tuple[str, str]]:
    """Yield other common spellings of a number that a reply has to state, with the name of the operator.

    >>> list(written_otherwise("481.50")), list(written_otherwise("481.5")), list(written_otherwise("10"))
    ([('number-without-last-zero', '481.5')], [('number-with-cents', '481.50')], [('number-in-words', 'ten')])
    >>> list(written_otherwise("#W12")), list(written_otherwise("1.25"))
    ([], [])
    """
    if re.fullmatch(r"\d+\.\d0", text):
        yield "number-without-last-zero", text[:-1]
    elif re.fullmatch(r"\d+\.\d", text):
        yield "number-with-cents", f"{text}0"
    elif text.isdecimal() and text == str(int(text)) and int(text) < len(_WORDS):
        yield "number-in-words", _WORDS[int(text)]


_POWER = re.compile(r"(?<![A-Za-z])([a-z])(?:\^|\*\*)(?=[2-9](?![\d.]))")
_EXPRESSION = re.compile(r"[\w\s+*^/().=-]{3,200}")
_PATH = re.compile(r"/(?:[\w.-]+/)+[\w.-]+")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTHS = "January February March April May June July August September October November December".split()
_PLAIN_WORDS = re.compile(r"[A-Za-z]{3,}(?: [A-Za-z]+)*")
_FORMAT = re.compile(
    r"format|enum|yyyy|mm[-/]dd|dd[-/]mm|iso|\be\.?g\b|example|such as|like|case|\d{4}-\d{2}|upper|lower|exact", re.I
)


def lost_power(place: MutationSite, random: Random) -> Iterator[Change]:
    """Write a product instead of a power, x*2 for x^2: wrong, because it is another function."""
    value = place.value
    if isinstance(value, str) and _EXPRESSION.fullmatch(value) and _POWER.search(value):
        changed = _POWER.sub(r"\1*", value, count=1)
        yield Change("lost-power", changed, Truth.WRONG, "a power is not a product", "operator")


def lost_slash(place: MutationSite, random: Random) -> Iterator[Change]:
    """Drop the last slash of an absolute path: wrong, because it names another file."""
    if isinstance(place.value, str) and _PATH.fullmatch(place.value):
        folder, _, name = place.value.rpartition("/")
        yield Change("lost-slash", f"{folder}{name}", Truth.WRONG, "it names another file", "operator")


def other_day(place: MutationSite, random: Random) -> Iterator[Change]:
    """Use the next day, and the day 10,000 days later: wrong, because they are other days."""
    day = _day(place)
    for operator, days in (("next-day", 1), ("far-day", 10_000)):
        if day is not None and day.year < date.max.year - 100:
            later = (day + timedelta(days=days)).isoformat()
            yield Change(operator, later, Truth.WRONG, "it is another day", "field")


def users_date(place: MutationSite, random: Random) -> Iterator[Change]:
    """Write a day as the user does, where no format is documented: equivalent, it is the same day.

    It is certain where the ground truth itself accepts a day written in words.
    """
    day = _day(place)
    if day is None or _asks_for_form(place):
        return
    month = _MONTHS[day.month - 1]
    spelled = re.compile(
        rf"\b(?:{month}|{month[:3]}\.?) {day.day}(?:st|nd|rd|th)?,? {day.year}\b"
        rf"|\b{day.day}(?:st|nd|rd|th)?(?: of)? (?:{month}|{month[:3]}),? {day.year}\b",
        re.IGNORECASE,
    )
    for _, text in place.task.user_texts():
        found = spelled.search(text)
        if found:
            why = "it is the same day in the user's own words, and no format is documented"
            accepted = concrete_values(place.call.arguments[place.argument])
            words = any(isinstance(one, str) and re.search("[A-Za-z]{3}", one) for one in accepted)
            yield Change("date-as-the-user-says", found[0], Truth.EQUIVALENT, why, "task", certain=words)
            return


def users_case(place: MutationSite, random: Random) -> Iterator[Change]:
    """Write words in the letter case in which the user gives them: equivalent where no form is documented.

    What is stored in a state, or names a file or a record in it, may depend on letter case.
    """
    value = place.value
    if not isinstance(value, str) or not _PLAIN_WORDS.fullmatch(value) or _asks_for_form(place):
        return
    if place.task.ground_truth.call_matching == "state":
        return
    texts = [text for _, text in place.task.user_texts()]
    if any(value in text for text in texts):
        return
    pattern = re.compile(rf"(?<!\w){re.escape(value)}(?!\w)", re.IGNORECASE)
    for text in texts:
        found = pattern.search(text)
        if found:
            why = "it is the user's own spelling, and no form is documented"
            yield Change("case-as-the-user-writes", found[0], Truth.EQUIVALENT, why, "task")
            return


def _day(place: MutationSite) -> date | None:
    if not isinstance(place.value, str) or not _ISO.fullmatch(place.value):
        return None
    try:
        return date.fromisoformat(place.value)
    except ValueError:
        return None


def _asks_for_form(place: MutationSite) -> bool:
    """Tell whether the documentation may prescribe a format."""
    known = ("enum", "pattern", "format", "default", "examples")
    return any(key in place.schema for key in known) or bool(_FORMAT.search(str(place.schema.get("description", ""))))
