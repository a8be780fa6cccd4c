"""Check: a gold value that nearly, but not exactly, passes on what an earlier gold call returned."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.knowledge import knowledge_of, texts_in
from agenthard.audit.detectors.support.mentions import mentions
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import Spoken, atoms_of, spoken_in
from agenthard.audit.detectors.support.text import squash, words
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask

_FEWEST_DIGITS = 3
_FEWEST_EQUAL = 3
_FEWEST_MEMBERS = 4
_ROUNDED = re.compile(
    r"\bround\w*|\bnearest\b|\babout\b|\bapprox\w*|\baround\b|\broughly\b|\bhundreds?\b|\bthousands?\b|\btens\b|\bup\b|\bdown\b"
    r"|\bceil\w*|\bfloor\w*|\bwhole\b|\binteger|\bleast\b|\bmost\b",
    re.IGNORECASE,
)
_PLACES = {"tenth": 1, "hundredth": 2, "thousandth": 3, "one": 1, "two": 2, "three": 3, "four": 4}
_DECIMALS = re.compile(
    r"\bnearest (tenth|hundredth|thousandth)|\b(one|two|three|four|[1-4])[ -]decimals?\b|\b([1-4]|one|two|three|four) digits after",
    re.IGNORECASE,
)


class MiscopiedResult(TaskDetector):
    """x."""

    id = "miscopied-result"
    title = "Gold values that almost pass on what a call returned"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    about_values = True
    why = "A run that passes on what the tools return differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed; None when it can."""
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per value."""
        spoken, steps = spoken_in(task), gold_replay(task).steps
        for number, step in enumerate(steps):
            before = [other for other in steps[:number] if other.observation.error is None]
            if not before or _is_unseen(task, step):
                continue
            arguments = task.ground_truth.turns[step.turn][step.index].arguments
            for value in gold_values(arguments):
                if value.omissible or len(value.accepted) != 1:
                    continue
                given = _Given(task, spoken, step, value, before)
                found = next((each for rule in _RULES if (each := rule(given)) is not None), None)
                if found is not None:
                    yield _hit(task, step, value, found)
            for at, found in _lists(spoken, step, arguments, before):
                yield _hit(task, step, GoldValue(at, ((at, found.shown),), False), found)


class _Given(NamedTuple):
    task: AgentTask
    spoken: Spoken
    step: Step
    value: GoldValue
    before: Sequence[Step]

    @property
    def item(self) -> Any:
        return self.value.accepted[0][1]

    def said(self) -> str:
        return "\n".join(self.spoken.texts(self.step.turn))


class _Found(NamedTuple):
    """What a call returned instead."""

    source: Step
    shown: Any
    how: str


def _is_unseen(task: AgentTask, step: Step) -> bool:
    """Tell whether no score depends on the arguments of a call: a read, where states are compared."""
    tool = task.tool(step.call.name, step.call.requestor)
    return task.ground_truth.call_matching == "state" and tool is not None and tool.effect == "read"


def _exchanged(given: _Given) -> _Found | None:
    """A number or code without source, of which two neighbouring digits or one digit are other than in what was returned."""
    for atom in atoms_of(given.value):
        own = _bare(atom.mention.text)
        if atom.mention.kind not in ("number", "code") or sum(map(str.isdigit, own)) < _FEWEST_DIGITS:
            continue
        if given.spoken.is_sourced(atom, given.step.turn, given.before, "") or given.spoken.in_own_state(own):
            continue
        for source in reversed(given.before):
            for mention in mentions(source.observation.text):
                other = _bare(mention.text)
                if mention.kind == atom.mention.kind and _is_exchanged(own, other):
                    return _Found(source, own, f"with {own}, which nothing has; the call returned {other}")
    return None


def _bare(text: str) -> str:
    return text.replace(",", "").strip("#$€£% ").casefold()


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
    if isinstance(number, bool) or not isinstance(number, (int, float)) or not number:
        return None
    if any(float(number) in {v for m in mentions(text) for v in m.values} for text in given.spoken.texts(given.step.turn)):
        return None
    results = [(step, v) for step in given.before for _, v in _returned_numbers(step)]
    if any(abs(v - number) < 1e-9 for _, v in results):
        return None
    decimals = _decimals(number)
    asked = next((_PLACES.get(d.lower(), None) or int(d) for m in _DECIMALS.finditer(said) for d in m.groups() if d), None)
    for source, exact in reversed(results):
        if _decimals(exact) <= decimals or exact == 0:
            continue
        if decimals and abs(exact - number) < 1.5 * 10**-decimals and round(exact, decimals) != round(number, decimals):
            if not re.search(r"\bround\w* (?:it |that |this )?(?:up|down)|ceil|floor|truncat", said, re.IGNORECASE):
                return _Found(source, number, f"which is not {exact:.10g}, as the call returned, rounded to {decimals} decimals")
        if asked and decimals < asked and round(exact, decimals) == number != round(exact, asked):
            how = f"but the user wants {asked} decimals of what the call returned: {round(exact, asked):g}"
            return _Found(source, number, how)
        if number % 10 == 0 and abs(number) >= 100 and not _ROUNDED.search(said):
            if any(round(exact, -k) == number for k in (1, 2, 3) if 10**k <= abs(number)):
                return _Found(source, number, f"but the call returned {exact:.10g}, and no text asks to round it")
    return None


def _decimals(number: float) -> int:
    return len(f"{number:.9f}".rstrip("0").partition(".")[2])


def _returned_numbers(step: Step) -> Iterator[tuple[str, float]]:
    for at, text in texts_in(_parsed(step)):
        if re.fullmatch(r"-?\d{1,15}(?:\.\d+)?", text):
            yield at, float(text)


def _parsed(step: Step) -> Any:
    try:
        return json.loads(step.observation.text)
    except ValueError:
        return None


_RULES: tuple[Callable[[_Given], _Found | None], ...] = (_one_number, _exchanged, _rounding)


def _lists(spoken: Spoken, step: Step, arguments: dict[str, Any], before: Sequence[Step]) -> Iterator[tuple[str, _Found]]:
    """Yield the lists of numbers that are what was returned in one text, less one member."""
    for name, items in arguments.items():
        if not isinstance(items, list) or len(items) < _FEWEST_MEMBERS or not all(map(_is_number, items)):
            continue
        own = [float(item) for item in items]
        for source in reversed(before):
            for _, text in texts_in(_parsed(source)):
                every = [max(m.values, key=lambda v: v == float(_bare(m.text))) for m in mentions(text) if m.kind == "number"]
                if len(every) == len(own) + 1 and any(every[:i] + every[i + 1 :] == own for i in range(len(every))):
                    yield f"/{name}", _Found(source, items, "which is what the call returned, less one number")
                    return


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
