"""Check: gold arguments that nothing in the task determines."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.closed_texts import is_closed
from agenthard.audit.detectors.support.dates import calendar_words, counted_from_today, parse_date, years_in
from agenthard.audit.detectors.support.gold_values import GoldValue, documented, gold_values
from agenthard.audit.detectors.support.knowledge import Knowledge, knowledge_of, scalars_in, texts_in
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.text import names_quantity
from agenthard.audit.detectors.support.unsaid import unsaid_in
from agenthard.audit.detectors.support.unstated_values import may_be_unstated, unstated
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.\w+")
_IDENTIFIER = re.compile(r"#?[A-Za-z_-]*\d[\w-]{4,}")
_BIRTH = re.compile(r"birth|(?<![a-z])(?:born|dob)(?![a-z])", re.IGNORECASE)
_SECRETS = frozenset({"password", "passcode", "pin"})


@dataclass(frozen=True)
class _Place:
    """One value that the gold demands, with all that may determine it."""

    task: AgentTask
    knowledge: Knowledge
    pointer: str
    call: ToolCall
    value: GoldValue

    def given(self, note: str = "the gold call") -> Evidence:
        """Quote the gold value (the first accepted one)."""
        return quote(self.task, f"{self.pointer}/arguments{self.value.accepted[0][0]}", note=note)

    def texts(self) -> list[str]:
        """Accepted texts; empty when another kind of value is accepted as well."""
        strings = self.value.strings()
        return [text for _, text in strings] if len(strings) == len(self.value.accepted) else []


@dataclass(frozen=True)
class _Gap:
    """Why a value cannot be known."""

    reason: str
    evidence: tuple[Evidence, ...]
    fix: str
    cause: str | None = None
    """Set where several values, or several tasks, suffer from the same."""
    category: str | None = None
    """Set where the value follows from something outside the benchmark."""


class UngroundedArgument(TaskDetector):
    """A value that the gold demands must appear somewhere: in the words of the user, in a policy, in the state.

    Only kinds of values that no agent can work out are looked at, and only where leaving them out is not accepted:

    * the **year** of a date, where the user names a day ("March 14th", "this Friday") and no text, state or description
      of the called tool names any year. Flagged: "How's the weather in LA on March 9th?" with ``2023-03-09``. Not
      flagged: a date that a record of the state has; a day of birth next to "now" or "today". Where only days counted
      from today are said, the value changes with the day of the run: environment drift.
    * an **e-mail address** that appears nowhere. Flagged: ``landlord@email.com`` for "my landlord's email".
    * a **password** that is neither said nor in the state: tools take passwords, they do not hand them out.
    * an **identifier** with at least five digits, in tasks whose database is part of the files, that is neither in it
      nor said. Not looked at after an earlier gold call that may create new ids.
    * a **number** for a parameter with a documented default, in a single request that names no quantity at all (no
      digit, numeral, or word such as "week" or "full"), when the number is not the default and is not documented.
      Flagged: volume 50 for "play the song", default 70.
    * any other **number between 1 and 100** in the first calls, when it is neither said, nor follows from two numbers
      that are, nor documented, nor a value of the state. Not looked at where a word leads to numbers (units, spans,
      shares, games, ages). Flagged: ``house_number=48`` for "Deliver 2 pies to Pine Street".
    * a **text of at most four words** without digits, in the first calls of a task without a state, of which no word
      begins or is spelled like one of the conversation or the documentation. Codes in capitals are not looked at.
    * any value of a **request with nothing to look up** (one turn of calls, no state): a number neither said nor
      follows by a change of unit, or by calculating where the request has a word for it; a code, an address, a file
      name; a date or a time where no such day is named; a text unlike what is said. An example in the documentation is
      no source. Flagged: ``growth_rate=0.015`` for "the current growth rate". Not looked at: countries, languages.

    Left out, because it can be derived, translated or known: enums, file names (benchmarks add files at run time), ids
    in tasks without a database in the files, long texts, numbers 0 and 1, and all values that earlier calls may return.

    The check is wrong when the value follows from something that is not in the files, such as the day of the run.
    """

    id = "ungrounded-argument"
    title = "Gold values that nothing in the task determines"
    version = "5"
    category = "redundant-tool-call"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    about_sources = True
    why = "An agent can only guess the value, so a right run fails unless it guesses what the author had in mind."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls, or with values of no kind that is looked at, cannot be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        values = (
            (pointer, call, value) for pointer, call in task.gold_calls() for value in gold_values(call.arguments)
        )
        return None if any(_is_looked_at(task, *each) for each in values) else _NOT_LOOKED_AT

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value that cannot be known."""
        knowledge = knowledge_of(task)
        for pointer, call in task.gold_calls():
            for value in gold_values(call.arguments):
                place = _Place(task, knowledge, pointer, call, value)
                gap = None if value.omissible else next((gap for rule in _RULES if (gap := rule(place))), None)
                if gap is not None:
                    yield Hit(
                        claim=f"The gold call of {call.name!r} demands {value.name!r} = {value.accepted[0][1]!r}, "
                        f"but {gap.reason}.",
                        evidence=gap.evidence,
                        fix=gap.fix,
                        category=gap.category,
                        cause=gap.cause or shared_cause(task, call.name, value.member, value.accepted[0][1]),
                    )


