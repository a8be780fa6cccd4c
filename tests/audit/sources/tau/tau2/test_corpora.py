from collections import Counter
from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.json_records import read_json_array
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy.pointer import resolve

pytestmark = pytest.mark.corpora


@pytest.fixture(scope="module")
def source(corpora: Path) -> Tau2Bench:
    return Tau2Bench(corpora / "tau2-bench_v0.1.3")


def test_all_tasks_are_read(source: Tau2Bench) -> None:
    quarantine = Quarantine()
    tasks = list(source.tasks(quarantine))
    assert quarantine.items == []
    assert Counter(task.subtask for task in tasks) == {"airline": 50, "retail": 114, "telecom": 114}
    assert len({id(task.environment) for task in tasks}) == 3
    assert source.version().label == "v0.1.3"
    scored = Counter((task.subtask, check.kind) for task in tasks for check in task.evaluation.checks if check.scored)
    assert scored == {
        ("airline", "final_state"): 50,
        ("airline", "output_substring"): 10,
        ("retail", "final_state"): 114,
        ("retail", "output_substring"): 63,
        ("telecom", "state_assertion"): 209,
        ("telecom", "tool_calls"): 20,
    }
    telecom = tasks[-1].environment
    assert (len(telecom.tools), len(telecom.user_tools), set(telecom.state)) == (13, 30, {"assistant", "user"})
    assert telecom.policy.startswith("<main_policy>\n# Telecom Agent Policy")


def test_every_origin_leads_to_the_value(source: Tau2Bench, corpora: Path) -> None:
    files: dict[str, list[object]] = {}
    compared = 0
    for task in source.tasks(Quarantine()):
        file = task.origins[""].file
        if file not in files:
            files[file] = [r.value for r in read_json_array(source.root / file, file, Quarantine())]
        for pointer, call in task.gold_calls():
            native = resolve(files[file], task.origins[pointer].pointer)
            assert (native["name"], native["arguments"]) == (call.name, call.arguments)
            compared += 1
        for pointer, text in task.user_texts():
            assert resolve(files[file], task.origins[pointer].pointer) == text
    assert compared == 148 + 553 + 516


def test_all_runs_are_read(source: Tau2Bench, corpora: Path) -> None:
    quarantine = Quarantine()
    runs = [
        (run.id, run.origin.file if run.origin else "", run.status, run.passed)
        for run in source.runs(corpora / "trajectories", quarantine)
    ]
    # One submission numbers the tasks otherwise: the ground truths in its logs belong to other tasks than its ids name.
    assert Counter(item.file for item in quarantine.items) == {"tau2_airline.jsonl.gz": 43, "tau2_retail.jsonl.gz": 111}
    assert all("was scored against another ground truth, that of " in item.reason for item in quarantine.items)
    assert Counter(file for _, file, _, _ in runs) == {
        "tau2_airline.jsonl.gz": 1434 - 43,
        "tau2_retail.jsonl.gz": 418 - 111,
        "tau2_telecom.jsonl.gz": 111,
    }
    assert len({run_id for run_id, *_ in runs}) == len(runs)
    assert Counter(status for *_, status, _ in runs) == {"ok": 1950 - 154, "agent_error": 13}
    assert all(passed is not None for *_, passed in runs)


def test_a_split_of_the_real_files_is_byte_identical(source: Tau2Bench, tmp_path: Path) -> None:
    keep = [task.id for task in source.tasks(Quarantine())][::3]
    source.write_split(keep, tmp_path)
    assert [task.id for task in Tau2Bench(tmp_path).tasks(Quarantine())] == keep
    for domain in ("airline", "retail", "telecom"):
        name = f"data/tau2/domains/{domain}/tasks.json"
        kept = {r.raw for r in read_json_array(tmp_path / name, name, Quarantine())}
        assert kept <= {r.raw for r in read_json_array(source.root / name, name, Quarantine())}
