"""Units of measure: the measures that a text states, the units that a documentation names, and conversions."""

import re
from functools import lru_cache
from typing import NamedTuple

from agenthard.audit.detectors.support.gold_values import name_words


class Unit(NamedTuple):
    """A unit of measure."""

    name: str
    dimension: str
    factors: tuple[float, ...]
    """What one of it is in the base unit of its dimension; several where people count differently (a month)."""
    offset: float = 0.0
    """What is added after the factor, for temperatures."""


_DAY = 86400.0
_DEFINED: tuple[tuple[str, str, tuple[float, ...], str, str], ...] = (
    ("millisecond", "time", (0.001,), r"milliseconds?|msecs?|毫秒", "ms"),
    ("second", "time", (1.0,), r"seconds?|secs?|秒钟?", "s"),
    ("minute", "time", (60.0,), r"minutes?|mins?|分钟", ""),
    ("hour", "time", (3600.0,), r"hours?|hrs?|个?小时|钟头", "h"),
    ("day", "time", (_DAY,), r"days?|nights?|天(?!气|然|文|空|花|赋)|个晚上?", "d"),
    (
        "week",
        "time",
        (7 * _DAY,),
        r"weeks?|wks?|周(?![期围边末年到转日一二三四五六])|个?星期(?![一二三四五六日天])|个?礼拜",
        "",
    ),
    ("month", "time", (30 * _DAY, 31 * _DAY, 28 * _DAY, 30.4375 * _DAY, 365 / 12 * _DAY), r"months?|个月", ""),
    ("year", "time", (365 * _DAY, 366 * _DAY, 360 * _DAY, 365.25 * _DAY), r"years?|yrs?|年(?![级龄月代份度])", ""),
    ("millimeter", "length", (0.001,), r"millimet(?:er|re)s?|毫米", "mm"),
    ("centimeter", "length", (0.01,), r"centimet(?:er|re)s?|厘米|公分", "cm"),
    ("meter", "length", (1.0,), r"met(?:er|re)s?|(?<![平立]方)(?<![厘毫千纳])米", "m"),
    ("kilometer", "length", (1000.0,), r"kilomet(?:er|re)s?|kms|公里|千米", "km"),
    ("inch", "length", (0.0254,), r"inch(?:es)?|英寸", ""),
    ("foot", "length", (0.3048,), r"feet|foot|英尺", "ft"),
    ("yard", "length", (0.9144,), r"yards?|码", "yd"),
    ("mile", "length", (1609.344,), r"miles?|英里", "mi"),
    ("milligram", "mass", (1e-6,), r"milligrams?|毫克", "mg"),
    ("gram", "mass", (0.001,), r"grams?|(?<![毫千])克", "g"),
    ("kilogram", "mass", (1.0,), r"kilograms?|kilos?|kgs|公斤|千克", "kg"),
    ("tonne", "mass", (1000.0, 907.18474, 1016.0469088), r"tonnes?|metric tons?|tons?|吨", ""),
    ("pound", "mass", (0.45359237,), r"pounds?|lbs|磅", "lb"),
    ("ounce", "mass", (0.028349523125,), r"ounces?|盎司", "oz"),
    ("milliliter", "volume", (0.001,), r"millilit(?:er|re)s?|毫升", "ml|mL"),
    ("liter", "volume", (1.0,), r"lit(?:er|re)s?|(?<!毫)升", "L|l"),
    ("gallon", "volume", (3.785411784, 4.54609), r"gallons?|gals?|加仑", ""),
    ("celsius", "temperature", (1.0,), r"(?:degrees? )?(?:celsius|centigrade)|摄氏度?", "°C|C|℃"),
    ("fahrenheit", "temperature", (5 / 9,), r"(?:degrees? )?fahrenheit|华氏度?", "°F|F|℉"),
    ("kelvin", "temperature", (1.0,), r"(?:degrees? )?kelvins?|开尔文", "K"),
    (
        "kilometer per hour",
        "speed",
        (1 / 3.6,),
        r"kmh|kph|(?:km|kilomet(?:er|re)s?)(?: per hour|/hr?\b|/hour)|公里/小时|公里每小时|千米/小时",
        "",
    ),
    ("mile per hour", "speed", (0.44704,), r"mph|miles? per hour|mi/h|英里/小时|英里每小时", ""),
    ("meter per second", "speed", (1.0,), r"m/s(?![²^2*])|met(?:er|re)s? per second|米/秒|米每秒", ""),
    ("square meter", "area", (1.0,), r"square met(?:er|re)s?|sqm|m²|平方米|平米", ""),
    ("square foot", "area", (0.09290304,), r"square (?:feet|foot)|sq\.? ?ft|sqft|ft²|平方英尺", ""),
    ("acre", "area", (4046.8564224,), r"acres?|英亩", ""),
    ("hectare", "area", (10000.0,), r"hectares?|公顷", ""),
    ("square kilometer", "area", (1e6,), r"square kilomet(?:er|re)s?|km²|平方公里", ""),
    ("megabyte", "data", (1.0, 1.0), r"megabytes?", "MB"),
    ("gigabyte", "data", (1000.0, 1024.0), r"gigabytes?", "GB"),
    ("terabyte", "data", (1e6, 1048576.0), r"terabytes?", "TB"),
)
_OFFSETS = {"celsius": 273.15, "fahrenheit": 273.15 - 32 * 5 / 9}
UNITS = {name: Unit(name, dimension, factors, _OFFSETS.get(name, 0.0)) for name, dimension, factors, _, _ in _DEFINED}
"""Units by name. Kept here, with a test against `pint`, because importing it takes longer than a small audit."""
_ORDER = sorted(_DEFINED, key=lambda each: each[1] not in ("speed", "area"))
"""Compound units come first: the hour of "km per hour" is not one."""
_CJK = "\u4e00-\u9fff"


