"""Check: a gold call takes another record than the one just created, or than that of a named person."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values, name_words
from agenthard.audit.detectors.support.reach import is_read, parsed_response, scalars
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import Spoken, spoken_in
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

_NAME = re.compile(r"(?<![\w'’#@./-])[A-Z][a-z]{2,15}(?![\w'’/-]|\.\w)")
_OWN = re.compile(r"\b(?:I am|I'm|my name is|as|this is)\s+$", re.IGNORECASE)
_MOST_NAMES = 8
_LOOKS_UP = frozenset("user name person username contact customer member friend".split())


class UnnamedRecord(TaskDetector):
    """A gold call takes the record that the user means.

    Looked at are arguments whose name ends in "id", in a ground truth that is replayed, with a value that no text says
    and no earlier call returned or took. It is flagged when

    * an earlier call of the ground truth **created** a record of that kind: its response has an id, and its name or the
      field a word of the argument's name (`post_tweet` and `tweet_id`); or
    * the user names a **person** in the turn, a tool that looks up a person gives them another id of the same form, and
      gives the gold's id to no one whom the texts name.

    Flagged: "post it, then retweet it", where the post has the id 5 and the gold calls ``retweet(tweet_id=4)``.
    Not flagged: an id that a response has in any field; a person whom the user introduces as themselves.

    When it is wrong: the user means an older record, and says so in words that only a look-up tells apart.
    """

    id = "unnamed-record"
    title = "A gold call takes another record than the one the user means"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    about_values = True
    experimental = True
    why = "A run that takes the record which the user means leaves another state than the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed, or None."""
        if task.initial_state is None:
            return "tasks share one state"
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per record."""
        spoken, steps = spoken_in(task), gold_replay(task).steps
        for number, step in enumerate(steps):
            for value in gold_values(task.ground_truth.turns[step.turn][step.index].arguments):
                if not _is_id(value) or _is_known(value, spoken, step.turn, steps[:number]):
                    continue
                made = _created(value, steps[:number])
                if made is not None:
                    yield _hit(task, step, value, made)
                    continue
                person = _named(task, spoken, step, value, steps[:number])
                if person is not None:
                    yield _hit(task, step, value, person)


class _Meant(NamedTuple):
    """The record that is meant."""

    how: str
    at: str
    text: str


def _hit(task: AgentTask, step: Step, value: GoldValue, meant: _Meant) -> Hit:
    at, shown = value.accepted[0]
    words = {"text": meant.text} if meant.text else {}
    return Hit(
        claim=f"The gold call of {step.call.name!r} gives {value.name!r} as {shown!r}, which nothing in the task has; "
        f"{meant.how}.",
        evidence=(
            quote(task, f"{step.pointer}/arguments{at}", note="the gold call"),
            quote(task, meant.at, note="what is meant", **words),
        ),
        fix="Take the record that the user means.",
        cause=shared_cause(task, step.call.name, value.member, str(shown)),
    )


def _is_id(value: GoldValue) -> bool:
    item = value.accepted[0][1]
    plain = isinstance(item, (str, int)) and not isinstance(item, bool)
    return plain and not value.omissible and len(value.accepted) == 1 and name_words(value.member)[-1:] == ["id"]


def _is_known(value: GoldValue, spoken: Spoken, turn: int, before: Sequence[Step]) -> bool:
    item = str(value.accepted[0][1])
    seen = [*spoken.texts(turn), *(step.observation.text for step in before)]
    seen += [json.dumps(step.call.arguments, ensure_ascii=False) for step in before]
    pattern = re.compile(rf"(?<![\w.]){re.escape(item)}(?![\w]|\.\d)", re.IGNORECASE)
    return not item or any(pattern.search(text) for text in seen)


def _created(value: GoldValue, before: Sequence[Step]) -> _Meant | None:
    """Return the last record of the argument's kind that a call created."""
    noun = set(name_words(value.member)) - {"id"}
    for step in reversed(before):
        response = parsed_response(step.observation.text) if step.changed else None
        for field, item in response.items() if isinstance(response, dict) else ():
            kind = {*name_words(field), *name_words(step.call.name)} - {"id"}
            if name_words(field)[-1:] == ["id"] and noun & kind and type(item) is type(value.accepted[0][1]):
                how = f"{step.call.name!r} has just created the record {item!r}"
                return _Meant(how, step.pointer, "")
    return None


def _named(task: AgentTask, spoken: Spoken, step: Step, value: GoldValue, before: Sequence[Step]) -> _Meant | None:
    """Return the one person whom the user names for the turn, if a look-up gives them another id of the same form."""
    tools = [tool for tool in task.environment.tools if _looks_up(tool)]
    scope = spoken.scope(step.turn)
    names = {name: at for at, text in scope for name in _people(text)}
    if "login" in name_words(step.call.name) or not tools or not names or len(names) > _MOST_NAMES:
        return None
    item = str(value.accepted[0][1])
    every = dict.fromkeys(name for text in spoken.texts(step.turn) for name in _people(text))
    ids = _looked_up(task, tools, [*every][:_MOST_NAMES], before)
    if any(item in found for found in ids.values()):
        return None
    meant = {name: [each for each in ids.get(name, ()) if _form(each) == _form(item)] for name in names}
    people = [(name, found[0]) for name, found in meant.items() if len(found) == 1]
    if len(people) != 1:
        return None
    (name, other), at = people[0], names[people[0][0]]
    return _Meant(f"the user names {name!r}, who is {other!r}", at, name)


def _people(text: str) -> list[str]:
    """List the names of a text, without the one by which the user introduces themselves."""
    return [m[0] for m in _NAME.finditer(text) if not _OWN.search(text[max(0, m.start() - 15) : m.start()])]


def _looks_up(tool: ToolSpec) -> bool:
    """Tell whether a tool finds a person by their name."""
    required = list(tool.parameters.get("required") or ())
    return is_read(tool) and len(required) == 1 and bool(_LOOKS_UP & set(name_words(str(required[0]))))


def _looked_up(
    task: AgentTask, tools: Sequence[ToolSpec], names: Sequence[str], before: Sequence[Step]
) -> dict[str, list[str]]:
    """Look up each name from the state after some calls, and return the scalars of the responses."""
    environment = environment_of(task)
    environment.reset(task)
    for step in before:
        environment.call(step.call)
    found: dict[str, list[str]] = {}
    for tool in tools:
        for name in names:
            parameter = str(tool.parameters["required"][0])
            response = environment.call(ToolCall(name=tool.name, arguments={parameter: name}))
            if response.error is None:
                found.setdefault(name, []).extend(_values(parsed_response(response.text), name))
    return found


def _values(response: Any, name: str) -> Iterator[str]:
    yield from (str(item) for key, item in scalars(response) if key and str(item) not in (name, key))


def _form(text: str) -> str:
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d", "9", text))
