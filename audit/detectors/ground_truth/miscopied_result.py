"""Check: a gold value that nearly, but not exactly, passes on what an earlier gold call returned."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.knowledge import texts_in
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import Spoken, atoms_of, spoken_in
from agenthard.audit.detectors.support.text import squash, words
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_EMPTY_DECIMALS = re.compile(r"(?<=\d)\.0+$")
_FEWEST_DIGITS = 3
_COARSE = 0.02
"""Relative difference up to which a number in tens or hundreds may be what was returned, rounded."""
_FEWEST_MEMBERS = 4
_FEWEST_REQUIRED = 5
"""Digits of a required number: shorter ones are near others by chance."""
_ROUNDED = re.compile(
    r"\bround\w*|\bnearest\b|\babout\b|\bapprox\w*|\baround\b|\broughly\b|\bhundreds?\b|\bthousands?\b|\btens\b"
    r"|\bceil\w*|\bfloor\w*|\bwhole\b|\binteger|\bleast\b|\bmost\b",
    re.IGNORECASE,
)
_ONE_WAY = re.compile(r"\bround\w* (?:it |that |this )?(?:up|down)|ceil|floor|truncat", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d+)?")
_PLAIN = re.compile(r"-?[\d,]+(?:\.\d+)?")
_PLACES = {"tenth": 1, "hundredth": 2, "thousandth": 3, "one": 1, "two": 2, "three": 3, "four": 4}
_DECIMALS = re.compile(
    r"\bnearest (tenth|hundredth|thousandth)|\b(one|two|three|four|[1-4])[ -]decimals?\b"
    r"|\b([1-4]|one|two|three|four) digits after",
    re.IGNORECASE,
)


class MiscopiedResult(TaskDetector):
    """A value that a gold call takes over from an earlier call is what that call returned.

    The ground truth is replayed, so what each call returned is known. Looked at are required values of which one
    spelling is accepted:

    * a **text** that is what an earlier call returned, except for one number in it: the navigation goes to "465 Oak
      Street" after the search returned "456 Oak Street";
    * a **number or code** of three digits or more, whole or within a text, that no text says, nothing returned, the
      task's own state lacks and that does not follow from numbers near it in one step, where an earlier call returned
      it with two neighbouring digits exchanged: a price of 547.23 after 457.23;
    * an **argument with decimals** that is within 1.5 units of its last decimal of what was returned, and yet not that,
      rounded (43.86 for 43.8525); one with fewer decimals than the user asks for ("to two decimals", 7.9
      for 7.9252); and one in tens or hundreds within 2 % of it, where the request of the turn says nothing of rounding;
    * a **list** of four numbers or more that is all numbers of a returned text in their order, less one;
    * a **required text** that is a number of five digits or more, which no text says and no call returned, where a call
      returned one that differs in one digit or has two exchanged: 8267.23 is required, and the sum was 8276.23.

    Not flagged: numbers that are said; a number that some call returned as it is; rounding up or down on request.

    Wrong where an agent may leave out a member of a list on purpose, or where the user means another number that
    happens to be so near.
    """

    id = "miscopied-result"
    title = "Gold values that almost pass on what a call returned"
    version = "1"
    experimental = True
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    about_values = True
    about_sources = True
    why = "A run that passes on what the tools return differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed; None when it can."""
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per value."""
        spoken, steps = spoken_in(task), gold_replay(task).steps
        for number, step in enumerate(steps):
            before = [other for other in steps[:number] if other.observation.error is None]
            if not before:
                continue
            arguments = task.ground_truth.turns[step.turn][step.index].arguments
            for value in gold_values(arguments):
                if value.omissible or len(value.accepted) != 1:
                    continue
                given = _Given(task, spoken, step, value, before)
                found = next((each for rule in _RULES if (each := rule(given)) is not None), None)
                if found is not None:
                    yield _hit(task, step, value, found)
            for at, found in _lists(arguments, before):
                yield _hit(task, step, GoldValue(at, ((at, found.shown),), False), found)
        yield from _required(task, steps)


class _Given(NamedTuple):
    """A value of a gold call, and the calls before it."""

    task: AgentTask
    spoken: Spoken
    step: Step
    value: GoldValue
    before: Sequence[Step]

    @property
    def item(self) -> Any:
        return self.value.accepted[0][1]

    def request(self) -> str:
        """Return what the user says for the turn."""
        return "\n".join(text for _, text in self.spoken.scope(self.step.turn))

    def said(self) -> str:
        """Return everything that is said until then."""
        return "\n".join(self.spoken.texts(self.step.turn))


class _Found(NamedTuple):
    """What a call returned instead."""

    source: Step
    shown: Any
    how: str


def _exchanged(given: _Given) -> _Found | None:
    """A number or code without source that has two neighbouring digits exchanged, by what was returned."""
    for atom in atoms_of(given.value):
        own = _bare(atom.mention.text)
        if atom.mention.kind not in ("number", "code") or sum(map(str.isdigit, own)) < _FEWEST_DIGITS:
            continue
        if given.spoken.is_sourced(atom, given.step.turn, given.before, "") or given.spoken.knowledge.is_in_own_state(
            own
        ):
            continue
        for source in reversed(given.before):
            for mention in mentions(source.observation.text):
                other = _bare(mention.text)
                if mention.kind == atom.mention.kind and _is_exchanged(own, other):
                    return _Found(source, own, f"with {own}, which nothing has; the call returned {other}")
    return None


def _bare(text: str) -> str:
    """Write a number or code without separators, signs and empty decimals."""
    return _EMPTY_DECIMALS.sub("", text.replace(",", "").strip("#$€£% ").casefold())


def _is_exchanged(one: str, other: str) -> bool:
    return len(one) == len(other) and sorted(one) == sorted(other) and OSA.distance(one, other, score_cutoff=1) == 1


def _one_number(given: _Given) -> _Found | None:
    """A text that is what was returned except for one number."""
    text = given.item
    if not isinstance(text, str) or len(words(text)) < 2 or squash(text) in squash(given.said()):
        return None
    for source in reversed(given.before):
        bare = squash(source.observation.text)
        if squash(text) in bare:
            return None
        for own in mentions(text):
            if own.kind != "number":
                continue
            left, right = squash(text[: own.start]), squash(text[own.start + len(own.text) :])
            if len(left) + len(right) < 6:
                continue
            if match := re.search(re.escape(left) + r"(\d{1,9})" + re.escape(right) + r"(?!\d)", bare):
                if match[1] != squash(own.text):
                    how = f"which is what the call returned, except for {own.text} in the place of {match[1]}"
                    return _Found(source, text, how)
    return None


def _rounding(given: _Given) -> _Found | None:
    """A number that rounds what was returned wrongly, or more than the user asks."""
    number, said = given.item, given.said()
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not number or given.value.at.count("/") > 1:
        return None  # a member of a list or an object may come from anywhere
    if any(float(number) in m.values for m in mentions(said)):
        return None
    results = [(step, v) for step in given.before for v in _returned_numbers(step.observation.text)]
    if any(abs(v - number) < 1e-9 for _, v in results):
        return None
    decimals = _decimals(number)
    digits = (digit for match in _DECIMALS.finditer(said) for digit in match.groups() if digit)
    asked = next((_PLACES.get(digit.lower()) or int(digit) for digit in digits), None)
    for source, exact in reversed(results):
        if _decimals(exact) <= decimals or exact == 0:
            continue
        if decimals and abs(exact - number) < 1.5 * 10**-decimals and round(exact, decimals) != round(number, decimals):
            if not _ONE_WAY.search(said):
                how = f"which is not {exact:.10g}, as the call returned, rounded to {decimals} decimals"
                return _Found(source, number, how)
        if asked and decimals < asked and round(exact, decimals) == number != round(exact, asked):
            how = f"but the user wants {asked} decimals of what the call returned: {round(exact, asked):g}"
            return _Found(source, number, how)
        if number % 10 == 0 and abs(exact - number) <= _COARSE * abs(exact) and not _ROUNDED.search(given.request()):
            if any(round(exact, -k) == number for k in (1, 2, 3)):
                return _Found(source, number, f"but the call returned {exact:.10g}, and no text asks to round it")
    return None


def _decimals(number: float) -> int:
    return len(f"{number:.9f}".rstrip("0").partition(".")[2])


@lru_cache(maxsize=256)
def _returned_numbers(response: str) -> tuple[float, ...]:
    return tuple(float(text) for _, text in texts_in(_parsed(response)) if _NUMBER.fullmatch(text))


def _parsed(response: str) -> Any:
    try:
        return json.loads(response)
    except ValueError:
        return None


_RULES: tuple[Callable[[_Given], _Found | None], ...] = (_one_number, _exchanged, _rounding)


def _lists(arguments: dict[str, Any], before: Sequence[Step]) -> Iterator[tuple[str, _Found]]:
    """Yield the lists of numbers that are what was returned in one text, less one member."""
    for name, items in arguments.items():
        if not isinstance(items, list) or len(items) < _FEWEST_MEMBERS or not all(map(_is_number, items)):
            continue
        own = [float(item) for item in items]
        for source in reversed(before):
            for _, text in texts_in(_parsed(source.observation.text)):
                every = [
                    float(_bare(m.text)) for m in mentions(text) if m.kind == "number" and _PLAIN.fullmatch(m.text)
                ]
                if len(every) == len(own) + 1 and any(every[:i] + every[i + 1 :] == own for i in range(len(every))):
                    yield f"/{name}", _Found(source, items, "which is what the call returned, less one number")
                    return


def _required(task: AgentTask, steps: Sequence[Step]) -> Iterator[Hit]:
    """Yield the required numbers that no call returned, where one returned a number that is one slip away."""
    made = [step for step in steps if step.observation.error is None]
    said = "\n".join(text for _, text in task.user_texts())
    for index, text in enumerate(task.ground_truth.outputs):
        own = _bare(text)
        if not _PLAIN.fullmatch(own) or sum(map(str.isdigit, own)) < _FEWEST_REQUIRED:
            continue
        if own in said.replace(",", "") or any(own in step.observation.text for step in made):
            continue
        near = [(step, other) for step in made for other in _near_ones(own, step)]
        if near:
            step, other = near[-1]
            yield Hit(
                claim=f"No replayed call returned the required {text!r}; {step.call.name!r} returned {other}.",
                evidence=(
                    quote(task, f"/ground_truth/outputs/{index}", note="the required text"),
                    quote(task, step.pointer, note="the gold call that returns the other"),
                ),
                fix=f"Require {other}, if that is meant.",
                cause=shared_cause(task, "miscopied", "output", text),
            )


def _near_ones(own: str, step: Step) -> list[str]:
    numbers = (_bare(mention.text) for mention in mentions(step.observation.text) if mention.kind == "number")
    return [other for other in numbers if len(other) == len(own) and OSA.distance(own, other, score_cutoff=1) == 1]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _hit(task: AgentTask, step: Step, value: GoldValue, found: _Found) -> Hit:
    shown = repr(value.accepted[0][1])
    shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    request = [quote(task, at, note="a text of the user") for at, _ in spoken_in(task).scope(step.turn)]
    return Hit(
        claim=f"The gold call of {step.call.name!r} gives {value.name!r} as {shown}, {found.how} "
        f"({found.source.call.name!r}, replayed).",
        evidence=(
            quote(task, f"{step.pointer}/arguments{value.accepted[0][0]}", note="the gold call"),
            quote(task, found.source.pointer, note="the gold call that returns it"),
            *request[-1:],
        ),
        fix="Pass on what the call returns.",
        cause=shared_cause(task, "miscopied", step.call.name, value.member, str(value.accepted[0][1])),
    )


_LONGEST = 120
