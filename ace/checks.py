"""Check: what an ACE-Bench instance says of itself, proved again."""

from collections.abc import Iterator

from agenthard.ace.proof.verify import Kind, Problem, verify
from agenthard.ace.reference_entry import decode
from agenthard.ace.source import INSTANCE
from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import gold_attempt
from agenthard.audit.proof import wrongly_fails
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask

_SEVERITY: dict[Kind, Severity] = {
    "filter": Severity.MAY_AFFECT_SCORE,
    "decoy": Severity.MAY_AFFECT_SCORE,
    "text": Severity.MAY_AFFECT_SCORE,
    "stage": Severity.COSMETIC,
}
_CATEGORY: dict[Kind, str] = {"text": "ambiguous-instruction"}
_WHY: dict[Kind, str] = {
    "filter": "The instance is easier or harder than its label says, and a second solution may be near.",
    "decoy": "The instance is easier or harder than its label says, and a second solution may be near.",
    "text": "An agent that follows the text solves another puzzle than the one that is scored.",
    "stage": "Results by preference level mix levels; the puzzle and its score are right.",
}
_PLACES: dict[Kind, tuple[str, ...]] = {
    "structure": ("candidate_ids", "truth_id"),
    "truth": ("slot_constraints", "truth_id"),
    "filter": ("slot_constraints", "filter_candidate_ids"),
    "decoy": ("slot_constraints", "decoy_ids"),
    "stage": ("decoy_generation_final_stage", "decoy_ids"),
}


class AceProof(TaskDetector):
    """The recorded answer of an ACE-Bench instance is the only solution, and its candidates are what they claim.

    The instance that the task carries (``metadata["ace_instance"]``) is proved from its items and rules alone: its
    parts fit together, the recorded grid breaks no rule, an exact search finds it and no second solution, every filter
    breaks the rules of its slot, every decoy meets them and breaks the rules of the grid, the task text states the
    rules, and the decoys hide as well as their preference level says.

    Flagged: a recorded item with price 410 in a slot whose limit is 400; two fillings that both meet every rule; a
    decoy with which the grid meets every rule. A false preference level is flagged as cosmetic; a false filter or
    decoy, and a text that says something else than the rules, may affect the score; all else does.

    What affects the score is confirmed where the environment fails a run that fills in the recorded grid; a second
    solution, and an instance that cannot be played, are suspected.

    Not flagged: an instance whose items are odd but whose rules leave one filling, the recorded one.

    It is wrong where a file follows other rules than the domain of that name in ``ace/domains``. A text is compared
    word by word with the wording of that domain, so a mere rephrasing is flagged too.
    """

    id = "ace-proof"
    title = "A recorded answer that is not the one solution"
    version = "2"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    deciding = "execution"
    why = "A right grid is scored as wrong, or a wrong one as right."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks that carry an instance can be proved."""
        return None if INSTANCE in task.metadata else "the task carries no ACE-Bench instance"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per problem that the verification finds."""
        instance = decode(task.metadata[INSTANCE])
        slots = {slot.cell: index for index, slot in enumerate(instance.puzzle.slots)}
        for problem in verify(instance).problems:
            where = f"Slot {problem.cell}: " if problem.cell else ""
            claim = f"{where}{problem.message}."
            yield Hit(
                claim=claim[0].upper() + claim[1:],
                evidence=tuple(_evidence(task, problem, slots)),
                why=_WHY.get(problem.kind, ""),
                fix="Make the instance again with `agenthard ace generate`, or drop it.",
                severity=_SEVERITY.get(problem.kind),
                proof=None if problem.kind in _SEVERITY else wrongly_fails(task, gold_attempt(task)),
                category=_CATEGORY.get(problem.kind),
            )


def _evidence(task: AgentTask, problem: Problem, slots: dict[tuple[int, int], int]) -> Iterator[Evidence]:
    base = f"/metadata/{INSTANCE}"
    if problem.kind == "text":
        yield quote(task, "/user/turns/0/0/content", note="the task text")
    elif problem.cell in slots:
        slot = f"{base}/slots/{slots[problem.cell]}"
        for name in _PLACES[problem.kind]:
            yield quote(task, f"{slot}/{name}", note=f"{name} of slot {problem.cell}")
        if problem.item is not None:
            yield quote(task, join(f"{base}/item_pool", problem.item), note="the candidate")
    else:
        yield quote(task, f"{base}/global_constraints", note="the rules of the grid")
        yield quote(task, f"{base}/truth_solution", note="the recorded solution")
