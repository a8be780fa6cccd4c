"""Gold texts that come from nowhere, or that change what an earlier call returned."""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from rapidfuzz import fuzz

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.knowledge import Knowledge, knowledge_of, scalars_in
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.text import squash, words
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall

_FEWEST_WORDS = 5
"""Words of three letters or more; the wording of a shorter text may be the author's choice."""
_MOST_KNOWN = 0.5
"""Share of known words up to which a text comes from nowhere."""
_STEM = 5
"""Letters that two forms of a word have in common at least: *configure* and *configuration*."""
_NEAR = 92
"""Similarity, out of 100, of two texts of which one is a copy of the other. Measured without spaces and punctuation."""
_LONGEST = 5_000


class TextWithoutSource(TaskDetector):
    """A longer text in a gold call follows from the request or from what earlier calls returned.

    The ground truth is replayed, so what each call returned is known. Looked at are texts of five words or more that
    the score depends on:

    * at most half of the words of the text begin like a word of the conversation, of the documentation, of the state or
      of what an earlier gold call returned: an agent cannot come to write it. Flagged: a post with lines on "research
      topic selection", where the user wants the differences of two files posted and the replayed comparison returned
      lines on observations;
    * the text is nearly, but not exactly, what an earlier gold call returned, and no text has it so. Flagged: a note
      with "Total: 41.20", where the replayed call returned "Total: 41.50".

    Not flagged: other spaces, punctuation or capitals than in what was returned; a text that the user words; texts in
    another script than the conversation, which may be translations.

    It is wrong where the user leaves the wording to the agent and the evaluator does not compare it.
    """

    id = "text-without-source"
    title = "Gold texts that neither the request nor an earlier call has"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    deciding = "execution"
    about_values = True
    about_sources = True
    why = "A run that passes on what the tools returned differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why no text can be looked at, or why the ground truth cannot be replayed; None when it can."""
        if not any(_texts(call) for _, call in task.gold_calls()):
            return f"no gold call has a text of {_FEWEST_WORDS} words"
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per text."""
        knowledge, steps = knowledge_of(task), gold_replay(task).steps
        for number, step in enumerate(steps):
            if _is_unseen(task, step.call):
                continue
            returned = [text for before in steps[:number] for text in _returned(before)]
            for value, text in _texts(step.call):
                if not any(knowledge.holds(part) for part in (text, *text.splitlines())):
                    yield from self._judged(task, step, value, text, knowledge, returned)

    def _judged(
        self, task: AgentTask, step: Step, value: GoldValue, text: str, knowledge: Knowledge, returned: list[str]
    ) -> Iterator[Hit]:
        bare, whole = squash(text), squash(" ".join(returned))
        if bare in whole:
            return
        near = max(returned, key=lambda other: fuzz.ratio(bare, squash(other)), default="")
        evidence = [quote(task, f"{step.pointer}/arguments{value.at}", note="the gold call")]
        if fuzz.ratio(bare, squash(near)) >= _NEAR:
            so = f"but an earlier gold call returns {_short(near)!r}"
            fix = "Pass on what the call returns, or say in the request what is to change."
        else:
            unknown = _unknown(text, knowledge, returned)
            if len(unknown) < (1 - _MOST_KNOWN) * len(_content(text)):
                return
            so = f"but nothing that an agent can see has {_listed(unknown)}"
            fix = "Say in the request what the text has to be, or write what the calls before return."
        request = [quote(task, at, note="a text of the user") for at, _ in task.user_texts()]
        yield Hit(
            claim=f"The gold call of {step.call.name!r} gives {value.name!r} as {_short(text)!r}, {so}.",
            evidence=(*evidence, *request[step.turn : step.turn + 1]),
            fix=fix,
            cause=shared_cause(task, step.call.name, value.member, text),
        )


def _texts(call: ToolCall) -> list[tuple[GoldValue, str]]:
    """Return the longer texts of a call that a run has to give in one wording."""
    found = [(value, value.accepted[0][1]) for value in gold_values(call.arguments) if not value.omissible]
    return [
        (value, text)
        for value, text in found
        if len(value.accepted) == 1 and isinstance(text, str) and _FEWEST_WORDS <= len(_content(text)) < _LONGEST
    ]


def _content(text: str) -> list[str]:
    return [word for word in words(text) if len(word) >= 3 and word.isalpha()]


def _is_unseen(task: AgentTask, call: ToolCall) -> bool:
    """Tell whether no score depends on the arguments of a call: a read, where states are compared."""
    tool = task.tool(call.name, call.requestor)
    return task.ground_truth.call_matching == "state" and tool is not None and tool.effect == "read"


def _returned(step: Step) -> list[str]:
    """Return the texts of a response, and the response as a whole."""
    if step.observation.error is not None:
        return []
    try:
        content: Any = json.loads(step.observation.text)
    except ValueError:
        return [step.observation.text]
    return [step.observation.text, *(text for text in scalars_in(content) if len(text) >= 3)]


def _unknown(text: str, knowledge: Knowledge, returned: list[str]) -> list[str]:
    """Return the words that nothing known begins like; none where the text is in a script that no known text is in."""
    if not text.isascii():
        return []
    known = {word[:_STEM] for other in returned for word in words(other)}
    return [word for word in _content(text) if word[:_STEM] not in known and not knowledge.holds(word[:_STEM])]


def _listed(unknown: list[str]) -> str:
    first = list(dict.fromkeys(unknown))
    more = f" and {len(first) - 4} more of its words" if len(first) > 4 else ""
    return ", ".join(map(repr, first[:4])) + more


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"
