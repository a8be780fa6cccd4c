"""A small benchmark with runs, audited by one thread and elsewhere."""

from pathlib import Path
from typing import Any

from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_outputs import AuditOutcome
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.taxonomy import GroundTruth, ToolCall
from tests.builders import make_run, make_task


def write_library(folder: Path, tasks: int) -> Path:
    """Every tenth task has a string where the schema says integer."""
    folder.mkdir(parents=True)
    written = []
    for i in range(tasks):
        book = f"book-{i}" if i % 10 == 0 else i
        call = ToolCall(name="lend_book", arguments={"book_id": book, "member": f"Member {i}"})
        turn = [{"role": "user", "content": f"Lend {book} to Member {i}."}]
        truth = GroundTruth(semantics="required", turns=((call,),))
        written.append(make_task(f"lib/{i}", ground_truth=truth, user={"kind": "scripted", "turns": [turn]}))
    runs = [
        make_run(task.id, model, passed=(i + m) % 3 != 0)
        for i, task in enumerate(written)
        for m, model in enumerate("AB")
    ]
    (folder / "tasks.jsonl").write_text("".join(t.model_dump_json(exclude={"origins"}) + "\n" for t in written))
    (folder / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs))
    return folder


def settings_of(
    benchmark: Path, out: Path, workers: int = 1, reuse: str | None = None, **scale_out: Any
) -> AuditSettings:
    runs = (str(benchmark / "runs.jsonl"),)
    return AuditSettings(
        source="native",
        path=str(benchmark),
        runs=runs,
        out=str(out),
        workers=workers,
        reuse=reuse,
        scale_out=scale_out,
    )


def audit(benchmark: Path, out: Path, workers: int = 1, **scale_out: Any) -> AuditOutcome:
    return run_audit(AuditInput(settings_of(benchmark, out, workers, **scale_out)))


def contents(folder: Path) -> dict[str, bytes]:
    """All outputs, without what a rerun continues from."""
    files = (path for path in folder.rglob("*") if path.is_file() and "work" not in path.relative_to(folder).parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
