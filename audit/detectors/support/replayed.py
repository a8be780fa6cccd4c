"""A recorded run, carried out and judged again in our own environment of the benchmark."""

from collections.abc import Iterator
from os.path import commonprefix

from agenthard.audit.detectors.support.answered import Answered, answered
from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.environment import ExecutionError, UnavailableError, Verdict
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


def other_than_replayed(task: AgentTask, run: Trajectory) -> Iterator[tuple[Answered, str]]:
    """Compare the responses of a run with those of a replay.

    Only environments that answer as the benchmark's, text for text, are used (``Environment.reads_runs``). A run is
    followed up to the first call that may change something and answers differently: from there on the states differ.

    Yields:
        Calls with the differing piece of the recorded response, "" when the response is the same. Empty responses are
        passed over.
    """
    kept = current_execution().remember("compared runs", task, dict[str, list[tuple[Answered, str]]])
    if run.id not in kept:
        kept[run.id] = list(_compare(task, run))
    yield from kept[run.id]


def replayed_verdict(task: AgentTask, run: Trajectory) -> Verdict | None:
    """Judge what an agent did and said in a recorded run by the ground truth and the evaluator as they are now.

    Returns:
        None when nothing can be said: no environment that reads runs, a run without a verdict or that was cut off, or a
        tool that answers otherwise now than it did then.
    """
    environment = current_execution().environment_for_runs(task)
    if environment is None or run.status != "ok" or run.passed is None:
        return None
    attempt = environment.attempt_of(run.messages)
    if attempt is None:
        return None
    if any(differs for _, differs in other_than_replayed(task, run)):
        return None
    try:
        return environment.evaluate(task, attempt)
    except (ExecutionError, UnavailableError):
        return None


def _compare(task: AgentTask, run: Trajectory) -> Iterator[tuple[Answered, str]]:
    environment = current_execution().environment_for_runs(task)
    if environment is None:
        return
    try:
        environment.reset(task)
        for now in answered(run.messages):
            replayed = environment.call(now.call).text
            if not now.text:
                continue
            yield now, "" if replayed == now.text else _first_difference(now.text, replayed)
            tool = task.tool(now.call.name, now.call.requestor)
            if replayed != now.text and (tool is None or tool.effect != "read"):
                return
    except (ExecutionError, UnavailableError):
        return


def _first_difference(recorded: str, replayed: str) -> str:
    """Return the piece of the recorded text around its first difference from the replayed one, never empty."""
    common = len(commonprefix((recorded, replayed)))
    return recorded[max(0, common - 20) : common + 40]
