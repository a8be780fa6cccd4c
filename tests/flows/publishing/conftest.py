"""Audited benchmarks that are published: one written by hand, and the demo benchmark."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.publishing.publish import publish
from agenthard.flows.publishing.records import Published, PublishSettings
from agenthard.taxonomy import AgentTask, GroundTruth, ToolCall
from tests.builders import make_task
from tests.flows.audits import audit_by_steps

BOOKS: list[Any] = [1, 2, "three", 4, "5", 6]
"""Numbers of books in the ground truths; the tool takes an integer, so two tasks are dropped."""
DEMO = Path(__file__).parents[3] / "flows" / "demo" / "data" / "flawed"


def lending(number: int, book: Any, **fields: Any) -> AgentTask:
    call = ToolCall(name="lend_book", arguments={"book_id": book, "member": f"Member {number}"})
    task = {
        "user": {
            "kind": "scripted",
            "turns": [[{"role": "user", "content": f"Lend book {book} to Member {number}."}]],
        },
        "ground_truth": GroundTruth(semantics="required", turns=((call,),)),
        "evaluation": {"checks": [{"kind": "tool_calls", "scored": True}]},
        **fields,
    }
    return make_task(f"lib/{number}", **task)


def write_library(folder: Path, tasks: list[AgentTask]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [task.model_dump_json(exclude={"origins"}) for task in tasks]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def library(**changed: AgentTask) -> list[AgentTask]:
    """The tasks; a keyword such as ``t3`` puts another one in the place of number 3."""
    return [changed.get(f"t{i}") or lending(i, book) for i, book in enumerate(BOOKS)]


Audit = Callable[[list[AgentTask]], Path]


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    """Audits tasks in the one folder of the benchmark, into a new run folder."""
    count = iter(range(100))

    def run(tasks: list[AgentTask]) -> Path:
        out = tmp_path / f"run-{next(count)}"
        folder = write_library(tmp_path / "library", tasks)
        audit_by_steps(AuditSettings(source="native", path=str(folder), out=str(out)))
        return out

    return run


def published(run: Path, out: Path, **settings: Any) -> Published:
    return publish(PublishSettings(run=str(run), out=str(out), **settings))


def contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="session")
def demo_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The audited demo benchmark; tests only read it, or write below ``publication``."""
    folder = tmp_path_factory.mktemp("demo")
    shutil.copytree(DEMO, folder / "flawed")
    audit_by_steps(AuditSettings(source="native", path=str(folder / "flawed"), out=str(folder / "run")))
    return folder / "run"
