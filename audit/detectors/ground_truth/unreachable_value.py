"""Check: an identifier in the ground truth that the state holds and that no read of an agent shows."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.dates import parse_date
from agenthard.audit.detectors.support.gold_values import GoldValue, documented, gold_values, name_words
from agenthard.audit.detectors.support.knowledge import knowledge_of
from agenthard.audit.detectors.support.reach import Search, search
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_CODE = re.compile(r"(?=\S*[\d_])[#\w.@-]{3,64}")
_PATHS = frozenset({"file", "folder", "path", "dir", "directory", "source", "destination", "date", "time", "name"})
_SHOWN = 8
_SHARED = "tasks share one state, in which an agent first has to find the user by words that a search cannot choose"
_EMPTY = frozenset("id number code this that with from which used optional unique identifier the".split())
"""Words of documentation that say nothing of what an identifier names."""


class UnreachableValue(TaskDetector):
    """An identifier that a gold call needs can be said, documented, or found by reading.

    Rule: the task has a state of its own, and its ground truth is replayed. A gold call gives an identifier (a code
    without spaces that has a digit or an underscore) that the state holds, that no text of the user, the policy or the
    documentation has, and that no gold call before it returned or was given. From the state before the call, every tool
    that only reads is called with all values that are said, documented or were handed out, and with what these calls
    return, until nothing new comes. The identifier is in no response.

    Flagged: "Cancel the insurance that I bought last week" with the gold ``cancel(policy="pol_77")``, a state that has
    ``pol_77``, and no tool that lists policies. The claim says how many calls of which tools were tried.
    Not flagged: the same where ``list_policies`` returns it; where more than 400 calls would be needed; where a tool
    whose documentation shares a word with that of the identifier could not be tried properly, because nothing that is
    known fits one of its parameters, or more than 60 combinations do; names of files and folders, dates; what a run may
    leave out.

    Wrong where a tool reads by a value that takes thinking (the code of an airport for a town), and where one can
    work the identifier out, as the number after the last one.
    """

    id = "unreachable-value"
    title = "an identifier that no read shows"
    version = "1"
    category = "redundant-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    about_sources = True
    why = "An agent cannot know the identifier; a run that asks for it, or guesses another one, fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed or the search proves nothing, or None."""
        return why_not_replayed(task) or (_SHARED if task.initial_state is None else None)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per identifier that cannot be known; variants of one base task share it."""
        steps = gold_replay(task).steps
        flagged: set[str] = set()
        for number, step in enumerate(steps):
            sought = [
                value
                for value in gold_values(_gold_arguments(task, step))
                if _is_hidden(task, value, steps[:number]) and str(value.accepted[0][1]) not in flagged
            ]
            if not sought:
                continue
            found = search(environment_of(task), task, steps[:number], step.call.requestor)
            for value in sought:
                shown = str(value.accepted[0][1])
                if found.complete and squash(shown) not in found.seen and not _may_be_shown(task, step, value, found):
                    flagged.add(shown)
                    yield _hit(task, step, value, found)


def _gold_arguments(task: AgentTask, step: Step) -> dict[str, Any]:
    return task.ground_truth.turns[step.turn][step.index].arguments


def _is_hidden(task: AgentTask, value: GoldValue, before: Sequence[Step]) -> bool:
    """Tell whether a gold value is an identifier of the state that nothing before it names."""
    texts = value.strings()
    if value.omissible or len(texts) != len(value.accepted) or _PATHS & set(name_words(value.member)[-1:]):
        return False
    if not all(_CODE.fullmatch(text) and parse_date(text) is None for _, text in texts):
        return False
    knowledge = knowledge_of(task)
    if any(knowledge.said(text) or knowledge.documented(text) or not knowledge.in_state(text) for _, text in texts):
        return False
    named = squash(" ".join(f"{step.call.arguments} {step.observation.text}" for step in before))
    return not any(squash(text) in named for _, text in texts)


def _may_be_shown(task: AgentTask, step: Step, value: GoldValue, found: Search) -> bool:
    """Tell whether a tool that could not be tried properly is about what the identifier names."""
    tool = task.tool(step.call.name, step.call.requestor)
    place = documented(tool, value.at) if tool else None
    about = set(name_words(value.member)) | _words(str((place.schema if place else {}).get("description", "")))
    about -= _EMPTY
    return any(
        about & (set(name_words(other.name)) | _words(other.description))
        for other in found.guessed
        if value.member not in (other.parameters.get("required") or ())
    )


def _words(text: str) -> set[str]:
    return {word.rstrip("s") for word in re.findall(r"[a-z]{4,}", text.lower())}


def _hit(task: AgentTask, step: Step, value: GoldValue, found: Search) -> Hit:
    at, shown = value.accepted[0]
    more = f" and {len(found.tools) - _SHOWN} more" if len(found.tools) > _SHOWN else ""
    tried = f"{found.calls} calls of {', '.join(found.tools[:_SHOWN])}{more}" if found.calls else "no tool that reads"
    said = [pointer for pointer, _ in task.user_texts()]
    return Hit(
        claim=f"The gold call of {step.call.name!r} demands {value.name!r} = {shown!r}, which only the state has: "
        f"no text names it, and {tried} from the state before the call do not return it.",
        evidence=(
            quote(task, f"{step.pointer}/arguments{at}", note="the gold call"),
            *(quote(task, pointer, note="what the user says or is told") for pointer in said[-1:]),
        ),
        fix="Let the user say it, or offer a tool that shows it.",
        cause=shared_cause(task, "unreachable", step.call.name, value.name, shown),
    )
