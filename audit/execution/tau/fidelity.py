"""How faithful an environment is: recorded runs are carried out again and compared, response by response."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agenthard.audit.execution.tau.conversation import answered_calls
from agenthard.audit.execution.tau.environment import TauEnvironment
from agenthard.taxonomy.task import AgentTask, ToolCall
from agenthard.taxonomy.trajectory import Trajectory


@dataclass(frozen=True)
class Difference:
    """A call that answers another text than it did when it was recorded."""

    run: Trajectory
    """The recorded run."""
    position: int
    """0-based position among the run's calls."""
    call: ToolCall
    """The call."""
    recorded: str
    """Response then."""
    replayed: str
    """Response now."""


@dataclass(frozen=True)
class Disagreement:
    """A run that is scored otherwise than it was when it was recorded."""

    run: Trajectory
    """The recorded run, with its verdict."""
    parts: dict[str, bool]
    """What each part of the evaluator says now."""


@dataclass
class Fidelity:
    """Comparison of recorded runs with their replays."""

    calls: Counter[str] = field(default_factory=Counter)
    """Compared calls by tool."""
    equal: Counter[str] = field(default_factory=Counter)
    """Those of equal response, by tool."""
    scored: int = 0
    """Runs with a recorded verdict that the evaluator judged."""
    agreeing: int = 0
    """Those judged alike."""
    differences: list[Difference] = field(default_factory=list)
    """Calls of another response."""
    disagreements: list[Disagreement] = field(default_factory=list)
    """Runs of another verdict."""


def measure(environment: TauEnvironment, tasks: Mapping[str, AgentTask], runs: Iterable[Trajectory]) -> Fidelity:
    """Replay every call of recorded runs from the initial state, and judge every run that was judged.

    Args:
        environment: what is measured.
        tasks: tasks by id, all those of the runs.
        runs: recorded runs. Infrastructure errors are replayed as far as they go, and not judged. A run that was
            stopped at a limit has reward 0 whatever its state: it is judged neither then nor now.

    Raises:
        Unavailable: when a task cannot be executed.
    """
    found = Fidelity()
    for run in runs:
        task = tasks[run.task_id]
        environment.reset(task)
        for position, (call, recorded) in enumerate(answered_calls(run.messages)):
            replayed = environment.call(call).text
            found.calls[call.name] += 1
            found.equal[call.name] += replayed == recorded
            if replayed != recorded:
                found.differences.append(Difference(run, position, call, recorded, replayed))
        attempt = environment.attempt_of(run.messages)
        if run.status == "ok" and run.passed is not None and attempt is not None:
            verdict = environment.evaluate(task, attempt)
            found.scored += 1
            found.agreeing += verdict.passed == run.passed
            if verdict.passed != run.passed:
                found.disagreements.append(Disagreement(run, verdict.parts))
    return found
