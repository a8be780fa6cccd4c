"""The calls of a recorded run, carried out again in our own environment of the benchmark."""

from collections.abc import Iterator
from os.path import commonprefix

from audit.detectors.runs.answered import Answered, answered
from audit.execution.environment import ExecutionFailed, Unavailable
from audit.execution.registry import environment_for
from audit.execution.tau.environment import TauEnvironment
from taxonomy.task import AgentTask
from taxonomy.trajectory import Trajectory


def other_than_replayed(task: AgentTask, run: Trajectory) -> Iterator[tuple[Answered, str]]:
    """Compare the responses of a run with those of a replay.

    Only environments written anew for AgentHard are used, whose responses are the benchmark's text for text. A run is
    followed up to the first call that may change something and answers differently: from there on the states differ.

    Yields:
        Calls with the differing piece of the recorded response, "" when the response is the same. Empty responses are
        passed over.
    """
    try:
        environment = environment_for(task)
        if not isinstance(environment, TauEnvironment) or environment.supports(task) is not None:
            return
        environment.reset(task)
        for now in answered(run.messages):
            replayed = environment.call(now.call).text
            if not now.text:
                continue
            yield now, "" if replayed == now.text else _first_difference(now.text, replayed)
            tool = task.tool(now.call.name, now.call.requestor)
            if replayed != now.text and (tool is None or tool.effect != "read"):
                return
    except (ExecutionFailed, Unavailable):
        return


def _first_difference(recorded: str, replayed: str) -> str:
    """Return the piece of the recorded text around its first difference from the replayed one, never empty."""
    common = len(commonprefix((recorded, replayed)))
    return recorded[max(0, common - 20) : common + 40]
