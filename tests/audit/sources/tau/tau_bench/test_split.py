import ast
import json
from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.json_records import read_json_array
from agenthard.audit.sources.tau.tau_bench import TauBench
from tests.audit.sources.tau.tau_bench.conftest import TASKS_TEST_PY


def test_kept_elements_stay_byte_identical_and_ids_are_mapped(export: Path, tmp_path: Path) -> None:
    out = tmp_path / "split"
    files = TauBench(export).write_split(["airline/0", "airline/2", "retail/0"], out)
    assert sorted(file.relative_to(out).as_posix() for file in files) == sorted(
        [f"{d}/{f}.json" for d in ("airline", "retail") for f in ("tasks", "tools", "policy", "db")] + ["ids.json"]
    )
    before = [r.raw for r in read_json_array(export / "airline" / "tasks.json", "", Quarantine())]
    after = [r.raw for r in read_json_array(out / "airline" / "tasks.json", "", Quarantine())]
    assert after == [before[0], before[2]]
    assert json.loads((out / "ids.json").read_text()) == {
        "airline/0": "airline/0",
        "airline/1": "airline/2",
        "retail/0": "retail/0",
    }
    for name in ("tools", "policy", "db"):
        assert (out / "airline" / f"{name}.json").read_bytes() == (export / "airline" / f"{name}.json").read_bytes()
    again = list(TauBench(out).tasks(Quarantine()))
    assert [task.user.instruction for task in again][1] == "You are Cy."


def test_a_domain_of_which_nothing_is_kept_is_empty(export: Path, tmp_path: Path) -> None:
    TauBench(export).write_split(["retail/0"], tmp_path / "split")
    quarantine = Quarantine()
    assert [task.id for task in TauBench(tmp_path / "split").tasks(quarantine)] == ["retail/0"]
    assert quarantine.items == []


def test_only_open_splits_are_written(export: Path, tmp_path: Path) -> None:
    out = tmp_path / "split"
    TauBench(export, ["retail", "retail-dev"]).write_split(["retail/0", "retail-dev/1"], out)
    assert len(json.loads((out / "retail" / "tasks_dev.json").read_text())) == 1
    assert not (out / "airline").exists()


def test_an_unknown_id_is_refused(export: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such task: airline/9"):
        TauBench(export).write_split(["airline/0", "airline/9"], tmp_path / "split")


def test_a_python_list_keeps_its_source_and_what_stands_around_it(checkout: Path, tmp_path: Path) -> None:
    out = tmp_path / "split"
    source = TauBench(checkout)
    before = {task.id: task for task in source.tasks(Quarantine())}
    files = source.write_split(["airline/0", "airline/3"], out)
    written = out / "tau_bench" / "envs" / "airline" / "tasks_test.py"
    assert written in files
    text = written.read_text()
    ast.parse(text)
    first = TASKS_TEST_PY[TASKS_TEST_PY.index("Task(\n") : TASKS_TEST_PY.index("    ),\n    # Bo") + 5]
    assert first in text
    assert text.startswith("from tau_bench.types import Action, Task\n")
    assert text.endswith('EXTRA = "kept as it is"\n')
    after = list(TauBench(out).tasks(Quarantine()))
    assert [task.user for task in after] == [before["airline/0"].user, before["airline/3"].user]
    assert after[0].ground_truth == before["airline/0"].ground_truth
    assert json.loads((out / "ids.json").read_text()) == {"airline/0": "airline/0", "airline/1": "airline/3"}


def test_windows_line_ends_survive_in_a_python_list(checkout: Path, tmp_path: Path) -> None:
    path = checkout / "tau_bench" / "envs" / "airline" / "tasks_test.py"
    path.write_bytes(TASKS_TEST_PY.replace("\n", "\r\n").encode())
    TauBench(checkout).write_split(["airline/0", "airline/1"], tmp_path / "split")
    written = (tmp_path / "split" / path.relative_to(checkout)).read_bytes()
    assert b'"Book two seats, \xc3\xa9 and all.",\r\n' in written
    assert len(list(TauBench(tmp_path / "split").tasks(Quarantine()))) == 2
