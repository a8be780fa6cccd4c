"""Check: what an escape room says of itself, proved again."""

from collections.abc import Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import gold_attempt
from agenthard.audit.proof import wrongly_fails
from agenthard.audit.sources.formats.suite import MalformedInstanceError
from agenthard.escape.audit_task import INSTANCE
from agenthard.escape.proof.verify import Problem, ProblemKind, verify
from agenthard.escape.storage import from_data
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask

_CATEGORY: dict[ProblemKind, str] = {"hint": "ambiguous-instruction", "leak": "answer-leakage"}
_SEVERITY: dict[ProblemKind, Severity] = {
    "hint": Severity.MAY_AFFECT_SCORE,
    "leak": Severity.MAY_AFFECT_SCORE,
    "certificate": Severity.COSMETIC,
}
_WHY: dict[ProblemKind, str] = {
    "hint": "Agents that read carefully still have to guess.",
    "leak": "The room is easier than its size says.",
    "certificate": "One cannot tell from the certificate what was proved; the room itself is right.",
}


class EscapeProof(TaskDetector):
    """The recorded answer of an escape room follows from its sources, and its texts lead to every value.

    The room that the task carries (``metadata["escape_instance"]``) is proved from its sources alone: its parts fit
    together, every tool gives what is recorded when it runs, the exit gives the recorded answer, the hint of every
    parameter leads to one thing, the right one, no text tells what has to be computed, and the oracle gets out through
    the environment.

    Flagged: an exit whose recorded code differs by one digit from the one it computes; a parameter whose hint leads to
    two values; a hidden part that nothing makes appear. What the texts do not narrow, and what they tell too early, may
    affect the score; a false certificate is cosmetic; all else affects it.

    What affects the score is confirmed where the environment fails the oracle's run; the rest is suspected.

    Not flagged: a room whose texts are odd but lead to every value; decoys, which nothing needs.

    It is wrong where texts were written by other rules than those of `agenthard escape generate`: a hint that only a
    person understands counts as missing.
    """

    id = "escape-proof"
    title = "A recorded answer that does not follow from the room"
    version = "2"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    deciding = "execution"
    why = "A right answer is scored as wrong, or the room cannot be solved."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks that carry a room can be proved."""
        return None if INSTANCE in task.metadata else "the task carries no escape room"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per problem that the proof finds."""
        try:
            instance = from_data(task.metadata[INSTANCE])
        except MalformedInstanceError as error:
            yield self._hit(task, Problem("structure", f"the room cannot be read: {error}"))
            return
        for problem in verify(instance).problems:
            yield self._hit(task, problem)

    def _hit(self, task: AgentTask, problem: Problem) -> Hit:
        where = f"{problem.part}: " if problem.part else ""
        claim = f"{where}{problem.message}."
        return Hit(
            claim=claim[0].upper() + claim[1:],
            evidence=tuple(_evidence(task, problem)),
            why=_WHY.get(problem.kind, ""),
            fix="Make the room again with `agenthard escape generate`, or drop it.",
            severity=_SEVERITY.get(problem.kind),
            proof=None if problem.kind in _SEVERITY else wrongly_fails(task, gold_attempt(task)),
            category=_CATEGORY.get(problem.kind),
        )


def _evidence(task: AgentTask, problem: Problem) -> Iterator[Evidence]:
    base = f"/metadata/{INSTANCE}"
    room = task.metadata[INSTANCE]
    parts = [part.get("id") for part in room.get("room", {}).get("parts", ())]
    if problem.part in parts:
        at = parts.index(problem.part)
        yield quote(task, f"{base}/room/parts/{at}/detail", note="what the part tells")
        if problem.part in room["secret"]["mechanisms"]:
            yield quote(task, join(f"{base}/secret/mechanisms", problem.part), note="what is recorded of it")
    if problem.kind == "leak":
        yield from (
            quote(task, f"{base}/room{at}", note="the text that tells it") for at in _telling(room, problem.part)
        )
    if problem.kind == "answer" or problem.part not in parts:
        yield quote(task, f"{base}/secret/answer", note="the recorded answer")


def _telling(room: dict[str, Any], part: str) -> Iterator[str]:
    """Yield the pointers of the texts that hold a value of a part, its id, or the answer."""
    mechanism = room["secret"]["mechanisms"].get(part, {"outputs": {"": room["secret"]["answer"]}})
    found = [part, *mechanism["outputs"].values()] if part else list(mechanism["outputs"].values())
    texts = {"/story": room["room"]["story"]}
    texts |= {f"/parts/{at}/detail": each["detail"] for at, each in enumerate(room["room"]["parts"])}
    yield from (at for at, text in texts.items() if any(value in text for value in found))
