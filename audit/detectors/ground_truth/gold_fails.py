"""Gold calls that their own environment refuses."""

from collections.abc import Iterable, Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.corrections import leave_out
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import canonical_json, quote
from agenthard.audit.execution.attempts import attempt_of
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.necessity import without
from agenthard.audit.execution.replay import Replay, Step, gold_turns
from agenthard.audit.proof import wrongly_fails, wrongly_passes
from agenthard.taxonomy.finding import Proof, Severity, Tier
from agenthard.taxonomy.task import AgentTask

_TRIED_AGAIN = "a later gold call tries again and succeeds"


class GoldFails(TaskDetector):
    """A call of the ground truth fails when it is made in the task's own environment.

    The ground truth is replayed from the task's initial state. A call whose response is an error is flagged:

    * a documented write (or a call not known to be a read): the state that runs are compared with lacks what it should
      do. If a later gold call succeeds with the same arguments, or by the same tool with one argument changed, nothing
      is lost (cosmetic). If the ground truth then hands the user over, the failure may be how it finds out that it
      cannot be done (may affect the score). Else the score is affected;
    * a read: it tells the agent nothing. Where redundant calls are free this is cosmetic, else it affects the score.

    Where the score is affected, a run shows it: the ground truth without the failing write passes, or fails without the
    failing read; else the finding is suspected.

    Flagged: get_product(product_id="77"), where 77 is the id of an item and the response is "product not found".
    Not flagged: a failing read all of whose values are in the user's texts. The user gives an old e-mail first; an
    agent has to try it.

    It is wrong where the environment fails on purpose, and where our own implementation of a tool differs from the
    benchmark's (``docs/execution.md`` says how often it does).
    """

    id = "gold-fails"
    title = "a gold call fails in its own environment"
    version = "2"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    deciding = "execution"
    why = "The evaluator replays the ground truth without noticing, and compares runs with what is left of it."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the ground truth cannot be replayed, or None."""
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per failing call; the same failure to the same effect in several tasks is one finding."""
        gold = gold_replay(task)
        seen = set()
        for number, step in enumerate(gold.steps):
            error, call = step.observation.error, step.call
            if error is None or _is_probe(task, step):
                continue
            severity, so = _effect(task, gold, number)
            cause = f"{call.name} {canonical_json(call.arguments)} {error}: {so}"
            if cause in seen:
                continue
            seen.add(cause)
            yield Hit(
                claim=f"The gold call {call.name} fails: {error.rstrip('.')}; {so}",
                evidence=(quote(task, step.pointer, note=f"the response is: {step.observation.text[:300]}"),),
                fix="Make the call one that works in this environment, or leave it out.",
                cause=cause,
                severity=severity,
                proof=_proof(task, step),
                patch=leave_out(task, step.pointer) if so == _TRIED_AGAIN else (),
            )


def _proof(task: AgentTask, step: Step) -> Proof:
    """Claim that a run without the failing call fails for it, or passes without what it should do."""
    without_it = attempt_of(task, without(gold_turns(task), step.turn, step.index))
    return wrongly_fails(task, without_it) if _is_read(task, step) else wrongly_passes(task, without_it)


def _is_read(task: AgentTask, step: Step) -> bool:
    tool = task.tool(step.call.name, step.call.requestor)
    return tool is not None and tool.effect == "read"


def _is_probe(task: AgentTask, step: Step) -> bool:
    """Tell whether a failing read tries what the user says."""
    said = " ".join(squash(text) for _, text in task.user_texts())
    return _is_read(task, step) and all(squash(str(value)) in said for value in _scalars(step.call.arguments))


def _effect(task: AgentTask, gold: Replay, number: int) -> tuple[Severity, str]:
    step, later = gold.steps[number], gold.steps[number + 1 :]
    if _is_read(task, step):
        if "redundant_calls_free" in task.traits:
            return Severity.COSMETIC, "it is a read, so no score depends on it"
        return Severity.AFFECTS_SCORE, "a run has to make it all the same"
    if any(other.changed and _tries_again(step, other) for other in later):
        return Severity.COSMETIC, _TRIED_AGAIN
    nothing = ", and a run that changes nothing has the right final state" if gold.final == gold.initial else ""
    if any("transfer_to_human" in other.call.name for other in later):
        return Severity.MAY_AFFECT_SCORE, f"the ground truth then hands the user over{nothing}"
    return Severity.AFFECTS_SCORE, f"the final state that runs are compared with lacks it{nothing}"


def _tries_again(step: Step, other: Step) -> bool:
    """Tell whether a later call has the same arguments, or is by the same tool with one argument changed."""
    one, two = step.call.arguments, other.call.arguments
    differing = sum(one.get(name) != two.get(name) for name in {*one, *two})
    return differing == 0 or (differing == 1 < len(one) and step.call.name == other.call.name)


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _scalars(item)
    else:
        yield value
