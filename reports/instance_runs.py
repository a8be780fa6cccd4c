"""The runs of one task as plain data: for each model one that failed and one that passed, and those that are quoted."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.reports.marked_text import Span, pieces
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.task import Message
from agenthard.taxonomy.trajectory import Trajectory

MOST_MODELS = 8
"""Models of which runs are shown; those with quoted runs come first, then those whose runs differ in outcome."""
MOST_MESSAGES = 120
"""Messages of a run that are shown at once."""
LONGEST_MESSAGE = 4_000
"""Characters of a message that are shown."""

Quoted = tuple[str, Evidence]
"""Id of a finding and one of its quotes."""


def describe_runs(runs: Sequence[Trajectory], quoted: Sequence[Quoted], cited: Collection[str]) -> list[dict[str, Any]]:
    """Describe the runs of one task by model.

    Args:
        runs: all its runs, in any order.
        quoted: quotes of the findings on the task.
        cited: ids of runs that findings name.

    Returns:
        One entry per model: its name, how many runs passed of how many that were scored, and the runs to show, each
        with its first ``messages`` (``cut`` when one is shown in part), how many ``more`` follow, and the quotes
        ``later`` among those: ids of findings with the place of the message.
    """
    by_model: dict[str, list[Trajectory]] = {}
    for run in sorted(runs, key=lambda run: (run.model, run.protocol or "", run.trial, run.id)):
        by_model.setdefault(f"{run.model} ({run.protocol})" if run.protocol else run.model, []).append(run)

    def order(name: str) -> tuple[bool, bool, str]:
        own = by_model[name]
        return all(run.id not in cited for run in own), len({run.passed for run in own} - {None}) < 2, name

    return [_model(name, by_model[name], quoted, cited) for name in sorted(by_model, key=order)[:MOST_MODELS]]


def _model(name: str, runs: Sequence[Trajectory], quoted: Sequence[Quoted], cited: Collection[str]) -> dict[str, Any]:
    shown = [run for run in runs if run.id in cited]
    for outcome in (False, True):
        if all(run.passed is not outcome for run in shown):
            shown += [run for run in runs if run.passed is outcome][:1]
    shown = shown or list(runs[:1])
    return {
        "model": name,
        "passed": sum(run.passed is True for run in runs),
        "scored": sum(run.passed is not None for run in runs),
        "runs": [_run(run, quoted) for run in sorted(shown, key=lambda run: run.passed is not False)],
    }


def _run(run: Trajectory, quoted: Sequence[Quoted]) -> dict[str, Any]:
    own = [(name, item) for name, item in quoted if item.trajectory_id == run.id]
    origin = run.origin
    places = [(name, item.pointer.split("/")[2:3]) for name, item in own if item.pointer.startswith("/messages/")]
    quotes = [(name, int(place)) for name, [place] in places if place.isdigit()]
    return {
        "id": run.id,
        "trial": run.trial,
        "passed": run.passed,
        "status": "" if run.status == "ok" else f"{run.status} {run.status_reason}".strip(),
        "place": "" if origin is None else f"{origin.file}:{origin.line}" if origin.line else origin.file,
        **describe_messages(run, quoted, 0),
        "later": [[name, place] for name, place in quotes if place >= MOST_MESSAGES],
    }


def describe_messages(
    run: Trajectory, quoted: Sequence[Quoted], start: int, most: int = MOST_MESSAGES, longest: int = LONGEST_MESSAGE
) -> dict[str, Any]:
    """Describe messages of a run.

    Args:
        run: the run.
        quoted: quotes of the findings on its task.
        start: place of the first message, from 0.
        most: messages at most.
        longest: characters of a message; the beginning of a longer one is kept.

    Returns:
        ``messages``, and how many ``more`` follow.
    """
    own = [(name, item) for name, item in quoted if item.trajectory_id == run.id]
    shown = list(enumerate(run.messages))[start : start + most]
    return {
        "messages": [_message(message, f"/messages/{i}", own, longest) for i, message in shown],
        "more": max(len(run.messages) - start - most, 0),
    }


def _message(message: Message, pointer: str, quoted: Sequence[Quoted], longest: int) -> dict[str, Any]:
    own = [(name, item) for name, item in quoted if f"{item.pointer}/".startswith(f"{pointer}/")]
    calls = [f"{call.name} {canonical_json(call.arguments)}" for call in message.tool_calls]
    return {
        "role": message.role,
        "name": message.tool_name or "",
        "text": pieces(message.content, spans(message.content, own), longest),
        "calls": [
            pieces(call, _spans_of_call(call, f"{pointer}/tool_calls/{i}", own), longest)
            for i, call in enumerate(calls)
        ],
        "cut": any(len(text) > longest for text in (message.content, *calls)),
    }


def _spans_of_call(call: str, pointer: str, quoted: Sequence[Quoted]) -> list[Span]:
    """Find quotes in a call as it is shown; a quote of the whole call marks all of it."""
    whole = [(0, len(call), name) for name, item in quoted if item.pointer == pointer]
    return whole or spans(call, [(name, item) for name, item in quoted if f"{item.pointer}/".startswith(f"{pointer}/")])


def spans(text: str, quoted: Iterable[Quoted]) -> list[Span]:
    """Find quotes in a text, in the words of the benchmark's file where they are known.

    Args:
        text: the text.
        quoted: quotes that belong to it; one that does not occur in it is left out.
    """
    found = []
    for name, item in quoted:
        for words in (item.native.text if item.native else "", item.quote):
            at = text.find(words) if words else -1
            if at >= 0:
                found.append((at, at + len(words), name))
                break
    return found
