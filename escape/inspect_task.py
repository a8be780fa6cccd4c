"""Escape rooms as an Inspect task: ``inspect eval agenthard/escape_rooms -T path=SUITE --model MODEL``.

Each sample is one room. It needs the extra ``inspect``.
"""

import logging
from pathlib import Path

from agenthard.audit.sources.base import Quarantine
from agenthard.escape.environment import Conditions, Environment
from agenthard.escape.room import Instance
from agenthard.escape.session import EscapeSession
from agenthard.escape.source import EscapeRooms
from agenthard.taxonomy.errors import MissingExtraError

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset
    from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
    from inspect_ai.solver import TaskState
except ModuleNotFoundError as error:
    raise MissingExtraError("the Inspect task", "inspect") from error

from agenthard.play.inspect_loop import play, sample_of, score_of

_log = logging.getLogger(__name__)


@task
def escape_rooms(
    path: str,
    feedback: str = Conditions().feedback,
    execution: str = Conditions().execution,
    turns: int = Conditions().turns,
    calls_per_turn: int = Conditions().calls_per_turn,
    submits: int = Conditions().submits,
    failure_rate: float = 0.0,
    seed: int = 0,
    max_truncations: int = 3,
) -> Task:
    """Plays the rooms of a suite.

    Args:
        path: A suite.
        feedback: "none", "binary" or "per_param": what a refused use tells.
        execution: "golden" or "free": when a tool works.
        turns: Turns; 0 for those of the paper, -1 for no limit.
        calls_per_turn: Calls of one turn that are carried out.
        submits: Answers that may be submitted; -1 for no limit.
        failure_rate: Probability, 0 to 1, that a call fails for no reason of the agent's.
        seed: Decides the order of the calls and which of them fail; each epoch adds one to it.
        max_truncations: The reply cut off at the length limit that ends the episode.

    Returns:
        The task; accuracy is the share of rooms whose answer was submitted.
    """
    conditions = Conditions.model_validate(
        {
            "feedback": feedback,
            "execution": execution,
            "turns": turns,
            "calls_per_turn": calls_per_turn,
            "submits": submits,
        }
    )
    quarantine = Quarantine()
    rooms: dict[str, Instance] = dict(EscapeRooms(Path(path)).instances(quarantine))
    for item in quarantine.items:
        _log.warning("%s: %s is left out: %s", path, item.task_id or item.file, item.reason)

    def start(id: str, trial: int) -> EscapeSession:
        environment = Environment(rooms[id], conditions, failure_rate=failure_rate, seed=trial)
        return EscapeSession(environment, id, rooms[id].room.theme)

    most = max((conditions.budget(instance.room.nodes) or 1_000 for instance in rooms.values()), default=1)
    return Task(
        dataset=MemoryDataset([sample_of(start(id, seed), room.facts()) for id, room in rooms.items()]),
        solver=play(start, seed, most, max_truncations),
        scorer=submitted_answer(),
    )


@scorer(metrics=[accuracy(), stderr()])
def submitted_answer() -> Scorer:
    """Scores whether the answer was submitted; how the episode ended is in the score's metadata.

    Returns:
        The scorer.
    """

    async def score(state: TaskState, target: Target) -> Score:
        return score_of(state, lambda outcome: str(outcome["solved"]))

    return score
