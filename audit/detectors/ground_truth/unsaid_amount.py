"""Check: an amount that the ground truth gives and that neither the user nor the state tells."""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import GoldValue, documented, gold_values
from agenthard.audit.detectors.support.knowledge import scalars_in, texts_in
from agenthard.audit.detectors.support.numbers import derives, numbers_said
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

_SMALLEST = 10
"""Smaller numbers are counted, not said: how many things are in a list."""
_MOST = 200
"""With more numbers in the state than this, nearly any number is a sum of two of them."""
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,6})?")
_RELATIVE = re.compile(
    r"\b(?:all|whole|full(?:y)?|rest|half|third|quarter|maximum|minimum|most|least|everything|remaining|remainder|total"
    r"|balance|each|every|both|double|twice|same|equal|exact(?:ly)?|enough|percent|average|per)\b|%",
    re.IGNORECASE,
)


Fields = dict[str, frozenset[float]]
"""Numbers of a state by the name of the field that holds them."""


class UnsaidAmount(TaskDetector):
    """A number that a call of the ground truth has to give is told by the user, or follows from the state.

    Rule: the task has a state in its files with at most 200 different numbers. The first call of the ground truth that
    changes it gives a required parameter a number of ten or more for which the tool documents no default and no
    choices. The number is not said; nor is it a sum, difference, product or quotient of numbers that are said or are in
    the state (sums and differences: in fields of one name); no text of the tools or the policy has it; and the user
    says nothing that picks an amount by what it is a part of ("all", "the rest", "half", "the total").

    Flagged: "I want to pay part of my fine" with the gold ``pay_fine(amount_cents=75)`` and a fine of 240 cents.
    Not flagged: the same with "75 cents", "half a euro", "what I owe", or 240 as the gold; a first call with what an
    earlier call that changes things, or one of unknown effect, may have returned.

    Wrong where the number is common knowledge, is computed in three steps, or comes from a page or a file that the
    state does not hold.
    """

    id = "unsaid-amount"
    title = "an amount that no text tells"
    version = "1"
    experimental = True
    category = "ambiguous-instruction"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    about_sources = True
    why = "The agent has to guess the amount, and only one guess passes."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        if task.environment.state is None and task.initial_state is None:
            return "no state in the files"
        return None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per amount that cannot be known."""
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            if tool is None:
                return
            for value in gold_values(call.arguments):
                if _asks(task, call, value) and not _known(task, value):
                    at, shown = value.accepted[0]
                    *_, (said_at, _text) = task.user_texts()
                    yield Hit(
                        claim=f"The gold call of {call.name!r} demands {value.name!r} = {shown!r}, and nothing that is "
                        "said or is in the state leads to it.",
                        evidence=(
                            quote(task, f"{pointer}/arguments{at}", note="the gold call"),
                            quote(task, said_at, note="what the user says or is told"),
                        ),
                        fix="Let the user say the amount.",
                    )
            if tool.effect != "read":
                return


def _asks(task: AgentTask, call: ToolCall, value: GoldValue) -> bool:
    """Tell whether a call has to give a number here, without a default or choices."""
    numbers = [number for _, number in value.accepted]
    plain = all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers)
    if value.omissible or not plain or any(abs(number) < _SMALLEST for number in numbers):
        return False
    tool = task.tool(call.name, call.requestor)
    place = documented(tool, value.at) if tool else None
    if place is None or place.optional:
        return False
    return not any(key in place.schema for key in ("default", "enum", "const")) and any(task.user_texts())


def _known(task: AgentTask, value: GoldValue) -> bool:
    texts = [text for _, text in task.user_texts()]
    said = "\n".join(texts)
    if any(map(_RELATIVE.search, texts)):
        return True
    shared, written = _shared(task.environment)
    fields = {name: shared.get(name, frozenset()) | own for name, own in _numbers(task.initial_state).items()}
    fields = {**shared, **fields}
    if len(frozenset[float]().union(*fields.values())) > _MOST:
        return True
    spoken = frozenset(numbers_said(said))
    return any(
        number in written or derives(number, said) or _follows(float(number), fields, spoken)
        for _, number in value.accepted
    )


def _follows(number: float, fields: Fields, said: frozenset[float]) -> bool:
    """Tell whether a number is stored or said, or follows in one step from two numbers that are."""
    every = said.union(*fields.values())
    if any(a and (number / a in every or number * a in every) for a in every):
        return True
    for goal in (number, number * 100, number / 100):
        if goal in every:
            return True
        if any(goal - a in like or goal + a in like for own in fields.values() for like in (own | said,) for a in like):
            return True
    return False


def _numbers(state: Any) -> Fields:
    """Collect the numbers of a state by the name of their field; digits within an identifier do not count."""
    found: dict[str, set[float]] = defaultdict(set)
    for at, text in texts_in(state):
        if _NUMBER.fullmatch(text):
            found[next((part for part in reversed(split(at)) if not part.isdigit()), "")].add(float(text))
    return {name: frozenset(numbers) for name, numbers in found.items()}


def _read(environment: EnvironmentSpec) -> tuple[Fields, frozenset[float]]:
    """Collect the numbers in the state, and those in the policy and the documentation."""
    documents = [environment.policy]
    for tool in (*environment.tools, *environment.user_tools):
        documents += [tool.description, *(text for text in scalars_in(tool.parameters))]
    return _numbers(environment.state), frozenset(number for text in documents for number in numbers_said(text))


_shared = IdentityCache(_read)
