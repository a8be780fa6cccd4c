"""Gold calls that are written out in a text that the agent reads."""

import json
import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import argument_values, choices
from agenthard.audit.detectors.support.sharing import IdentityCache
from agenthard.audit.detectors.support.task_texts import sentence_around
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import quote
from agenthard.taxonomy.accepted import concrete_values, is_optional
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, ToolCall

_SHORTEST_REQUEST = 20
_ARGUMENTS = re.compile(
    r"\b(?:action|tool|function)[ _-]?(?:input|arguments?|parameters?)\b"
    r"|\b(?:arguments|args|parameters|params|kwargs|input)\b",
    re.IGNORECASE,
)
"""The label between a name and its arguments: ``"arguments": {``, ``Action Input:``."""


class GoldInText(TaskDetector):
    """A text that the agent gets holds a complete scored call, with its name and all its arguments.

    Rule: in one message of the scripted conversation, in the policy or in the description of the called tool, the name
    of the gold call is followed by all its arguments, or all that may not be left out, with their gold values in the
    same order; case, spaces, punctuation and a label before the arguments ("Action Input:") do not matter. Only calls
    with arguments count. Values that the call merely shares with the user's words do not: the name and the parameters
    have to be there too. Policy and descriptions show calls as documentation, and many tasks share them: there a call
    counts only when it is the agent's and one of its values belongs to a task, such as an id, a name or an amount
    (truth values, short numbers, and documented choices and defaults do not), or when the policy quotes the request of
    this task. What only the simulator of a user reads is not looked at.

    Flagged: a turn "lend_book(book_id=7, member='Ada')" with this very call as the gold; a history in which the agent
    has already made this call, and whose user then wants something changed, with the unchanged call as the gold; a
    policy whose worked example is the gold call of the task.
    Not flagged: "Lend book 7 to Ada"; an earlier call in the history that differs from the gold in one value; a policy
    that says "call set_mode(mode='fast')", where fast is one of the documented modes.

    Wrong where reading the call off the text is the task, as in "run this line for me".
    """

    id = "gold-in-text"
    title = "the gold call is written out in what the agent reads"
    version = "3"
    category = "answer-leakage"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "Copying the text scores, so the task does not measure choosing and filling a call."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if any(call.arguments for _, call in task.gold_calls()) else "no gold call with arguments"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the gold calls that the agent can copy."""
        said = [item for item in task.user_texts() if item[0].startswith("/user/turns")]
        seen: set[str] = set()
        for pointer, call in task.gold_calls():
            if call.name in seen:
                continue
            places = (
                _found(form, call.name, texts) for form in _written(call) for texts in (said, _shared(task, call, form))
            )
            place = next(filter(None, places), None)
            if place is not None:
                seen.add(call.name)
                at, text, start = place
                yield Hit(
                    claim=f"The gold call of {call.name} appears with all its arguments in what the agent reads",
                    evidence=(
                        quote(task, at, text=sentence_around(text, start, start + len(call.name)), note="read"),
                        quote(task, pointer, note="the gold call"),
                    ),
                    fix="Say what is wanted instead of the call.",
                )


def _written(call: ToolCall) -> list[str]:
    """Write the call out, reduced to letters and digits: with all arguments, and without those that may be left out."""
    required = {key: value for key, value in call.arguments.items() if not is_optional(value)}
    chosen = [each for given in (call.arguments, required) for each in concrete_values(given, limit=1) if each]
    forms = (
        call.name + "".join(f"{key}{json.dumps(value, ensure_ascii=False)}" for key, value in arguments.items())
        for arguments in chosen
    )
    return list(dict.fromkeys(squash(form) for form in forms))


def _bare(text: str) -> str:
    """Reduce a text to letters and digits, without labels of arguments."""
    return squash(_ARGUMENTS.sub("", text))


_squashed_policy = IdentityCache[EnvironmentSpec, str](lambda environment: squash(environment.policy))
_bare_policy = IdentityCache[EnvironmentSpec, str](lambda environment: _bare(environment.policy))


def _shared(task: AgentTask, call: ToolCall, written: str) -> Iterator[tuple[str, str]]:
    """Yield the policy and the description of the tool, where they may hold a call that belongs to this task."""
    environment = task.environment
    shown = written in _squashed_policy(environment) or written in _bare_policy(environment)
    if shown and (_belongs_to_a_task(task, call) or _quotes_request(task)):
        yield "/environment/policy", environment.policy
    for i, tool in enumerate(environment.tools):
        if tool.name == call.name and tool.description.count(call.name) and _belongs_to_a_task(task, call):
            yield f"/environment/tools/{i}/description", tool.description


def _belongs_to_a_task(task: AgentTask, call: ToolCall) -> bool:
    documented = choices(task.tool(call.name))
    values = (value for _, value in argument_values("", call))
    return call.requestor == "assistant" and any(value.casefold() not in documented for value in values)


def _quotes_request(task: AgentTask) -> bool:
    requests = (squash(text) for at, text in task.user_texts() if at.startswith("/user/turns"))
    return any(len(text) >= _SHORTEST_REQUEST and text in _squashed_policy(task.environment) for text in requests)


def _found(written: str, name: str, texts: Iterable[tuple[str, str]]) -> tuple[str, str, int] | None:
    """Return pointer, text and start of the first text that holds the call."""
    for at, text in texts:
        start = text.find(name)
        for reduce in (squash, _bare) if start >= 0 else ():
            if written not in reduce(text[start:]):
                continue
            while (later := text.find(name, start + 1)) >= 0 and written in reduce(text[later:]):
                start = later
            return at, text, start
    return None
