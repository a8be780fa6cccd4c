"""Pages and sites on which the outcome of a task hangs, and which none of its tools opens."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from agenthard.audit.detectors.support.identity_cache import IdentityCache
from agenthard.audit.detectors.support.named_sites import DECISION, DECISION_NEXT, site_that_decides
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")
_URL = re.compile(
    r"(?:https?://[\w-]+(?:\.[\w-]+)+|(?<![@\w./-])www\.[\w-]+(?:\.[\w-]+)+"
    r"|(?<![@\w./-])(?:[a-z0-9-]+\.)+(?:com|org|net|io|gov|edu|info|app|dev|news|example|int"
    r"|(?!(?:py|js|ts|md|rs|sh|cs|hs|vb|kt|so|cc|db|gz|go|pl)/)[a-z]{2})(?=/\w))[^\s`'\")>\],;]*(?<=[\w/])",
    re.IGNORECASE,
)
_DECIDES = re.compile(
    r"\b(?:only|if|unless|whether|whatever|whichever|depending|depends?|according to|as per|based on|decides?|decisive"
    r"|as long as|provided|otherwise|except|until|source of truth|authoritative|binding"
    r"|final say|prevails?|skip|drop)\b",
    re.IGNORECASE,
)
_LOOKS = re.compile(
    r"\b(?:check|see|look (?:at|up|on)|visit|open|go to|read|consult|find out|take|use|pick)\b", re.IGNORECASE
)
_AT_THE_MOMENT = re.compile(
    r"\b(?:(?:right )?now|at (?:the|this) moment|at present|today(?:['’]s)?|latest|newest|current(?:ly)?|live"
    r"|shows?|says?|lists?|reports?|as of (?:now|today))\b",
    re.IGNORECASE,
)
_OPENS_PAGES = re.compile(r"url|uri|link|web|http|site|page|browse|internet|online|endpoint", re.IGNORECASE)


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
        sentences = [match[0].strip() for match in _SENTENCE.finditer(text)]
        for sentence, after in zip(sentences, [*sentences[1:], ""], strict=False):
            url = _URL.search(sentence)
            depends = _DECIDES.search(sentence)
            open_now = _AT_THE_MOMENT.search(sentence) or DECISION.search(sentence) or DECISION_NEXT.match(after)
            if url and (depends or (_LOOKS.search(sentence) and open_now)) and not _at_hand(task, url[0]):
                yield Passage(pointer, sentence, f"hangs on what {url[0][:80]} says, which no tool opens")
        for sentence, site in site_that_decides(task, text):
            if not _URL.search(sentence):
                yield Passage(pointer, sentence, f"hangs on what is found elsewhere ({site!r}), which no tool opens")


def _of_user(task: AgentTask, pointer: str) -> bool:
    parts = split(pointer)
    return parts[1] != "turns" or task.user.turns[int(parts[2])][int(parts[3])].role == "user"


def _at_hand(task: AgentTask, url: str) -> bool:
    carried = canonical_json([[call.arguments for _, call in task.gold_calls()], task.initial_state])
    return url in carried or url in shared_state(task.environment)


def _state_as_text(environment: EnvironmentSpec) -> str:
    return "" if environment.state is None else canonical_json(environment.state)


shared_state = IdentityCache(_state_as_text)
"""The state that tasks share, as JSON; empty when there is none."""
