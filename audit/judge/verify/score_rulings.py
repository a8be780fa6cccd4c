"""Rules on what is said of the evaluator: what it rejects, and what it accepts."""

import re
from itertools import islice

from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.judge.verify.case import Case, Ruling, passes
from agenthard.audit.judge.verify.patching import PatchError, operations, patched_task
from agenthard.taxonomy.accepted import concrete_values
from agenthard.taxonomy.finding import Severity
from agenthard.taxonomy.task import AgentTask, ToolCall

_GOLD = r"(?:gold(?:en)?|ground[ -]truth|reference)"
_REJECTED = re.compile(
    rf"\b(?:evaluator|checker|scorer) (?:itself )?(?:rejects?|never accepts?|does not accept) (?:\w+ ){{0,3}}{_GOLD}\b"
    rf"|\b{_GOLD}(?: \w+){{0,3}} (?:is|are) rejected\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\bdoing nothing (?:at all )?(?:passes|gets|scores|earns|receives|succeeds|is (?:scored|accepted|enough))"
    r"|\b(?:agent|run|model|assistant) (?:that|which|who) (?:does nothing|makes no (?:tool )?calls?)(?: at all)? "
    r"(?:passes|gets|scores|earns|receives|succeeds)",
    re.IGNORECASE,
)
_MOST = 64
"""Combinations of accepted values from which on they are not tried."""


def gold_accepted(case: Case) -> Ruling | None:
    """A ground truth that is said to be rejected is given to the evaluator."""
    if not _REJECTED.search(case.claim):
        return None
    passed = passes(case.task, [Attempt(turns=gold_turns(case.task), replies=case.task.ground_truth.outputs)])
    if isinstance(passed, str):
        return Ruling("open", passed)
    if passed:
        return Ruling("refuted", "the evaluator gives the ground truth full score")
    return Ruling("open", "the evaluator rejects the first of the accepted values, and perhaps not all")


def doing_nothing(case: Case) -> Ruling | None:
    """An agent that does nothing, and is said to pass, is given to the evaluator."""
    if not _NOTHING.search(case.claim):
        return None
    if "expects_no_call" in case.task.traits:
        return Ruling("refuted", "the task expects no call: doing nothing is the right answer")
    passed = passes(case.task, [Attempt()])
    if isinstance(passed, str):
        return Ruling("open", passed)
    if passed:
        return Ruling("proved", "the evaluator gives an agent that does nothing full score", Severity.MAY_AFFECT_SCORE)
    return Ruling("refuted", "the evaluator fails an agent that does nothing")


def alternative_passes(case: Case) -> Ruling | None:
    """The answers that a patch adds to the ground truth are given to the evaluator as it is."""
    try:
        wanted = patched_task(case.task, operations(case.issue.issue.patch))
    except PatchError:
        return None
    known, listed = _readings(case.task), _readings(wanted)
    if _MOST in (len(known), len(listed)):
        return Ruling("open", "the ground truth accepts too many combinations of values to try them")
    added = [attempt for attempt in listed if attempt not in known]
    if not added:
        return None
    passed = passes(case.task, added)
    if isinstance(passed, str):
        return Ruling("open", passed)
    if passed:
        return Ruling("refuted", "the evaluator accepts already what the patch is to make it accept")
    return Ruling("open", "the evaluator rejects the other answer; whether it is right, no execution can tell")


def _readings(task: AgentTask) -> list[Attempt]:
    """List the runs that a ground truth accepts, up to a number of combinations."""
    turns = [[call.model_dump() for call in turn] for turn in task.ground_truth.turns]
    return [
        Attempt(
            turns=tuple(tuple(ToolCall.model_validate({**call, "text": None}) for call in turn) for turn in reading),
            replies=task.ground_truth.outputs,
        )
        for reading in islice(concrete_values(turns, _MOST), _MOST)
    ]
