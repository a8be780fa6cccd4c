"""Check: as many gold turns as user turns."""

from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import attempt_of, gold_attempt
from agenthard.audit.execution.replay import gold_turns
from agenthard.audit.proof import wrongly_fails, wrongly_passes
from agenthard.taxonomy.finding import Proof, Severity, Tier
from agenthard.taxonomy.task import AgentTask


class TurnCount(TaskDetector):
    """A scripted dialogue with a gold per turn has as many gold turns as user turns.

    The evaluator compares gold turn i with what the agent does after user turn i. With one turn more or less, at least
    one gold turn belongs to another request than the one it is compared after, or is never reached.

    Flagged: five user turns and six lists of gold calls.

    Not flagged: turns of equal number, an empty gold turn included; a ground truth that holds one list of calls for
    the whole dialogue, which is how benchmarks without a gold per turn are recorded (unless the source says that gold
    turns are checked turn by turn).

    Confirmed where a run shows it: with a gold turn too many, the run that makes every gold call, the last ones in the
    last turn that there is, fails; with a gold turn too few, the run that does nothing in the last turn passes.

    The check is wrong for a benchmark whose source records gold turns that are not meant to be paired with user turns.
    """

    id = "turn-count"
    title = "Gold turns and user turns that do not pair up"
    version = "2"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "Each gold turn is compared after the user turn of the same number, so calls are expected at the wrong time."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only scripted dialogues with a gold per turn can be checked."""
        if task.user.kind != "scripted":
            return "the user is simulated: no fixed turns to pair with gold turns"
        gold = task.ground_truth.turns
        if not gold:
            return "the ground truth has no turns"
        if len(gold) == 1 and len(task.user.turns) > 1 and "unchecked_turns" not in task.traits:
            return "the ground truth is one list of calls for the whole dialogue"
        return None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield a hit when the numbers differ."""
        asked, gold = len(task.user.turns), len(task.ground_truth.turns)
        if asked == gold or asked == 0:
            return
        unpaired = f"/ground_truth/turns/{asked}" if gold > asked else f"/user/turns/{gold}"
        last = f"/user/turns/{asked - 1}" if gold > asked else f"/ground_truth/turns/{gold - 1}"
        yield Hit(
            claim=f"The dialogue has {asked} user turns but the ground truth has {gold} turns.",
            evidence=(
                quote(task, unpaired, note=f"turn {min(asked, gold) + 1} has no counterpart"),
                quote(task, last, note=f"the last turn on the other side, turn {min(asked, gold)}"),
            ),
            proof=_proof(task, asked, gold),
            fix="Move each gold call to the turn whose request it answers, and keep one gold turn per user turn.",
        )


def _proof(task: AgentTask, asked: int, gold: int) -> Proof:
    """Claim what shows it: every call made as late as the dialogue allows fails, or the last request is won unheard."""
    if gold < asked:
        return wrongly_passes(task, gold_attempt(task))
    turns = gold_turns(task)
    late = tuple(call for turn in turns[asked - 1 :] for call in turn)
    return wrongly_fails(task, attempt_of(task, (*turns[: asked - 1], late)))