def _groups(short: bool) -> str:
    found = []
    for name, _, _, words, letters in _ORDER:
        every = f"{words}|{letters}" if short and letters else words
        found.append(f"(?P<{name.replace(' ', '_')}>{every})")
    return "|".join(found)


_NUMERALS = {word: float(i) for i, word in enumerate("one two three four five six seven eight nine ten".split(), 1)}
_NUMERALS |= {word: float(i) for i, word in enumerate("一二三四五六七八九十", 1)} | {"两": 2.0, "半": 0.5}
_NUMERALS |= {"twelve": 12.0, "fifteen": 15.0, "twenty": 20.0, "thirty": 30.0, "half an": 0.5, "half a": 0.5}
_NUMERALS |= {"a": 1.0, "an": 1.0}
_AMOUNT = (
    r"(?P<number>(?<![A-Za-z0-9_.,:/$€£¥-])-?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,12}(?:\.\d{1,8})?)(?![\d,.]*\d)"
    rf"|(?<![{_CJK}\d])[一二三四五六七八九十两半](?=[个天分小秒周年公英厘毫米])"
    r"|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|half an?|an?)(?=[ -]))"
)
_END = r"(?![A-Za-z0-9_²³^]|/\w| ?\*\*| per\b|\.\d)"
_MEASURE = re.compile(
    rf"{_AMOUNT}(?P<gap>[ -]?)(?:(?P<degrees>degrees?) )?(?:{_groups(short=True)}){_END}", re.IGNORECASE
)
_WORD = re.compile(rf"(?<![A-Za-z_])(?:{_groups(short=False)})(?![A-Za-z_²³^])", re.IGNORECASE)
_LETTERS = re.compile(
    r"(?:\bin |[(（\[]|, |: |单位为?|以)(?:"
    + "|".join(f"(?P<{name.replace(' ', '_')}>{letters})" for name, _, _, _, letters in _ORDER if letters)
    + r")(?=[)）\],.。，]|$|\s*$| and\b)"
)
_LONG_LETTERS = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    + "|".join(
        f"(?P<{name.replace(' ', '_')}>{letters})"
        for name, _, _, _, letters in _ORDER
        if letters in ("mm", "cm", "km", "mg", "kg", "ms", "ml|mL")
    )
    + r")(?![A-Za-z0-9_²³^/])"
)
_CHINESE_UNIT = re.compile(r"(?:以|单位[为是：:]?\s?|[（(]|按|数?单位)\s?$")
_RATE = re.compile(r"(?:\bper|/|\beach|\bevery|\ba|每|/ ?)\s?$", re.IGNORECASE)
_NOT_IN_NAMES = frozenset({"min", "sec", "second", "day", "month", "week", "year"})
"""Words that mean the least, the next or a date in the names of parameters."""
_ONE_OF_THEM = frozenset({"minute", "hour", "foot"})
"""Words that alone name a part of a time of day."""
_CASED = frozenset({"K", "C", "F", "L", "l", "M", "m", "MB", "GB", "TB", "d", "h", "s", "g"})


