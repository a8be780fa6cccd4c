"""The run files (``meta_eval.json``) of AgencyBench as trajectories, one per attempt."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from agenthard.audit.idleness import idle_sign
from agenthard.audit.sources.agencybench.layout import RUN_FILE, scenario_of
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.json_text import load_document
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, require_shallow
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, Message
from agenthard.taxonomy.trajectory import Judgement, RunStatus, Trajectory


def read_run_files(
    path: Path, known: Mapping[str, AgentTask], domains: Sequence[str], quarantine: Quarantine
) -> Iterator[Trajectory]:
    """Stream the attempts in a run file, or in all below a folder.

    Args:
        path: the file or folder; the folders CAPABILITY/scenarioN above a file tell its scenario.
        known: tasks that were read, by id.
        domains: capabilities that are open; runs of others are skipped. Empty means all.
        quarantine: collects what cannot be read.

    Raises:
        SourceError: No run file.
    """
    files = [path] if path.is_file() else sorted(path.rglob(RUN_FILE))
    if not files:
        raise SourceError(f"{path}: no {RUN_FILE} here or below; give the benchmark's folder, or one run file")
    for file in files:
        name = file.name if path.is_file() else file.relative_to(path).as_posix()
        scenario = scenario_of(file)
        if scenario is None:
            reason = "the folders above do not tell the scenario; keep the file at CAPABILITY/scenarioN/RUN/"
            quarantine.add(name, reason, kind="run")
        elif not domains or scenario.split("/")[0] in domains:
            yield from _read(file, name, scenario, known, quarantine)


def _read(
    file: Path, name: str, scenario: str, known: Mapping[str, AgentTask], quarantine: Quarantine
) -> Iterator[Trajectory]:
    try:
        document = expect(load_document(file), dict, "")
        require_shallow(document)
        json.dumps(document, ensure_ascii=False).encode()
        entries = list(_entries(document))
        model = model_of(document, file.parent.name)
    except (OSError, ValueError, RecursionError, MalformedRecordError) as error:
        quarantine.add(name, f"cannot be read: {error}; none of its runs were read", kind="run")
        return
    scorer = str(document.get("scorer") or "")
    for pointer, subtask, attempts in entries:
        task_id, before = f"{scenario}/{subtask}", None
        for index, attempt in enumerate(attempts):
            place = f"{pointer}/attempts/{index}"
            try:
                if task_id not in known:
                    raise MalformedRecordError(f"unknown task {task_id}", advice="the run belongs to another release")
                run = Trajectory(
                    id=f"{file.parent.name}/{task_id}#{index + 1}",
                    task_id=task_id,
                    model=model,
                    trial=index,
                    protocol=file.parent.name,
                    retry_of=before,
                    origin=Origin(file=name, pointer=place),
                )
                yield to_run(run, expect(attempt, dict, ""), scorer)
                before = run.id
            except (MalformedRecordError, ValidationError, AttributeError, TypeError) as error:
                inside = error.pointer if isinstance(error, MalformedRecordError) else ""
                quarantine.add(name, _reason(error), pointer=f"{place}{inside}", kind="run", task_id=task_id)


def _entries(document: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Any]]]:
    """Stream place, name and attempts of each subtask; they are in an object by name, or in a list."""
    subtasks = document.get("subtasks")
    if isinstance(subtasks, dict):
        rows = [(join("/subtasks", name), name, entry) for name, entry in subtasks.items()]
    else:
        listed = expect(subtasks, list, "/subtasks")
        rows = [(f"/subtasks/{i}", _name(entry, i), entry) for i, entry in enumerate(listed)]
    for pointer, name, entry in rows:
        attempts = expect(entry, dict, pointer).get("attempts")
        yield pointer, name, expect(attempts, list, f"{pointer}/attempts")


def _name(entry: Any, index: int) -> str:
    found = (entry.get("name") or entry.get("subtask")) if isinstance(entry, dict) else None
    return str(found or f"subtask{index + 1}")


def _reason(error: Exception) -> str:
    if isinstance(error, ValidationError):
        return f"the attempt is not a valid run: {error.errors()[0]['msg']}; fix it"
    return (
        str(error)
        if isinstance(error, MalformedRecordError)
        else f"a field has the wrong type ({error}); fix the attempt"
    )


TOP_SCORE = 10.0
PASS_SCORE = 6.0
"""A run passes with 60 % of the highest score."""

_REPLIES = ("assistant_text", "agent_output", "assistant_response", "assistant_response_excerpt")
_TOLD = ("feedback", "notes", "validator_message", "judge_comment")
_RESULT = re.compile(r"(?:^|(?<=\)))🔧 Tool result:", re.M)
"""A result begins a line, or follows its call on the same line."""
_RUN_ROOT = re.compile(r'(?:\btask\d+|"repo_path": ")/?(?P<model>[A-Za-z][\w.]*-[\w.-]+)[/"]')
"""Run folders are named TASK/MODEL/...; scenarios that work on a clone of a repository leave TASK out."""
_GATEWAY = re.compile(r"^(?:.*/|[a-z]+_(?=\w+-))")


class Verdict(NamedTuple):
    """Whether an attempt can be scored."""

    status: RunStatus
    """Status of the run."""
    reason: str
    """Why it is not ok: a word of ours, a colon, what the log says."""


def to_run(run: Trajectory, attempt: Mapping[str, Any], scorer: str) -> Trajectory:
    """Add to a run what its attempt logs.

    Args:
        run: the run, with its identity only.
        attempt: the logged attempt.
        scorer: what the run file calls its scorer; empty when it does not say.

    Raises:
        MalformedRecordError: when the attempt has no score, or a field has the wrong type.
    """
    judgements = tuple(_judgements(attempt, scorer))
    scores = [item.score for item in judgements]
    values = [score for score in scores if score is not None]
    if not values or len(values) < len(scores):
        raise MalformedRecordError("the attempt has no score: no score, judge_score, success or judge's result")
    score = sum(values) / len(values)
    filled = run.model_copy(
        update={
            "score": score,
            "messages": tuple(_messages(attempt)),
            "judgements": judgements,
            "usage": _usage(attempt),
            "ending": attempt["status"] if isinstance(attempt.get("status"), str) else None,
        }
    )
    verdict = _verdict(filled)
    scorable = verdict.status in ("ok", "agent_error")
    outcome = {
        "status": verdict.status,
        "status_reason": verdict.reason,
        "passed": score >= PASS_SCORE if scorable else None,
    }
    return filled.model_copy(update=outcome)


def model_of(document: Mapping[str, Any], folder: str) -> str:
    """Return the model's name without the prefix of a gateway: the name in the file, else that of the folder."""
    named = document.get("model")
    if not isinstance(named, str):
        root = _RUN_ROOT.search(json.dumps(document, ensure_ascii=False))
        named = root["model"] if root else folder
    return _GATEWAY.sub("", named) or folder


