"""What a task with tools of its own takes from outside: pages that none of its tools opens, and the clock of a host."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from audit.detectors.environment.named_sites import site_that_decides
from audit.detectors.ground_truth.gold_values import gold_values
from audit.detectors.ground_truth.identity_cache import IdentityCache
from audit.evidence import canonical_json
from taxonomy.pointer import split
from taxonomy.task import AgentTask, EnvironmentSpec

_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")
_URL = re.compile(r"https?://[\w-]+(?:\.[\w-]+)+[^\s`'\")>,;]*[\w/]")
_DECIDES = re.compile(
    r"\b(?:only|if|unless|whether|whatever|whichever|depending|depends?|according to|based on|decides?|as long as)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"\b(?:check|see|look (?:at|up|on)|visit|open|go to|read|consult|find out|take|use|pick)\b", re.IGNORECASE
)
_AT_THE_MOMENT = re.compile(
    r"\b(?:(?:right )?now|at (?:the|this) moment|at present|today(?:['’]s)?|latest|newest|current(?:ly)?|live"
    r"|shows?|says?|lists?|as of (?:now|today))\b",
    re.IGNORECASE,
)
_OPENS_PAGES = re.compile(r"url|uri|link|web|http|site|page|browse|internet|online|endpoint", re.IGNORECASE)
_UNFILLED = re.compile(
    r"\{\{[^{}\n]{0,30}\b(?:now|today|utcnow|date|time|datetime|current_?(?:date|time))\b[^{}\n]{0,30}\}\}"
    r"|\$\{?(?:now|today|date|time|current_?(?:date|time|day))\}?(?!\w)"
    r"|[{<\[](?:now|today|current[_ ]?(?:date|time|day|datetime)|today['’]?s?[_ ]date)[}>\]]|%\(?(?:date|now|today)\)s"
    r"|\$\(date\b[^)\n]{0,30}\)",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"\b(?:system|host|machine|server|computer|device|wall)(?:['’]s)? (?:clock|date)\b"
    r"|\b(?:today|now|(?:current|present|local) (?:time|date|day))\b[^.\n]{0,40}\b(?:of|from|by|on) (?:the|your|its) "
    r"(?:computer|machine|host|system|server|device|operating system|clock)\b",
    re.IGNORECASE,
)
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}(?!\d)")


class Passage(NamedTuple):
    """A part of a text that leads outside."""

    pointer: str
    """JSON Pointer of the text."""
    text: str
    """The part."""
    what: str
    """What it takes from outside, with the task as subject."""


def _can_open_pages(environment: EnvironmentSpec) -> bool:
    """Tell whether a tool, by its name or a parameter, takes an address or goes to the web."""
    return any(
        _OPENS_PAGES.search(f"{tool.name} {' '.join(tool.parameters.get('properties', {}))}")
        for tool in environment.tools
    )


_opens_pages = IdentityCache(_can_open_pages)


def live_pages(task: AgentTask) -> Iterator[Passage]:
    """Yield sentences of the user that make the outcome hang on a page or a site that no tool of the task opens.

    The sentence names an address, says that it decides or is to be looked at, and in the latter case is about what it
    says at the moment; the address is not what a gold call carries, and neither state has it. Or the sentence leaves a
    decision to a site without an address.
    """
    if _opens_pages(task.environment) or not (any(task.gold_calls()) or task.ground_truth.outputs):
        return
    for pointer, text in task.user_texts():
        if not _of_user(task, pointer):
            continue
        for match in _SENTENCE.finditer(text):
            sentence = match[0].strip()
            url = _URL.search(sentence)
            decides, now = _DECIDES.search(sentence), _AT_THE_MOMENT.search(sentence)
            looked_at = decides or _LOOKS.search(sentence)
            if url and looked_at and (now or decides) and not _at_hand(task, url[0]):
                yield Passage(pointer, sentence, f"hangs on what {url[0][:80]} says, which no tool opens")
        for sentence, site in site_that_decides(task, text):
            if not _URL.search(sentence):
                yield Passage(pointer, sentence, f"hangs on what is found elsewhere ({site!r}), which no tool opens")


def _of_user(task: AgentTask, pointer: str) -> bool:
    parts = split(pointer)
    return parts[1] != "turns" or task.user.turns[int(parts[2])][int(parts[3])].role == "user"


def _at_hand(task: AgentTask, url: str) -> bool:
    carried = canonical_json([[call.arguments for _, call in task.gold_calls()], task.initial_state])
    return url in carried or url in _shared_state(task.environment)


def _state_as_text(environment: EnvironmentSpec) -> str:
    return "" if environment.state is None else canonical_json(environment.state)


_shared_state = IdentityCache(_state_as_text)


def clocks(task: AgentTask) -> Iterator[Passage]:
    """Yield what makes a prompt take the day from the clock, in a task whose ground truth has a fixed day.

    That is a blank for the day which nobody filled in, or words that refer to the clock of the computer. A prompt that
    states a day as well has its present.
    """
    if not _fixed_day(task):
        return
    for pointer, text in _prompts(task):
        if _DAY.search(text):
            continue
        for pattern, what in ((_UNFILLED, "leaves today's date blank"), (_CLOCK, "takes the day from a clock")):
            if match := pattern.search(text):
                yield Passage(pointer, match[0], what)
                break


def _prompts(task: AgentTask) -> Iterator[tuple[str, str]]:
    if task.environment.policy:
        yield "/environment/policy", task.environment.policy
    for i, turn in enumerate(task.user.turns):
        for j, message in enumerate(turn):
            if message.role == "system":
                yield f"/user/turns/{i}/{j}/content", message.content


def _fixed_day(task: AgentTask) -> bool:
    if any(_DAY.search(text) for text in task.ground_truth.outputs):
        return True
    values = (value for _, call in task.gold_calls() for value in gold_values(call.arguments) if not value.omissible)
    return any(_DAY.search(text) for value in values for _, text in value.strings())
