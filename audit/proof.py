"""The proof gate: a confirmed finding that affects the score has to name a run that is scored wrongly.

A check claims a proof (``wrongly_passes``, ``wrongly_fails``, ``recorded``); the gate verifies it. A constructed
attempt is judged in the task's environment, or, for a benchmark without code, by the evaluation that the task declares.
For a recorded run the recorded verdict counts; an environment that reads the conversation judges it again. A hit
without a proof that holds becomes suspected, with the reason.
"""

from collections.abc import Mapping, Sequence

from agenthard.audit.detectors.base import Detector, Hit, Observation
from agenthard.audit.execution import declared_evaluation
from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.counterfactual import why_never_compared
from agenthard.audit.execution.declared_evaluation import DECLARED_EVALUATION, DeclaredEvaluation
from agenthard.audit.execution.environment import Attempt, UnavailableError, Verdict
from agenthard.audit.execution.registry import has_code
from agenthard.taxonomy.finding import Proof, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

NO_RUN = "no run that is scored wrongly was found or constructed"
"""Why a hit without a proof is only suspected."""


def wrongly_passes(task: AgentTask, attempt: Attempt) -> Proof:
    """Claim that the evaluator passes an attempt that it should fail; the gate verifies it."""
    return _claimed(task, attempt, passes=True)


def wrongly_fails(task: AgentTask, attempt: Attempt) -> Proof:
    """Claim that the evaluator fails an attempt that it should pass; the gate verifies it."""
    return _claimed(task, attempt, passes=False)


def recorded(run: Trajectory, *, should_pass: bool) -> Proof:
    """Claim that the recorded verdict of a run is wrong."""
    return Proof(
        task_id=run.task_id,
        kind="recorded",
        trajectory_id=run.id,
        passes=not should_pass,
        should_pass=should_pass,
        evaluator="",
    )


def _claimed(task: AgentTask, attempt: Attempt, *, passes: bool) -> Proof:
    return Proof(
        task_id=task.id,
        kind="constructed",
        turns=attempt.turns,
        replies=attempt.replies,
        passes=passes,
        should_pass=not passes,
        evaluator="",
    )


def prove_hit(detector: Detector, hit: Hit, task: AgentTask, runs: Mapping[str, Trajectory] | None = None) -> Hit:
    """Pass a hit through the gate.

    Args:
        detector: the check.
        hit: what it found.
        task: the task of its proof.
        runs: known runs by id.

    Returns:
        The hit with the verified proof, which names the evaluator. Without one, a confirmed hit that affects the score
        becomes suspected.

    Raises:
        ExecutionError: the environment broke.
    """
    if hit.proof is None:
        return _suspected(detector, hit, NO_RUN)
    try:
        held = verify_proof(hit.proof, task, runs or {})
    except UnavailableError as reason:
        return _suspected(detector, hit, f"its proof cannot be carried out here: {reason}")
    if held is None:
        return _suspected(detector, hit, "the run that it names is scored rightly")
    return hit.model_copy(update={"proof": held})


def discount_uncompared(detector: Detector, hit: Hit, task: AgentTask) -> Hit:
    """Make a hit on a gold value cosmetic where the evaluator never compares the value.

    A value that is never compared cannot decide a score. That it is not compared is a finding of another check
    (``wrong-answer-accepted``).
    """
    if not detector.about_values or (hit.severity or detector.severity) is Severity.COSMETIC:
        return hit
    at = next((item.pointer for item in hit.evidence if item.pointer.startswith("/ground_truth/turns/")), "")
    reason = why_never_compared(task, at)
    if reason is None:
        return hit
    why = f"The evaluator never looks at this value ({reason}), so no score depends on it."
    return hit.model_copy(update={"severity": Severity.COSMETIC, "why": why, "proof": None})


