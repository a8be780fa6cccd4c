"""Recorded runs played again: the same calls in the same turns, answered again under the conditions of now."""

import gzip
import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from agenthard.play.ending import UNPLAYABLE, Ending
from agenthard.play.episode import Episode, OutOfTurnsError
from agenthard.play.registry import UnknownAgentError
from agenthard.taxonomy.task import Message, ToolCall
from agenthard.taxonomy.trajectory import Trajectory

REPLAY = "replay:"
"""What the name of such an agent begins with: ``replay:FILE``, or ``replay:FILE#MODEL`` for one model of several."""
Runs = Mapping[tuple[str, int], Trajectory]
"""Runs of one model by task and trial."""


@cache
def recorded_runs(name: str) -> Runs:
    """Read the runs that an agent's name means; a process reads them once.

    Args:
        name: Name of the agent.

    Raises:
        UnknownAgentError: The file cannot be read, or holds the runs of several models or of none.
    """
    file, _, model = name.removeprefix(REPLAY).partition("#")
    path = Path(file)
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            runs = [Trajectory.model_validate_json(line) for line in lines if line.strip()]
    except (OSError, EOFError, ValueError) as error:
        raise UnknownAgentError(f"agent {name!r}: no runs can be read from {file}: {error}") from error
    models = sorted({run.model for run in runs})
    if model not in models if model else len(models) != 1:
        some = ", ".join(models[:8]) or "no run"
        raise UnknownAgentError(f"agent {name!r}: {file} has {some}; write {REPLAY}{file}#MODEL")
    chosen = [run for run in runs if not model or run.model == model]
    found = {(run.task_id, run.trial): run for run in chosen}
    if len(found) < len(chosen):
        raise UnknownAgentError(f"agent {name!r}: {file} has several runs of one task and trial; keep one of each")
    return found


def play_again(episode: Episode, runs: Runs) -> Trajectory:
    """Play the recorded run of an episode's task and trial again.

    Args:
        episode: The episode, before its first turn.
        runs: The recorded runs.

    Returns:
        The record. It has no verdict without a recorded run that has one. ``changed_answers`` of its usage counts
        the answers that are not the recorded ones: 0 under the conditions of the record.
    """
    run = runs.get((episode.task_id, episode.trial))
    if run is None or run.status not in ("ok", "agent_error"):
        why = "no run is recorded" if run is None else f"the recorded run has no verdict: {run.status_reason}"
        lost = episode.trajectory(status="infrastructure_error", reason=f"{why} of {episode.task_id}, {episode.trial}")
        return lost.model_copy(update={"ending": UNPLAYABLE})
    ending = Ending(run.ending) if run.ending in list(Ending) else Ending.OPEN
    changed = 0
    try:
        for at, message in enumerate(run.messages):
            if message.role != "assistant":
                continue
            if episode.session.finished:
                ending = Ending.OPEN
                break
            changed += _turn(episode, message, run.messages[at + 1 :])
    except OutOfTurnsError:
        ending = Ending.MAX_STEPS
    usage = {"changed_answers": changed}
    return episode.trajectory(ending, status=run.status, reason=run.status_reason, usage=usage)


def _turn(episode: Episode, said: Message, later: tuple[Message, ...]) -> int:
    """Repeat one turn; return how many of its answers are not the recorded ones."""
    episode.say(said.content, said.tool_calls)
    recorded = {message.tool_call_id: message.content for message in later[: len(said.tool_calls)]}
    changed = 0
    for call in said.tool_calls:
        answer = episode.session.message(call.name, _text(call))
        episode.hear(answer, call)
        changed += answer != recorded.get(call.id)
    if not said.tool_calls and later and later[0].role == "user":
        episode.truncations += later[0].content == episode.session.cut_off
        episode.hear(later[0].content)
    return changed


def _text(call: ToolCall) -> str:
    return call.text if call.text is not None else json.dumps(call.arguments, ensure_ascii=False)