def _year(place: _Place) -> _Gap | None:
    dates = [parse_date(text) for text in place.texts()]
    years = {date.year for date in dates if date}
    if not dates or None in dates or len(years) != 1:
        return None
    said = list(place.task.user_texts())
    tool = place.task.tool(place.call.name, place.call.requestor)
    elsewhere = [place.task.environment.policy, *(text for text in scalars_in(place.task.initial_state))]
    documented = [tool.description, *(text for text in scalars_in(tool.parameters))] if tool else []
    if any(years_in(text) for text in [text for _, text in said] + elsewhere):
        return None
    if any(years & years_in(text) for text in documented) or any(map(place.knowledge.in_state, place.texts())):
        return None
    of_birth = _BIRTH.search(" ".join([place.value.name, *_documented(place, tool)])) is not None
    days = [(pointer, day) for pointer, text in said for day in calendar_words(text)]
    days = [(pointer, day) for pointer, day in days if not (of_birth and counted_from_today(day))]
    if not days:
        return None
    pointer, day = days[0]
    evidence = (place.given(), quote(place.task, pointer, text=day, note="the day, without a year"))
    cause = f"{place.task.cluster or place.task.id} | no year for {day}"
    reason = f"the user only says {day!r} and no text of the task names a year"
    category = "environment-drift" if all(counted_from_today(word) for _, word in days) else None
    return _Gap(reason, evidence, "Say the year, or tell the agent today's date.", cause, category)


def _documented(place: _Place, tool: ToolSpec | None) -> Iterator[str]:
    """Yield what the documentation says of the argument that holds the value."""
    properties = tool.parameters.get("properties", {}) if tool else {}
    schema = properties.get(split(place.value.at)[0]) if isinstance(properties, dict) else None
    yield from (text for text in scalars_in(schema))


def _email(place: _Place) -> _Gap | None:
    texts = place.texts()
    if not texts or not all(_EMAIL.fullmatch(text) for text in texts):
        return None
    if any(place.knowledge.holds(text) for text in texts):
        return None
    return _Gap("this address appears nowhere in the task", _with_request(place), "Name the address in the request.")


def _password(place: _Place) -> _Gap | None:
    texts = place.texts()
    if place.value.member.lower() not in _SECRETS or not texts:
        return None
    if any(place.knowledge.said(text) or place.knowledge.in_state(text) for text in texts):
        return None
    evidence = [place.given()]
    for at, _ in texts_in(place.task.initial_state, "/initial_state"):
        if split(at)[-1].lower() == place.value.member.lower():
            evidence.append(quote(place.task, at, note="what the state holds instead"))
    return _Gap("neither the user says it nor the state holds it", tuple(evidence), "Use the value of the state.")


