"""Check: a name in the ground truth is that of a text or the state with its parts turned round, or a plural of it."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.knowledge import knowledge_of, texts_in
from agenthard.audit.detectors.support.near_names import PLURAL, is_name, names_in, twist
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spelling import FILE_NAME
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_MARKS = "#@"


class TwistedName(TaskDetector):
    """A name is written in one way by the user, the state, the gold calls and the evaluation.

    Looked at are values of gold calls (and milestones) that have the form of a name: with a digit, an underscore, an
    extension. One that no text, no record of the state, no response and no documentation has as a whole is flagged
    where exactly one name of the user or of the expected final state is the same except for

    * its **parts turned round**: summary_draft.docx and draft_summary.docx;
    * a **plural**: backup_test and backup_tests;
    * two **digits exchanged**: CZ4325 and CZ4352, but not in a date or a time;

    and one that the state has, where the user says such a twist of it that the state does not have: the mistake is in
    the request. Flagged too is the one member of a list that lacks the **mark** which the others have and the user
    gives it ("#Trip").

    Not flagged: two names that both exist; a name that the user says.

    When it is wrong: the gold makes up a name of its own that happens to be like another one.
    """

    id = "twisted-name"
    title = "A gold name is a twist of the one that the task has"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    about_sources = True
    experimental = True
    why = (
        "A run that keeps to the name which the user, the state or the evaluation has differs from the gold and fails."
    )

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls cannot be checked."""
        return None if any(task.ground_truth.turns) else "the ground truth holds no calls"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per name."""
        texts = list(task.user_texts())
        said = {name: at for at, text in texts for name in names_in(text)}
        knowledge = knowledge_of(task)
        expected = _expected(task)
        responses: str | None = None
        for own in _gold(task):
            if _is_whole(own.text, said) or own.text in expected:
                continue
            others = said | expected
            near = {name: how for name in others if (how := twist(own.text, name))}
            if len(near) != 1:
                continue
            [(name, how)] = near.items()
            exists = knowledge.is_in_state(own.text)
            if exists and (knowledge.is_in_state(name) or name not in said):
                continue
            responses = _responses(task) if responses is None else responses
            if not exists and (_has(responses, own.text) or knowledge.documented(own.text)):
                continue
            if not exists and how == PLURAL and all(map(FILE_NAME.fullmatch, (own.text, name))):
                continue  # near-miss-value reports it
            yield _hit(task, own, name, others[name], how)
        yield from _unmarked(task, texts)


class _Own(NamedTuple):
    """A name that a gold call gives."""

    text: str
    at: str
    call: str
    parameter: str


def _gold(task: AgentTask) -> list[_Own]:
    """List the names that gold calls give, each where it comes first."""
    found: dict[str, _Own] = {}
    for pointer, call in task.gold_calls():
        for value in gold_values(call.arguments):
            at, item = value.accepted[0]
            if len(value.accepted) == 1 and isinstance(item, (str, int)) and not isinstance(item, bool):
                text = str(item)
                if is_name(text) and " " not in text:
                    found.setdefault(text, _Own(text, f"{pointer}/arguments{at}", call.name, value.name))
    return list(found.values())


def _expected(task: AgentTask) -> dict[str, str]:
    """Return the names of the expected final state."""
    return {
        text: f"/evaluation/checks/{i}/expected{at}"
        for i, check in enumerate(task.evaluation.checks)
        if check.kind == "final_state"
        for at, text in texts_in(check.expected)
        if is_name(text) and " " not in text
    }


def _is_whole(text: str, said: dict[str, str]) -> bool:
    own = text.casefold().strip(_MARKS)
    return any(own == name.casefold().strip(_MARKS) for name in said)


def _responses(task: AgentTask) -> str:
    try:
        steps = () if why_not_replayed(task) else gold_replay(task).steps
    except ExecutionError:
        return ""  # that the environment breaks is said by the checks that need it
    return "\n".join(step.observation.text for step in steps if not step.changed)


def _has(text: str, name: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-]|\.\w)", text) is not None


def _hit(task: AgentTask, own: _Own, name: str, at: str, how: str) -> Hit:
    whole = at.startswith("/user")
    return Hit(
        claim=f"The gold call of {own.call!r} gives {own.parameter!r} as {own.text!r}, and the task has {name!r}: "
        f"{how}.",
        evidence=(
            quote(task, own.at, note="the gold call"),
            quote(task, at, note="the other name", **({"text": name} if whole else {})),
        ),
        fix=f"Use {name!r} in both places, or {own.text!r}.",
        cause=shared_cause(task, "twisted", own.text, name),
    )


def _unmarked(task: AgentTask, texts: Sequence[tuple[str, str]]) -> Iterator[Hit]:
    """Yield the one member of a list without the mark that the others have, and the user gives it."""
    for pointer, call in task.gold_calls():
        lists: dict[str, list[GoldValue]] = {}
        for value in gold_values(call.arguments):
            head, _, last = value.at.rpartition("/")
            if last.isdigit() and len(value.accepted) == 1 and isinstance(value.accepted[0][1], str):
                lists.setdefault(head, []).append(value)
        for members in lists.values():
            items = [str(value.accepted[0][1]) for value in members]
            for mark in _MARKS:
                bare = [value for value, item in zip(members, items, strict=True) if not item.startswith(mark)]
                if len(bare) != 1 or len(members) < 2:
                    continue
                marked = f"{mark}{bare[0].accepted[0][1]}"
                for at, text in texts:
                    if marked in text:
                        own = _Own(marked[1:], f"{pointer}/arguments{bare[0].accepted[0][0]}", call.name, bare[0].name)
                        yield _hit(task, own, marked, at, "a lost mark")
                        break
