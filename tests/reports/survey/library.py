"""Finished audits of a small native benchmark, made by the steps of an audit, and a survey of them."""

from collections.abc import Collection, Mapping
from pathlib import Path

from agenthard.flows.audit_plan import AuditSettings
from agenthard.taxonomy import GroundTruth, ToolCall
from tests.builders import make_run, make_task
from tests.flows.audits import audit_by_steps

ATTACK = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
TASKS = 12
MODELS = {"ada": "111111110000", "bob <b>": "111111000000", ATTACK: "101010000000"}
"""Recorded runs: one letter per task, 1 passed, 0 failed, x infrastructure error."""


def write_library(folder: Path, flawed: Collection[int], models: Mapping[str, str]) -> Path:
    """Write the benchmark: where a task is flawed, its ground truth has a text where the schema says integer."""
    folder.mkdir(parents=True)
    lines = []
    for i in range(TASKS):
        book = f"book-{i}" if i in flawed else i
        call = ToolCall(name="lend_book", arguments={"book_id": book, "member": f"Member {i}"})
        task = make_task(
            f"lib/{i}",
            subtask=ATTACK if i % 2 else "lending",
            ground_truth=GroundTruth(semantics="required", turns=((call,),)),
            user={"kind": "scripted", "turns": [[{"role": "user", "content": f"Lend {book} to Member {i}, please."}]]},
        )
        lines.append(task.model_dump_json(exclude={"origins"}))
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    runs = [
        make_run(f"lib/{i}", model, None if mark == "x" else mark == "1")
        for model, marks in models.items()
        for i, mark in enumerate(marks)
    ]
    (folder / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in runs), encoding="utf-8")
    return folder


def audit_library(
    root: Path,
    name: str,
    flawed: Collection[int] = (0, 5),
    models: Mapping[str, str] = MODELS,
    *,
    policy: str = "",
    ignore: tuple[str, ...] = (),
) -> Path:
    """Audit a small benchmark into ``root / name``; without models no runs are given."""
    benchmark = write_library(root / f"{name}-benchmark", flawed, models)
    runs = (str(benchmark / "runs.jsonl"),) if models else ()
    rules = None
    if policy:
        (root / f"{name}-policy.yaml").write_text(policy, encoding="utf-8")
        rules = str(root / f"{name}-policy.yaml")
    out = root / name
    audit_by_steps(
        AuditSettings(source="native", path=str(benchmark), runs=runs, out=str(out), policy=rules, ignore=ignore)
    )
    return out
