"""Any benchmark of this package as an Inspect task: the solver that plays a session, and its score.

The log holds no answer: the score follows from what the session came to. It needs the extra ``inspect``.
"""

from collections.abc import Callable
from typing import Any

from agenthard.models.request import Tool
from agenthard.play.ending import Ending
from agenthard.play.session import Session
from agenthard.taxonomy.errors import MissingExtraError

try:
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ChatMessageSystem, ChatMessageUser, execute_tools, get_model
    from inspect_ai.scorer import CORRECT, INCORRECT, Score
    from inspect_ai.solver import Generate, Solver, TaskState, solver
    from inspect_ai.tool import ToolDef, ToolParams
except ModuleNotFoundError as error:
    raise MissingExtraError("the Inspect task", "inspect") from error

_OUTCOME, _SOLVED = "outcome", "solved"


@solver
def play(start: Callable[[str, int], Session], seed: int, max_steps: int, max_truncations: int) -> Solver:
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
        session = start(str(state.sample_id), trial)
        ending = Ending.OPEN
        try:
            ending = await _episode(state, session, trial, max_steps, max_truncations)
        finally:
            result = session.result(ending)
            state.store.set(_OUTCOME, dict(result.details))
            state.store.set(_SOLVED, result.solved)
        return state

    return solve


def score_of(state: TaskState, answer: Callable[[dict[str, Any]], str]) -> Score:
    """Returns the score of a played sample, whatever ended the episode.

    Args:
        state: The sample.
        answer: Writes the answer, given the details of the outcome.

    Returns:
        The score; how the episode ended is in its metadata.
    """
    outcome: dict[str, Any] = state.store.get(_OUTCOME)
    value = CORRECT if state.store.get(_SOLVED) else INCORRECT
    return Score(value=value, answer=answer(outcome), metadata=outcome)


def sample_of(session: Session, metadata: dict[str, Any]) -> Sample:
    """Returns the sample of an instance.

    Args:
        session: A fresh session of it.
        metadata: What the log says about the instance.

    Returns:
        The sample, with the first two messages as input.
    """
    system, user = (message.content for message in session.messages())
    return Sample(
        id=session.id, input=[ChatMessageSystem(content=system), ChatMessageUser(content=user)], metadata=metadata
    )


async def _episode(state: TaskState, session: Session, trial: int, max_steps: int, max_truncations: int) -> Ending:
    tools = [_as_inspect_tool(session, tool) for tool in session.tools(shuffle=trial)]
    truncations = 0
    for _ in range(max_steps):
        state.output = await get_model().generate(state.messages, tools)
        reply = state.output.message
        session.begin_turn()
        if state.output.stop_reason == "max_tokens":
            truncations += 1
            notice = ChatMessageUser(content=session.cut_off)
            state.messages += [reply.model_copy(update={"tool_calls": None}), notice]
            if truncations == max_truncations:
                return Ending.TRUNCATIONS
        elif reply.tool_calls:
            state.messages.append(reply)
            answers, _ = await execute_tools(state.messages, tools)
            state.messages += answers
            if session.finished:
                return Ending.DONE
        else:
            state.messages += [reply, ChatMessageUser(content=session.go_on)]
    return Ending.MAX_STEPS


def _as_inspect_tool(session: Session, tool: Tool) -> ToolDef:
    async def run(**kwargs: Any) -> str:
        return session.call(tool.name, kwargs)[0]

    return ToolDef(run, tool.name, tool.description, ToolParams.model_validate(tool.parameters))