def _judgements(attempt: Mapping[str, Any], scorer: str) -> Iterator[Judgement]:
    if "text_result" in attempt:
        artifacts = attempt.get("artifacts") or {}
        metadata = expect(artifacts, dict, "/artifacts").get("metadata") or {}
        harness = tuple(map(str, [*(metadata.get("errors") or ()), *(metadata.get("warnings") or ())]))
        for kind in ("text", "vision"):
            result = expect(attempt.get(f"{kind}_result"), dict, f"/{kind}_result")
            shown = tuple(str(item.get("path", item)) for item in result.get("input_files") or () if item)
            yield Judgement(
                judge=str(result.get("model") or "unnamed"),
                kind="vision" if kind == "vision" else "text",
                score=_number(result.get("score"), f"/{kind}_result/score"),
                reason=str(result.get("reason") or ""),
                shown=shown if kind == "vision" else None,
                prompt=result["input_prompt"] if isinstance(result.get("input_prompt"), str) else None,
                diagnostics=harness,
            )
        return
    told = next((_as_text(attempt[name]) for name in _TOLD if attempt.get(name)), "")
    if "judge_score" in attempt:
        raw = attempt.get("judge_raw")
        judge = str((raw.get("model") if isinstance(raw, dict) else None) or "unnamed")
        score = _number(attempt["judge_score"], "/judge_score")
        yield Judgement(judge=judge, kind="text", score=None if score is None else TOP_SCORE * score, reason=told)
        return
    judged = scorer == "llm-as-judge"
    yield Judgement(
        judge=scorer or "script", kind="text" if judged else "script", score=_script_score(attempt), reason=told
    )


def _script_score(attempt: Mapping[str, Any]) -> float | None:
    rubric = attempt.get("rubric")
    for holder, place in ((attempt, ""), (rubric, "/rubric")):
        if isinstance(holder, dict) and "score" in holder:
            return _number(holder["score"], f"{place}/score")
    return TOP_SCORE * bool(attempt["success"]) if isinstance(attempt.get("success"), bool) else None


def _number(value: Any, pointer: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MalformedRecordError(f"expected a number, found {type(value).__name__}", pointer)
    return float(value)


def _as_text(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _messages(attempt: Mapping[str, Any]) -> Iterator[Message]:
    """Stream prompt and reply; a reply that quotes tool results is cut before each of them.

    What the agent says after a result is in the result's message, because the log does not separate the two.
    """
    if isinstance(attempt.get("prompt"), str):
        yield Message(role="user", content=attempt["prompt"])
    reply = next((attempt[name] for name in _REPLIES if isinstance(attempt.get(name), str)), None)
    if reply is None:
        return
    starts = [match.start() for match in _RESULT.finditer(reply)]
    first = reply[: starts[0]] if starts else reply
    if first or not starts:
        yield Message(role="assistant", content=first)
    for begin, end in zip(starts, [*starts, len(reply)][1:], strict=True):
        yield Message(role="tool", content=reply[begin:end])


def _usage(attempt: Mapping[str, Any]) -> dict[str, float]:
    usage: dict[str, float] = {}
    lines = _number(attempt.get("diff_lines"), "/diff_lines")
    if lines is not None:
        usage["changed_lines"] = lines
    log = attempt.get("agent_messages")
    last = log[-1] if isinstance(log, list) and log and isinstance(log[-1], dict) else {}
    elapsed = (last.get("metadata") or {}).get("time_elapsed")
    if isinstance(elapsed, int | float):
        usage["seconds"] = elapsed / 1000
    return usage


def _verdict(run: Trajectory) -> Verdict:
    for item in run.judgements:
        timeouts = [text for text in item.diagnostics if "timed out" in text]
        if timeouts and not item.shown and item.kind == "vision":
            return Verdict("infrastructure_error", f"infra_timeout: {timeouts[0]}")
        if item.reason.startswith("Unable to parse judge JSON"):
            return Verdict("judge_error", "judge_error: the judge's reply was no JSON, and 0 was written")
    idle = idle_sign(run)
    if idle is not None:
        return Verdict("agent_error", f"agent_empty: the attempt {idle.kind}")
    failed = next((item.reason for item in run.judgements if item.reason.startswith("Plan application failed")), None)
    return Verdict("ok", "") if failed is None else Verdict("agent_error", f"plan_parse_error: {failed[:200]}")
