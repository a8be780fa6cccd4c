"""ACE-Bench as an Inspect task: ``inspect eval ace/inspect_task.py -T path=FILE --model MODEL``.

Each sample is one instance. The log holds no answer: the score follows from the rules and the final grid. It needs the
extra ``inspect``.
"""

import json
import logging
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from agenthard.ace.environment import Budgets, Ending, Environment, Mode, Tool
from agenthard.ace.environment.environment import as_text
from agenthard.ace.environment.prompts import CUT_OFF, GO_ON, messages
from agenthard.ace.environment.schemas import parameters
from agenthard.ace.files import load_puzzles
from agenthard.ace.instance import Puzzle
from agenthard.taxonomy.errors import MissingExtraError

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, execute_tools, get_model
    from inspect_ai.scorer import CORRECT, INCORRECT, Score, Scorer, Target, accuracy, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import ToolDef, ToolParams
except ModuleNotFoundError as error:
    raise MissingExtraError("the Inspect task", "inspect") from error

_OUTCOME = "outcome"

_log = logging.getLogger(__name__)


@task
def ace_bench(
    path: str,
    mode: str = Mode.PAPER,
    extra_queries: int = 2,
    alpha: float = 1.0,
    failure_rate: float = 0.0,
    seed: int = 0,
    max_steps: int = 200,
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

    def start(id: str, trial: int) -> Environment:
        return Environment(puzzles[id], mode=mode, budgets=budgets, failure_rate=failure_rate, seed=trial)

    return Task(
        dataset=MemoryDataset([_sample(start(id, seed)) for id in puzzles]),
        solver=play(start, seed, max_steps, max_truncations),
        scorer=final_grid(),
    )


@solver
def play(start: Callable[[str, int], Environment], seed: int, max_steps: int, max_truncations: int) -> Solver:
    """Lets the model play one episode.

    Args:
        start: Starts an episode of the instance with the given id, with the given seed of the trial.
        seed: Seed of the first epoch.
        max_steps: Replies a model may give.
        max_truncations: The cut-off reply that ends the episode.

    Returns:
        The solver; it leaves the outcome in the sample's store, even when a limit of Inspect's own ends the sample.
    """

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        trial = seed + state.epoch - 1
        environment = start(str(state.sample_id), trial)
        ending = Ending.OPEN
        try:
            ending = await _episode(state, environment, trial, max_steps, max_truncations)
        finally:
            state.store.set(_OUTCOME, asdict(environment.result(ending)))
        return state

    return solve


@scorer(metrics=[accuracy(), stderr()])
def final_grid() -> Scorer:
    """Scores the final grid, whatever ended the episode; how it ended is in the score's metadata.

    Returns:
        The scorer.
    """

    async def score(state: TaskState, target: Target) -> Score:
        outcome: dict[str, Any] = state.store.get(_OUTCOME)
        value = CORRECT if outcome["solved"] else INCORRECT
        return Score(value=value, answer=json.dumps(outcome["grid"]), metadata=outcome)

    return score


async def _episode(
    state: TaskState, environment: Environment, trial: int, max_steps: int, max_truncations: int
) -> Ending:
    tools = [_as_inspect_tool(environment, tool) for tool in environment.tools(shuffle=trial)]
    truncations = 0
    for _ in range(max_steps):
        state.output = await get_model().generate(state.messages, tools)
        reply = state.output.message
        if state.output.stop_reason == "max_tokens":
            truncations += 1
            state.messages += [reply.model_copy(update={"tool_calls": None}), ChatMessageUser(content=CUT_OFF)]
            if truncations == max_truncations:
                return Ending.TRUNCATIONS
        elif reply.tool_calls:
            state.messages.append(reply)
            answers, _ = await execute_tools(state.messages, tools)
            state.messages += answers
            if environment.finished:
                return Ending.DONE
        else:
            state.messages += [reply, ChatMessageUser(content=GO_ON)]
    return Ending.MAX_STEPS


def _sample(environment: Environment) -> Sample:
    puzzle = environment.puzzle
    system, user = (message["content"] for message in messages(environment))
    return Sample(
        id=puzzle.id,
        input=[ChatMessageSystem(content=system), ChatMessageUser(content=user)],
        metadata={"domain": puzzle.domain, "rows": puzzle.rows, "cols": puzzle.cols, "hidden_slots": len(puzzle.slots)},
    )


def _as_inspect_tool(environment: Environment, tool: Tool) -> ToolDef:
    async def run(**kwargs: Any) -> str:
        return as_text(environment.call(tool.name, kwargs))

    return ToolDef(run, tool.name, tool.description, ToolParams.model_validate(parameters(tool)))