class Measure(NamedTuple):
    """A number with a unit in a text."""

    start: int
    text: str
    number: float
    unit: Unit


@lru_cache(maxsize=512)
def measures(text: str) -> tuple[Measure, ...]:
    """List the numbers with units that a text states.

    >>> [(m.number, m.unit.name) for m in measures("Run 300 meters in 2 hours at 5 km/h; 5公里, 半小时, 20°C")]
    [(300.0, 'meter'), (2.0, 'hour'), (5.0, 'kilometer per hour'), (5.0, 'kilometer'), (0.5, 'hour'), (20.0, 'celsius')]
    """
    found = []
    for match in _MEASURE.finditer(text):
        name = _named(match)
        letters = match[name.replace(" ", "_")]
        if letters.lower() in {each.lower() for each in _CASED} and (
            letters not in _CASED or (letters == "K" and not match["gap"]) or letters in ("M",)
        ):
            continue
        if letters in ("C", "F") and match["gap"] == "-":
            continue
        number = match["number"].lower()
        value = _NUMERALS[number] if number in _NUMERALS else float(number.replace(",", ""))
        found.append(Measure(match.start(), match[0], value, UNITS[name]))
    return tuple(found)


def _named(match: re.Match[str]) -> str:
    return next(
        name for name in UNITS if name.replace(" ", "_") in match.re.groupindex and match[name.replace(" ", "_")]
    )


@lru_cache(maxsize=4096)
def units_named(prose: str) -> frozenset[Unit]:
    """Collect the units that a documentation counts in; rates ("per day") are not among them.

    >>> sorted(unit.name for unit in units_named("The distance to the object, km."))
    ['kilometer']
    >>> sorted(unit.name for unit in units_named("Visitors per day."))
    []
    """
    found = set[Unit]()
    for pattern in (_WORD, _LETTERS, _LONG_LETTERS):
        for match in pattern.finditer(prose):
            is_word = len(match[0]) == 1 and match[0] >= "\u4e00"
            if is_word and not (
                _CHINESE_UNIT.search(prose[: match.start()]) or prose[match.end() : match.end() + 1] == "数"
            ):
                continue  # 天 in another word
            if not _RATE.search(prose[: match.start()]):
                found.add(UNITS[_named(match)])
    return frozenset(found)


def units_in_name(name: str) -> frozenset[Unit]:
    """Collect the units in the name of a parameter.

    >>> [unit.name for name in ("duration_in_minutes", "distanceKm") for unit in units_in_name(name)]
    ['minute', 'kilometer']
    """
    parts = name_words(name)
    found = set[Unit]()
    for i, word in enumerate(parts):
        if word in _NOT_IN_NAMES or parts[i - 1 : i] == ["per"] or (word in _ONE_OF_THEM and len(parts) == 1):
            continue
        if (match := _WORD.fullmatch(word)) is not None or (match := _LONG_LETTERS.fullmatch(word)) is not None:
            found.add(UNITS[_named(match)])
    return frozenset(found)


def unit_called(text: str) -> Unit | None:
    """Return the unit that a text is the name or the sign of: ``km``, ``Miles``, ``°F``."""
    bare = text.strip().strip(".")
    for name, _, _, words, letters in _DEFINED:
        if re.fullmatch(words, bare, re.IGNORECASE) or (letters and re.fullmatch(letters, bare)):
            return UNITS[name]
    return None


def converted(number: float, unit: Unit, other: Unit) -> tuple[float, ...]:
    """Return what a measure may be in another unit of its dimension.

    >>> [round(x, 3) for x in converted(300, UNITS["kelvin"], UNITS["celsius"])]
    [26.85]
    >>> converted(6, UNITS["minute"], UNITS["second"])
    (360.0,)
    """
    found = [(number * one + unit.offset - other.offset) / two for one in unit.factors for two in other.factors]
    if {unit.name, other.name} == {"month", "year"}:
        found.append(number * 12 if unit.name == "year" else number / 12)
    if {unit.name, other.name} == {"month", "week"}:
        found.append(number * 4 if unit.name == "month" else number / 4)
    return tuple(dict.fromkeys(found))
