"""Check: gold values that the author made up: large numbers, secrets and unfilled blanks."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import GoldValue, documented, gold_values, name_words
from agenthard.audit.detectors.support.knowledge import Knowledge, knowledge_of
from agenthard.audit.detectors.support.numbers import derives
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

_SMALLEST = 100
"""Smaller numbers are often common knowledge: a deck has 52 cards, grown-ups are 18."""
_KNOWN = frozenset(
    "year years date time hour hours month day week latitude longitude lat lon lng long coord coords coordinate "
    "coordinates location position point points altitude elevation timestamp population distance".split()
)
_SECRET = re.compile(r"password|passcode|securityanswer|secretkey|apikey", re.IGNORECASE)
_BLANK = re.compile(r"(?:YOUR|MY|INSERT|ENTER)_[A-Z_]+|<[A-Za-z_ ]{2,40}>|\[(?:INSERT|YOUR)[A-Za-z_ ]*\]")


@dataclass(frozen=True)
class _Given:
    task: AgentTask
    knowledge: Knowledge
    said: str
    call: ToolCall
    tool: ToolSpec
    value: GoldValue


class InventedValue(TaskDetector):
    """A gold value that cannot be known or worked out appears nowhere in the task.

    Looked at is the first call of a task without a database, where all that an agent knows is the conversation and the
    documentation, and values that a run may not leave out:

    * a **number** of 100 or more that is not said, not documented, not the default, and neither a sum, difference,
      product nor quotient of two numbers that are said (units, numerals and spans such as "an hour" included). Names
      that hint at common knowledge or the calendar (year, latitude, distance) are skipped;
    * a **secret** by the parameter's name (``newPassword``, ``securityAnswer``, ``api_key``) that no text says;
    * an **unfilled blank** such as ``YOUR_API_KEY`` that the documentation does not give.

    Flagged: ``receptionDelay=1200`` for "My messages arrive late". Not flagged: 3600 for "the past hour"; 303 where the
    documentation says "303 for infinite loops"; a city's longitude.

    Wrong where a large number is common knowledge, as the number of days of a leap year.
    """

    id = "invented-value"
    title = "Gold values that the author made up"
    version = "2"
    category = "redundant-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    about_sources = True
    why = "No agent can find the value, so every run that does what the user asks differs from the gold."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only calls to a request without a database can be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        if task.ground_truth.call_matching in ("state", "none"):
            return "calls count only through what they lead to"
        if task.initial_state is not None or task.environment.state is not None:
            return "the state may hold the values"
        values = (value for _, call in task.gold_calls() for value in gold_values(call.arguments))
        if not any(_is_looked_at(value) for value in values):
            return "no gold value is a number of 100 or more, a secret or a blank: others are not looked at"
        return None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value that is made up."""
        knowledge = knowledge_of(task)
        texts = list(task.user_texts())
        said = "\n".join(text for _, text in texts)
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            if tool is None or tool.language not in ("json", "python"):
                continue
            for value in gold_values(call.arguments):
                given = _Given(task, knowledge, said, call, tool, value)
                reason = None if value.omissible else next((why for rule in _RULES if (why := rule(given))), None)
                if reason is not None:
                    at, shown = value.accepted[0]
                    yield Hit(
                        claim=f"The gold call of {call.name!r} demands {value.name!r} = {shown!r}, but {reason}.",
                        evidence=(
                            quote(task, f"{pointer}/arguments{at}", note="the gold call"),
                            quote(task, texts[-1][0], note="the last words of the conversation"),
                        ),
                        fix="Say the value in the request, or accept any.",
                        cause=shared_cause(task, call.name, value.member, shown),
                    )


def _is_looked_at(value: GoldValue) -> bool:
    if value.omissible:
        return False
    large = all(
        isinstance(number, (int, float)) and not isinstance(number, bool) and abs(number) >= _SMALLEST
        for _, number in value.accepted
    )
    texts = [text for _, text in value.strings()]
    secret = bool(texts) and _SECRET.search("".join(name_words(value.member))) is not None
    return large or secret or any(_BLANK.fullmatch(text) for text in texts)


def _number(given: _Given) -> str | None:
    numbers = [number for _, number in given.value.accepted]
    if not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers):
        return None
    if any(abs(number) < _SMALLEST for number in numbers) or _KNOWN & set(name_words(given.value.name)):
        return None
    place = documented(given.tool, given.value.at)
    if place is None or "default" in place.schema:
        return None
    if any(given.knowledge.documented(f"{number:g}") or derives(number, given.said) for number in numbers):
        return None
    return "no number in the conversation or the documentation leads to it"


def _secret(given: _Given) -> str | None:
    texts = [text for _, text in given.value.strings()]
    if not texts or not _SECRET.search("".join(name_words(given.value.member))):
        return None
    return None if any(given.knowledge.holds(text) for text in texts) else "no text says this secret"


def _blank(given: _Given) -> str | None:
    texts = [text for _, text in given.value.strings()]
    if not texts or not all(_BLANK.fullmatch(text) for text in texts):
        return None
    return None if any(given.knowledge.holds(text) for text in texts) else "this is a blank that was never filled in"


_RULES: tuple[Callable[[_Given], str | None], ...] = (_number, _blank, _secret)
