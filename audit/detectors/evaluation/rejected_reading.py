"""Check: readings of a task that replay, break no rule of the policy, and that the evaluator rejects."""

from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.evidence import quote
from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.gold import why_no_path
from agenthard.audit.proof import wrongly_fails
from agenthard.audit.readings.from_mutation import unsettled_choices
from agenthard.audit.readings.from_runs import TakenReading, taken_readings
from agenthard.audit.readings.records import Trial, shown_trial
from agenthard.audit.readings.trial import gold_reading, try_reading, why_no_trial
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

MIN_MODELS = 3
"""Fewer models take a reading by chance."""
MIN_SHARE = 0.3
"""Share of those that reach it or the ground truth; below, they are models that err."""


class RejectedReading(SuiteDetector):
    """A way of doing what the user asks replays, keeps to the policy, and gets no score.

    Where a run's state decides the score, readings are proposed without a model. From recorded runs: the calls of the
    runs that end in one state; at least three models end there, and at least 30 % of those that end there or in the
    state of the ground truth. From mutation: a payment method, or another key of a small table of a record, that the
    user settles by no word and that the changed record does not hold yet, is exchanged for another one of the same
    table. Each reading is carried out from the start state. It is dropped when the environment refuses a call that can
    change something, when a rule of the policy forbids one or cannot tell, when it changes nothing, when it only leaves
    out calls of a sound ground truth, or when the evaluator accepts it.

    The finding lists the calls of the reading, the fields that it changes, those of the ground truth, and what the
    evaluator says. It is an ambiguous instruction where models reach both ends, and a wrong ground truth where the
    ground truth itself breaks a rule or fewer than three models reach it.

    Flagged: the user names no card, has two, and the ground truth takes one; seven models add bags although the
    upgrade failed, four do not, and the user's words leave open which is wanted.
    Not flagged: five models that cancel what the policy does not allow to cancel; a change that the environment
    refuses.

    Wrong where models share a mistake that no rule forbids. So it is only suspected: that a reading is what the user
    means, no execution can tell. A judge's reading is confirmed by the votes of other readers (docs/judge.md).
    """

    id = "rejected-reading"
    title = "another reading replays, breaks no rule, and is rejected"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    executes = True
    uses_runs = True
    why = "A run that takes the user at another of its meanings fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why no reading can be tried, or None."""
        if task.ground_truth.call_matching != "state":
            return "calls are compared, so what a reading comes to is not looked at"
        if any(task.ground_truth.turns) and (reason := why_no_path(task)):
            return reason
        return why_no_trial(task)

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the readings that hold, from runs and from mutation."""
        gold = try_reading(task, gold_reading(task))
        if not gold.passed:
            return
        for hit in (*_from_runs(task, gold, runs), *_from_mutation(task, gold)):
            proofs = (hit.proof,) if hit.proof else ()
            yield Observation(
                task_id=task.id, key=task.id, value=hit.model_dump(mode="json"), evidence=hit.evidence, proofs=proofs
            )

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield what was observed."""
        for item in observations:
            hit = Hit.model_validate(item.value).model_copy(update={"proof": next(iter(item.proofs), None)})
            yield Conclusion(task_ids=(item.task_id,), hit=hit)


def _from_runs(task: AgentTask, gold: Trial, runs: Iterator[Trajectory]) -> Iterator[Hit]:
    environment = current_execution().environment_for_runs(task)
    if environment is None:
        return
    taken = taken_readings(task, environment, runs)
    reach_gold = next((len(each.models) for each in taken if each.final == gold.final), 0)
    for each in taken:
        number = len(each.models)
        if number < MIN_MODELS or number < MIN_SHARE * (number + reach_gold) or each.final == gold.final:
            continue
        trial = try_reading(task, each.reading)
        if _holds(trial) and (gold.defect or not _leaves_out(trial, gold)):
            yield _taken(task, gold, trial, each, reach_gold)
            return  # one cause, however many other ways there are


def _taken(task: AgentTask, gold: Trial, trial: Trial, taken: TakenReading, reach_gold: int) -> Hit:
    wrong = bool(gold.defect) or reach_gold < MIN_MODELS
    models, calls = len(taken.models), sum(map(len, trial.reading.turns))
    against = f"the ground truth {gold.defect}" if gold.defect else f"{reach_gold} end where the ground truth does"
    return Hit(
        claim=f"{models} models make the same {calls} changes, which replay and break no known rule of the policy, and "
        f"the evaluator rejects them; {against}.",
        why=_proof_text(trial, gold),
        evidence=_evidence(task),
        fix="Say in the instruction which of the two is wanted, or correct the ground truth.",
        cause=f"task {task.id} | runs",
        category="incorrect-tool-call" if wrong else None,
        proof=wrongly_fails(task, trial.attempt),
        measures={"models": float(models), "models_gold": float(reach_gold), "runs": float(len(taken.runs))},
    )


def _from_mutation(task: AgentTask, gold: Trial) -> Iterator[Hit]:
    for at, reading in unsettled_choices(task):
        trial = try_reading(task, reading)
        if _holds(trial):
            yield Hit(
                claim=f"The user settles by no word which {_argument(at)} is wanted; another of the same table "
                "replays, breaks no known rule of the policy, and the evaluator rejects it.",
                why=_proof_text(trial, gold),
                evidence=(quote(task, at, note="what the ground truth takes"), *_evidence(task)[:1]),
                fix="Say in the instruction which one is wanted, or accept each.",
                cause=f"task {task.id} | choice",
                proof=wrongly_fails(task, trial.attempt),
            )
            return


def _argument(pointer: str) -> str:
    return next(part for part in reversed(pointer.split("/")) if not part.isdigit())


def _holds(trial: Trial) -> bool:
    return bool(trial.changes) and not (trial.defect or trial.undecided or trial.passed)


def _leaves_out(trial: Trial, gold: Trial) -> bool:
    """Tell whether a reading only makes some of the gold calls, as a run does that stopped early."""
    made, wanted = (
        [(call.name, call.arguments) for turn in each.reading.turns for call in turn] for each in (trial, gold)
    )
    return all(call in wanted for call in made)


def _proof_text(trial: Trial, gold: Trial) -> str:
    return f"{shown_trial(trial)} {shown_trial(gold)}"


def _evidence(task: AgentTask) -> tuple[Evidence, ...]:
    said = next((pointer for pointer, text in task.user_texts() if text.strip()), None)
    wanted = (quote(task, said, note="what the user wants"),) if said else ()
    return (*wanted, quote(task, "/ground_truth/turns", note="the ground truth"))
