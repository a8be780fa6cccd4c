"""What a run folder holds and what is happening in it, read without disturbing the process that works there."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from agenthard.flows.audit_plan import AuditPlan
from agenthard.flows.checksums import FILE as CHECKSUMS
from agenthard.flows.errors import CommandError
from agenthard.flows.job_status import JUDGING, JobStatus, read_status
from agenthard.flows.run_folder import RunFolder
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.system import lock_file, process_exists

Kind = Literal["audit", "judging", "evaluation", "repair"]
State = Literal["working", "finished", "failed", "interrupted"]


class RunStatus(Record):
    """The state of a run folder."""

    run: str
    """Run folder."""
    kind: Kind
    """What it holds."""
    state: State
    """working: a process holds the folder; failed: the last command ended with an error; interrupted: it was killed."""
    command: str = ""
    """What the process does, or did when it ended early."""
    pid: int | None = None
    """Process that holds the folder."""
    host: str = ""
    """Machine that this process runs on."""
    stage: str = ""
    """What it does, or did when it ended early."""
    done: int = 0
    """Finished items of the stage."""
    total: int | None = None
    """Items of the stage; None where it has none."""
    shards_done: int | None = None
    """Shards of the audit whose result is on disk; None before it is planned."""
    shards: int | None = None
    """Shards of the audit."""
    per_second: float | None = None
    """Items of the stage per second since it began; None while unknown, or when no process works."""
    remaining_seconds: float | None = None
    """Estimated time until the stage ends, at this rate."""
    silent_seconds: float | None = None
    """Time since the process last reported a finished item."""
    error: str | None = None
    """Why the last command ended early."""
    gaps: tuple[str, ...] = ()
    """What was not read, not checked or not asked, in words; as far as the folder tells."""
    verifiable: bool = False
    """Whether the folder has a list of hashes, which `agenthard verify` compares."""


def run_status(run: Path, now: float | None = None) -> RunStatus:
    """Read the state of a run folder.

    Args:
        run: The folder.
        now: Seconds since 1970; None = now.

    Raises:
        CommandError: It is not a run folder.
    """
    kind = kind_of(run)
    if kind is None:
        raise CommandError(f"{run}: no run folder (no audit, judging, evaluation or repair began here); name another")
    known, holder = read_status(run / "work"), holder_of(run)
    if kind == "audit" and known is not None and known.command == JUDGING:
        kind = "judging"  # that has not marked its folder yet
    working = holder is not None
    status = RunStatus(
        run=str(run),
        kind=kind,
        state=_state(run, kind, working, known),
        gaps=tuple(_gaps(run)),
        verifiable=(run / CHECKSUMS).is_file(),
        **_shards(run),
    )
    if known is not None and (working or status.state in ("failed", "interrupted")):
        status = status.model_copy(update=_progress(known))
    if working:
        status = status.model_copy(update={"pid": holder or None})
        if known is not None:
            status = status.model_copy(update=_rate(known, time.time() if now is None else now))
    return status


def kind_of(run: Path) -> Kind | None:
    """Tell what a folder holds; None when it is not a run folder."""
    if (run / "judge" / "identity.json").is_file():
        return "judging"
    if (run / "repairs.json").is_file():
        return "repair"
    if (run / "work" / "episodes.sqlite").is_file() or (run / "work" / "identity.json").is_file():
        return "evaluation"
    audit = (run / "work" / "key", run / "work" / "lock", run / "findings.json")
    return "audit" if any(path.is_file() for path in audit) else None


def holder_of(run: Path) -> int | None:
    """Return the process that writes into a run folder; 0 when it is unknown which, None when there is none."""
    workers = run / "work" / "workers"
    if workers.is_dir() and any(_locked(path) for path in sorted(workers.iterdir())):
        known = read_status(run / "work")
        return known.pid if known is not None and process_exists(known.pid) else 0
    lock = run / "work" / "lock"
    try:
        written = lock.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return None
    # Only where a process has left its number is the lock tried, so that a writer that starts now is not refused.
    if not written or not _locked(lock):
        return None
    return int(written) if written.isdigit() else 0


def _locked(path: Path) -> bool:
    try:
        with path.open("r+", encoding="ascii") as lock:
            lock_file(lock, shared=True)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _state(run: Path, kind: Kind, working: bool, known: JobStatus | None) -> State:
    if working:
        return "working"
    if known is not None:
        return "interrupted" if known.error is None else "failed"
    finished = {"evaluation": run / "tables", "repair": run / "repairs.json"}.get(kind, run / "manifest.json")
    return "finished" if finished.exists() else "interrupted"


def _progress(known: JobStatus) -> dict[str, Any]:
    names = ("command", "host", "stage", "done", "total", "error")
    return {name: getattr(known, name) for name in names}


def _rate(known: JobStatus, now: float) -> dict[str, Any]:
    seconds, finished = known.updated - known.stage_started, known.done - known.done_before
    silent = {"silent_seconds": round(max(0.0, now - known.updated), 1)}
    if seconds <= 0 or finished <= 0:
        return silent
    rate = finished / seconds
    left = {} if known.total is None else {"remaining_seconds": round(max(0, known.total - known.done) / rate, 1)}
    return {**silent, **left, "per_second": round(rate, 3)}


def _shards(run: Path) -> dict[str, Any]:
    folder = RunFolder(run)
    try:
        plan = AuditPlan.model_validate_json((folder.work / "plan.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return {"shards": plan.shards, "shards_done": sum(folder.shard_file(n).is_file() for n in range(plan.shards))}


def _gaps(run: Path) -> Iterator[str]:
    """Say what the results in a folder do not cover."""
    try:
        manifest = json.loads((run / "manifest.json").read_bytes())
    except FileNotFoundError:
        yield "no result is written yet: what could not be read or checked is known when the audit ends"
        return
    except (OSError, ValueError) as error:
        yield f"manifest.json cannot be read ({type(error).__name__}); `agenthard verify` names what is damaged"
        return
    outcome = manifest.get("outcome", {})
    for name, words in _COUNTS.items():
        if outcome.get(name):
            yield f"{words}: {outcome[name]:,}"
    judge = manifest.get("judge", {})
    if isinstance(judge, dict) and judge.get("not_asked"):
        yield f"questions to judges without an answer: {judge['not_asked']:,}"


_COUNTS = {
    "not_checked": "tasks that no check could check",
    "quarantined": "task records that could not be read",
    "tasks_not_read": "tasks in files that were not read",
    "tasks_left_out": "tasks left out on purpose",
    "quarantined_runs": "records of runs that could not be used",
    "check_errors": "checks of a task that ended in an error",
}
"""Entries of an outcome that say what is missing, with the words for them."""
