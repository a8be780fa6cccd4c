from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.evaluation import UnaskedInVerdict
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.agencybench import AgencyBench
from agenthard.audit.sources.base import Quarantine
from agenthard.taxonomy import AgentTask, Finding, Status, Trajectory
from agenthard.taxonomy.trajectory import Judgement
from tests.audit.detectors.evaluation.open_tasks import open_task
from tests.builders import make_run


def run(task: AgentTask, reason: str, kind: str = "script") -> Trajectory:
    judgement = Judgement.model_validate({"judge": "script", "kind": kind, "score": 0.0, "reason": reason})
    return make_run(task.id, passed=False, judgements=(judgement,))


def findings(said: str, reason: str, kind: str = "script") -> list[Finding]:
    task = open_task(said)
    shard = check_shard([task], {task.id: [run(task, reason, kind)]}, [UnaskedInVerdict()])
    found, _ = conclude("lab", [task.id], [shard], [UnaskedInVerdict()])
    return list(found)


@pytest.mark.parametrize(
    ("said", "reason", "category"),
    [
        ("Write `summary.json`.", "Missing summary: out/step_summary.json", "too-strict"),
        ("Write app.py.", "<module 'app' from 'x'> does not have the attribute 'check_db'", "too-strict"),
        ("Write app.py.", "python: can't open file 'out/generate.py': No such file", "too-strict"),
        ("Sum up in `summary.json`.", "summary missing rows_total or rows_done", "too-strict"),
        ("Write it.", "No module named 'app.tools'", "too-strict"),
        ("Add a method (e.g. `_plan`).", "'Agent' object has no attribute '_plan'", "too-strict"),
        ("Write app.py.", "'MockResult' object has no attribute 'count'", "unreachable-score"),
        ("Write app.py.", "- Criterion not verifiable: Errors are handled...", "unreachable-score"),
    ],
)
def test_what_no_text_asks_for(said: str, reason: str, category: str) -> None:
    [finding] = findings(said, reason)
    assert finding.category == category
    assert finding.evidence[0].trajectory_id


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("Write `notes.md`.", "Missing notes: out/notes.md"),
        ("Write `app/tools/shell.py`.", "No module named 'app.tools'"),
        ("Implement `_plan(question)`.", "'Agent' object has no attribute '_plan'"),
        ("Write app.py.", "'dict' object has no attribute 'create'"),
        ("Write app.py.", "No module named 'numpy'"),
        ("Move all files.", "Missing files: ['a_one.py', 'b_two.py']"),
        ("Sum up `rows_done`.", "summary missing rows_total or rows_done"),
    ],
)
def test_what_is_asked_for_or_cannot_be_told(said: str, reason: str) -> None:
    assert findings(said, reason) == []


def test_a_judging_model_may_say_what_it_likes() -> None:
    assert findings("Write `summary.json`.", "Missing summary: step_summary.json", "text") == []


def test_without_a_script_nothing_is_checked() -> None:
    task = open_task("Write it.")
    detector = UnaskedInVerdict()
    shard = check_shard([task], {task.id: [run(task, "fine", "text")]}, [detector])
    _, [row] = conclude("lab", [task.id], [shard], [detector])
    assert row.status is Status.NOT_CHECKED


@pytest.mark.corpora
def test_agencybench(corpora: Path) -> None:
    source = AgencyBench(corpora / "agencybench")
    tasks = list(source.tasks(Quarantine()))
    runs: dict[str, list[Trajectory]] = {}
    for item in source.runs(corpora / "agencybench", Quarantine()):
        runs.setdefault(item.task_id, []).append(item)
    detector = UnaskedInVerdict()
    found, _ = conclude("ab", [t.id for t in tasks], [check_shard(tasks, runs, [detector])], [detector])
    touched = {task_id for finding in found for task_id in finding.task_ids}
    assert {"Code/scenario8/subtask1", "Code/scenario9/subtask1", "Research/scenario2/subtask5"} <= touched