def _identifier(place: _Place) -> _Gap | None:
    texts = place.texts()
    if place.task.environment.state is None or not texts or not all(_IDENTIFIER.fullmatch(text) for text in texts):
        return None
    if any(sum(ch.isdigit() for ch in text) < 5 or parse_date(text) for text in texts):
        return None
    if any(place.knowledge.said(text) or place.knowledge.in_state(text) for text in texts) or _may_be_new(place):
        return None
    name = place.task.environment.state_name or "the state"
    reason, fix = f"it is neither said nor in {name}", "Use an id that exists."
    evidence = (place.given(), *_example_in_documentation(place, texts[0]))
    return _Gap(reason, evidence, fix, f"unknown id {texts[0]} in {name}")


def _example_in_documentation(place: _Place, text: str) -> Iterator[Evidence]:
    for i, tool in enumerate(place.task.environment.tools):
        if tool.name == place.call.name:
            for at, documented in texts_in(tool.parameters, f"/environment/tools/{i}/parameters"):
                if text in documented and at.endswith("/description"):
                    yield quote(place.task, at, note="the tool's documentation has it as an example")


def _may_be_new(place: _Place) -> bool:
    for pointer, call in place.task.gold_calls():
        if pointer == place.pointer:
            return False
        tool = place.task.tool(call.name, call.requestor)
        if tool is None or tool.effect != "read":
            return True
    return False


def _number(place: _Place) -> _Gap | None:
    numbers = [value for _, value in place.value.accepted]
    if not all(isinstance(number, (int, float)) and not isinstance(number, bool) for number in numbers):
        return None
    task, parameter = place.task, split(place.value.at)[0]
    tool = task.tool(place.call.name, place.call.requestor)
    schema = tool.parameters.get("properties", {}).get(parameter) if tool else None
    if not isinstance(schema, dict) or "default" not in schema or schema["default"] in numbers:
        return None
    if task.initial_state is not None or task.environment.state is not None or len(task.ground_truth.turns) != 1:
        return None
    if any(names_quantity(text) for _, text in task.user_texts()):
        return None
    if any(place.knowledge.documented(str(number)) for number in numbers):
        return None
    index = next(i for i, other in enumerate(task.environment.tools) if other is tool)
    rule = join(f"/environment/tools/{index}/parameters/properties", parameter, "default")
    evidence = (*_with_request(place), quote(task, rule, note="the documented default"))
    return _Gap("the request names no quantity and the default is another", evidence, "Accept the default.")


def _with_request(place: _Place) -> tuple[Evidence, ...]:
    *_, (pointer, _text) = place.task.user_texts()
    return place.given(), quote(place.task, pointer, note="the request")


def _unsaid(place: _Place) -> _Gap | None:
    unsaid = unsaid_in(place.task)
    if not unsaid.looks_at(place.pointer, place.call, place.value) or not unsaid.missing(place.value):
        return None
    reason = "it occurs nowhere in the task, and nothing that is said leads to it"
    return _Gap(reason, _with_request(place), "Say the value in the request, or accept any.")


def _closed(place: _Place) -> _Gap | None:
    if not is_closed(place.task):
        return None
    reason = unstated(place.task, place.call, place.value)
    return _Gap(reason, _with_request(place), "Say the value in the request, or accept any.") if reason else None


_RULES: tuple[Callable[[_Place], _Gap | None], ...] = (_year, _email, _password, _identifier, _number, _unsaid, _closed)
_NOT_LOOKED_AT = (
    "its gold values are of kinds that are not looked at: choices, defaults, truth values, 0 and 1, results"
)


def _is_looked_at(task: AgentTask, pointer: str, call: ToolCall, value: GoldValue) -> bool:
    """Tell whether a rule says anything about a value; the others are not checked."""
    if value.omissible:
        return False
    texts = [text for _, text in value.strings()]
    by_form = any(parse_date(text) or _EMAIL.fullmatch(text) for text in texts) or value.member.lower() in _SECRETS
    has_state = task.initial_state is not None or task.environment.state is not None
    by_state = has_state and any(_IDENTIFIER.fullmatch(text) for text in texts)
    tool = task.tool(call.name, call.requestor)
    place = documented(tool, value.at) if tool and not has_state else None
    by_default = place is not None and "default" in place.schema and not texts
    by_request = is_closed(task) and may_be_unstated(task, call, value)
    return by_form or by_state or by_default or by_request or unsaid_in(task).looks_at(pointer, call, value)
