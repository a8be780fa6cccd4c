"""The stated number that a number without source is nearly: its sign, its power of ten, or one digit is another."""

import re
from collections.abc import Iterable, Sequence

from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.number_relations import numbers_of, results, unit_factors
from agenthard.audit.detectors.support.spoken_values import Atom, Spoken, Statement
from agenthard.audit.detectors.support.value_pairs import is_slip
from agenthard.audit.execution.replay import Step

_DIGITS = 3
"""Digits from which on two numbers that differ in one are hardly two different things."""
_POWERS = (1, 2, 3, -1, -2, -3, 4, -4)
_NEAR = 1e-9
_SPAN = 5
_PERCENT = re.compile(r"%$|percent$", re.IGNORECASE)
_PREFIXES = frozenset("pnuµμmckMGT")
"""First letters of units that are a power of ten of another."""
_MINUS = re.compile(r"[-−–]\s?$")
_TURNED = re.compile(
    r"negative|minus|below|drop|decreas|declin|loss|los[et]|reduc|fall|fell|subtract|remov|withdraw|down|depth|brak"
    r"|deceler|slow|\bcold|west|south|°\s?[WS]\b|\b\d+\s?[WS]\b|magnitude|absolute|debit|debt|owe|opposit|left|gravit"
    r"|charge|donat|g[ia]ve|spen[dt]|paid|pay|revers|[零以]下|负|低于|减|降|亏|损|西|南",
    re.IGNORECASE,
)
"""Words by which a number has the other sign."""


def near_number(spoken: Spoken, atom: Atom, turn: int, steps: Sequence[Step], documents: str) -> Statement | None:
    """Return the one stated number that no gold call gives and that a number is nearly.

    A number is left alone that any text up to its turn has, or a response, or the state, whatever its sign; and so is
    one that a change of unit makes of the stated one.

    Args:
        spoken: what the user states.
        atom: the number that a gold call gives.
        turn: the turn of its call.
        steps: the replayed calls before.
        documents: what the documentation of its parameter says.
    """
    given = [item for _, item in atom.value.accepted]
    numbers = [float(item) for item in given if isinstance(item, int | float) and not isinstance(item, bool)]
    if atom.embedded or not numbers or len(numbers) < len(given) or not spoken.is_scripted:
        return None
    signed = {v for text in spoken.texts(turn) for v in _signed(text)}
    heard = {abs(v) for v in signed}
    seen = [documents, *(step.observation.text for step in steps)]
    if any(_is_in(abs(v), heard) for v in numbers):
        return _other_sign(spoken, atom, numbers, signed, turn, documents)
    if any(_is_in(abs(v), numbers_of(text)) for v in numbers for text in seen):
        return None
    written = [re.compile(rf"(?<![\d.]){re.escape(f'{abs(v):.10g}')}(?!\.?\d)") for v in numbers]
    if any(pattern.search(text) for pattern in written for text in spoken.texts(turn)):
        return None  # 1920x1080
    if any(abs(v) >= 10 ** (_DIGITS - 1) and spoken.knowledge.is_in_state(f"{v:g}") for v in numbers):
        return None
    used = {abs(v) for v in spoken.given[turn] if isinstance(v, float)}
    said = [one for one in spoken.statements(turn, "number") if not any(_is_in(abs(v), used) for v in _values(one))]
    text = " ".join([documents, *(text for _, text in spoken.scope(turn))])
    factors = unit_factors(text)
    if any(_is_in(abs(v), [factor for factor in factors if factor > _SPAN]) for v in numbers):
        return None  # a month
    stated = {abs(v) for one in spoken.statements(turn, "number") for v in _values(one)} - {0.0, 1.0}
    if any(_is_in(abs(v), results(a, b)) for v in numbers for a in stated for b in stated if a != b):
        return None  # 12 rows of 10
    near = [one for one in said if any(_is_near(one, v, factors) for v in numbers)]
    return near[0] if len({one.mention.values for one in near}) == 1 else None


def _values(said: Statement) -> list[float]:
    return [v for v in said.mention.values if isinstance(v, float)]


def _signed(text: str) -> Iterable[float]:
    return (v for m in mentions(text) if m.kind == "number" for v in m.values if isinstance(v, float))


def _is_in(number: float, others: Iterable[float]) -> bool:
    return any(abs(number - other) <= _NEAR * max(1.0, abs(number)) for other in others)


def _other_sign(
    spoken: Spoken, atom: Atom, numbers: list[float], signed: set[float], turn: int, documents: str
) -> Statement | None:
    if any(v == 0 or _is_in(v, signed) for v in numbers):
        return None
    said = [
        one
        for one in spoken.statements(turn, "number")
        if one.mention.values & {-v for v in numbers}
        and not one.mention.values & {v for v in spoken.given[turn] if isinstance(v, float)}
    ]
    if not said or len({one.mention.values for one in said}) != 1:
        return None
    if _MINUS.search(said[0].whole[: said[0].mention.start]):
        return None
    around = said[0].whole[max(0, said[0].mention.start - 120) : said[0].mention.start + 60]
    return None if _TURNED.search(f"{atom.value.member} {documents} {around}") else said[0]


def _is_near(said: Statement, number: float, factors: Iterable[float]) -> bool:
    if said.whole[said.mention.start + len(said.mention.text) :][:1] in _PREFIXES:
        return False  # 50mH
    percent = _PERCENT.search(said.mention.text) is not None
    for stated in _values(said):
        for power in _POWERS:
            factor = 10.0**power
            if stated and abs(stated * factor - number) <= _NEAR * max(1.0, abs(number)):
                whole = max(_values(said), key=abs)
                right = {whole, whole / 100}
                return number not in right if percent else not _is_in(factor, factors)
        digits = sum(char.isdigit() for char in f"{number:.10g}".replace("0.", ""))
        if min(digits, sum(char.isdigit() for char in f"{stated:.10g}")) >= _DIGITS and is_slip(
            f"{stated:.10g}", f"{number:.10g}"
        ):
            return True
    return False


def other_year(spoken: Spoken, atom: Atom, turn: int, steps: Sequence[Step], documents: str) -> Statement | None:
    """Return the day that the user states with a year, where a gold call gives it in a year that no text has."""
    dates = {str(v) for v in atom.mention.values}
    if atom.embedded or any(date.startswith("-") for date in dates) or len(dates) != 1:
        return None
    (date,) = dates
    seen = [*spoken.texts(turn), documents, *(step.observation.text for step in steps)]
    if any(date[:4] in text for text in seen):
        return None
    said = [one for one in spoken.statements(turn, "date") if any(str(v)[-6:] == date[-6:] for v in one.mention.values)]
    years = [one for one in said if any(not str(v).startswith("-") for v in one.mention.values)]
    return years[0] if years and len(years) == len(said) else None