def verify_proof(proof: Proof, task: AgentTask, runs: Mapping[str, Trajectory]) -> Proof | None:
    """Score the run of a proof again.

    Returns:
        The proof with the name of the evaluator; None when it does not hold.

    Raises:
        UnavailableError: no known evaluator can score the run.
        ExecutionError: the environment broke.
    """
    if proof.passes == proof.should_pass or proof.task_id != task.id:
        return None
    if proof.kind == "constructed":
        verdict, evaluator = _score(task, Attempt(turns=proof.turns, replies=proof.replies))
    else:
        run = runs.get(proof.trajectory_id or "")
        if run is None or run.task_id != task.id or run.passed is None:
            return None
        verdict, evaluator = _score_again(task, run)
    if verdict.passed != proof.passes:
        return None
    return proof.model_copy(update={"evaluator": evaluator, "reason": verdict.reason})


def prove_conclusion(detector: Detector, hit: Hit, observed: Sequence[Observation]) -> Hit:
    """Pass a hit of a suite check through the gate.

    A proof counts when it was verified with an observation, or when the declared evaluation of its task, which an
    observation carries, confirms it.
    """
    if hit.proof is None:
        return _suspected(detector, hit, NO_RUN)
    if any(hit.proof in item.proofs for item in observed):
        return hit
    noted = (item.declared for item in observed if item.declared and item.declared.task_id == hit.proof.task_id)
    known = next(noted, None)
    if known is None:
        return _suspected(detector, hit, "its proof was not carried out")
    try:
        verdict = declared_evaluation.score(known, Attempt(turns=hit.proof.turns, replies=hit.proof.replies))
    except UnavailableError as reason:
        return _suspected(detector, hit, f"its proof cannot be carried out here: {reason}")
    wrong = verdict.passed == hit.proof.passes != hit.proof.should_pass
    if hit.proof.kind != "constructed" or not wrong:
        return _suspected(detector, hit, "the run that it names is scored rightly")
    told = {"evaluator": DECLARED_EVALUATION, "reason": verdict.reason}
    return hit.model_copy(update={"proof": hit.proof.model_copy(update=told)})


def declaration(task: AgentTask) -> DeclaredEvaluation | None:
    """Return the declared evaluation of a task; None where the benchmark has code that scores."""
    return None if has_code(task.benchmark) else DeclaredEvaluation.of(task)


def _score(task: AgentTask, attempt: Attempt) -> tuple[Verdict, str]:
    environment = current_execution().environment_for(task)
    if environment is not None:
        if reason := environment.supports(task) or environment.reservation(task):
            raise UnavailableError(reason)
        return environment.evaluate(task, attempt), environment.label()
    known = declaration(task)
    if known is None:
        raise UnavailableError(f"{task.benchmark} is scored by code of its own: give --checkout PATH")
    return declared_evaluation.score(known, attempt), DECLARED_EVALUATION


def _score_again(task: AgentTask, run: Trajectory) -> tuple[Verdict, str]:
    """Score a recorded run in an environment that reads its conversation; otherwise use the recorded verdict."""
    environment = current_execution().environment_for_runs(task)
    attempt = environment.attempt_of(run.messages) if environment else None
    if environment is not None and attempt is not None and environment.reservation(task) is None:
        return environment.evaluate(task, attempt), environment.label()
    return Verdict(passed=bool(run.passed)), "the recorded verdict"


def _suspected(detector: Detector, hit: Hit, reason: str) -> Hit:
    """Drop the proof; a hit that would be confirmed and affect the score becomes suspected."""
    tier, severity = hit.tier or detector.tier, hit.severity or detector.severity
    if tier is not Tier.CONFIRMED or severity is not Severity.AFFECTS_SCORE:
        return hit.model_copy(update={"proof": None}) if hit.proof else hit
    why = f"{(hit.why or detector.why).rstrip()} Suspected, not confirmed: {reason}."
    return hit.model_copy(update={"proof": None, "tier": Tier.SUSPECTED, "why": why})
