"""Sheets on which people score judged attempts, or the feedback that agents got; nothing on them names a model."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agenthard.agency.judges import Blinder
from agenthard.audit.sources.base import Source
from agenthard.flows.agency_runs import RELEASE
from agenthard.flows.errors import CommandError
from agenthard.reports.alignment.ratings import Rated, RatingItem, RatingKey
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

MOST_TEXT = 20_000
"""Characters of one text on a sheet; the rest is counted."""


def tasks_of(paths: Sequence[Path]) -> dict[str, AgentTask]:
    """Read the tasks of those paths that a source recognises, by id; runs of other paths hold their own texts."""
    from agenthard.audit.sources.registry import sources

    release: type[Source] = sources()[RELEASE]
    found: dict[str, AgentTask] = {}
    for path in paths:
        if path.is_dir() and release.recognises(path):
            found |= {task.id: task for task in release(path).read_tasks()[0]}
    return found


def make_sheet(
    runs: Sequence[Trajectory], tasks: dict[str, AgentTask], rated: Rated, count: int, seed: int
) -> tuple[list[dict[str, Any]], RatingKey]:
    """Draw items at random, at most one of each task, and lay out their lines.

    Args:
        runs: the runs.
        tasks: the tasks by id, where they are at hand.
        rated: what is scored: attempts that models judged, or feedback on attempts that were tried again.
        count: items to draw.
        seed: seed of the draw.

    Raises:
        CommandError: the runs hold no such item.
    """
    candidates = _verdicts(runs) if rated == "verdicts" else _feedbacks(runs)
    if not candidates:
        what = "attempts that a model judged" if rated == "verdicts" else "attempts that were tried again with feedback"
        raise CommandError(f"the runs hold no {what}: give a folder or file whose runs have judgements")
    draw = random.Random(seed)
    draw.shuffle(candidates)
    first = {run.task_id: (run, text) for run, text in reversed(candidates)}
    chosen = draw.sample(sorted(first), min(count, len(first)))
    blinder = Blinder(models={run.model for run in runs} | _judges(runs), stated=_texts(tasks))
    lines, items = [], []
    for number, task_id in enumerate(chosen, start=1):
        run, text = first[task_id]
        name = f"{rated[0]}-{number:03}"
        about = {"item": name, "annotator": None, "score": None, "note": "", "scale": _SCALES[rated]}
        shown = {"messages": _conversation(run, blinder)} if rated == "verdicts" else {"feedback": blinder.mask(text)}
        lines.append({**about, "task": _task(task_id, tasks, run, blinder), **shown})
        items.append(
            RatingItem(
                item=name,
                run=run.id,
                task_id=task_id,
                cluster=task_id.rsplit("/", 1)[0],
                scores=_scores(run) if rated == "verdicts" else {},
            )
        )
    return lines, RatingKey(rated=rated, seed=seed, available=len(first), items=tuple(items))


_SCALES: dict[Rated, str] = {
    "verdicts": "0 (nothing that the criteria ask) to 10 (every criterion holds); 6 passes",
    "feedback": "0 (wrong or of no use) to 5 (true, and says what to do next)",
}


def _verdicts(runs: Sequence[Trajectory]) -> list[tuple[Trajectory, str]]:
    return [
        (run, "")
        for run in runs
        if run.score is not None
        and run.status in ("ok", "agent_error")
        and any(each.kind != "script" and each.score is not None for each in run.judgements)
    ]


def _feedbacks(runs: Sequence[Trajectory]) -> list[tuple[Trajectory, str]]:
    """Pair each attempt that was tried again with what its agent was told: by a simulated user, or the judges."""
    by_id = {run.id: run for run in runs}
    found = []
    for run in runs:
        before = by_id.get(run.retry_of or "")
        if before is None:
            continue
        told = [message.content for message in run.messages if message.role == "user"] if before.user_model else []
        text = told[0] if told else "\n\n".join(each.reason for each in before.judgements if each.reason)
        if text:
            found.append((before, text))
    return found


def _judges(runs: Sequence[Trajectory]) -> set[str]:
    return {each.judge for run in runs for each in run.judgements if each.kind != "script"}


def _scores(run: Trajectory) -> dict[str, float]:
    found = {"score": run.score or 0.0}
    for each in run.judgements:
        if each.kind != "script" and each.score is not None:
            found[f"{each.judge} ({each.kind})"] = each.score
    return found


def _texts(tasks: dict[str, AgentTask]) -> list[str]:
    return [text for task in tasks.values() for _, text in task.user_texts()]


def _task(task_id: str, tasks: dict[str, AgentTask], run: Trajectory, blinder: Blinder) -> dict[str, Any]:
    """Return the task as people see it: from the benchmark, or else from the first message of the run."""
    task = tasks.get(task_id)
    if task is None:
        said = next((message.content for message in run.messages if message.role == "user"), "")
        return {"id": task_id, "query": _cut(blinder.mask(said)), "criteria": None}
    criteria = task.metadata.get("criteria")
    return {
        "id": task_id,
        "query": task.metadata.get("query"),
        "criteria": list(criteria) if isinstance(criteria, list | tuple) else None,
    }


def _conversation(run: Trajectory, blinder: Blinder) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for message in run.messages:
        if message.role == "user":
            continue
        calls = [{"name": call.name, "arguments": blinder.mask(str(call.arguments))} for call in message.tool_calls]
        found.append(
            {
                "role": message.role,
                "content": _cut(blinder.mask(message.content)),
                **({"calls": calls} if calls else {}),
            }
        )
    return found


def _cut(text: str) -> str:
    return text if len(text) <= MOST_TEXT else f"{text[:MOST_TEXT]}\n[{len(text) - MOST_TEXT} characters left out]"
