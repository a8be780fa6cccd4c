"""ACE-Bench as an Inspect task: ``inspect eval ace/inspect_task.py -T path=FILE --model MODEL``.

Each sample is one instance. The log holds no answer: the score follows from the rules and the final grid. It needs the
extra ``inspect``.
"""

import json
import logging
from pathlib import Path
from typing import Any

from agenthard.ace.environment import Budgets, Conditions, Environment
from agenthard.ace.files import load_puzzles
from agenthard.ace.instance import Puzzle
from agenthard.ace.session import AceSession
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
def ace_bench(
    path: str,
    mode: str = Conditions().mode,
    extra_queries: int = Conditions().extra_queries,
    alpha: float = Conditions().alpha,
    failure_rate: float = 0.0,
    seed: int = 0,
    max_steps: int = Conditions().max_turns,
    max_truncations: int = 3,
) -> Task:
    """Plays the instances of a suite or a file.

    Args:
        path: A suite, whose answers need not be there, or a file in the layout of the paper (also ``.gz``).
        mode: "paper" or "reference": how the tools behave.
        extra_queries: Queries per slot beyond its rules and the number of slots; -1 for no limit.
        alpha: Global checks per slot; -1 for no limit.
        failure_rate: Probability, 0 to 1, that a tool call fails for no reason of the agent's.
        seed: Decides the order of the tools and which calls fail; each epoch adds one to it.
        max_steps: Replies a model may give.
        max_truncations: The reply cut off at the length limit that ends the episode.

    Returns:
        The task; accuracy is the share of instances whose final grid is right.
    """
    puzzles: dict[str, Puzzle] = {}
    for each in load_puzzles(Path(path)):
        if isinstance(each, Puzzle):
            puzzles[each.id] = each
        else:
            _log.warning("%s: instance %s is left out: %s", path, each.id or f"at {each.index}", each.reason)
    budgets = Budgets(extra_queries=extra_queries, alpha=alpha)

    def start(id: str, trial: int) -> AceSession:
        puzzle = puzzles[id]
        return AceSession(Environment(puzzle, mode=mode, budgets=budgets, failure_rate=failure_rate, seed=trial))

    return Task(
        dataset=MemoryDataset([sample_of(start(id, seed), _metadata(puzzle)) for id, puzzle in puzzles.items()]),
        solver=play(start, seed, max_steps, max_truncations),
        scorer=final_grid(),
    )


@scorer(metrics=[accuracy(), stderr()])
def final_grid() -> Scorer:
    """Scores the final grid, whatever ended the episode; how it ended is in the score's metadata.

    Returns:
        The scorer.
    """

    async def score(state: TaskState, target: Target) -> Score:
        return score_of(state, lambda outcome: json.dumps(outcome["grid"]))

    return score


def _metadata(puzzle: Puzzle) -> dict[str, Any]:
    return {"domain": puzzle.domain, "rows": puzzle.rows, "cols": puzzle.cols, "hidden_slots": len(puzzle.slots)}
