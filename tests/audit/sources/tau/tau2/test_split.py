from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.json_records import read_json_array
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from tests.audit.sources.tau.tau2.conftest import ASSERTED, write


def _raw(path: Path) -> list[bytes]:
    return [record.raw for record in read_json_array(path, path.name, Quarantine())]


def test_kept_tasks_stay_byte_identical_with_their_ids(checkout: Path, tmp_path: Path) -> None:
    out = tmp_path / "split"
    source = Tau2Bench(checkout)
    keep = ["airline/1", f"telecom/{ASSERTED['id']}"]
    files = source.write_split(keep, out)
    for domain, position in (("airline", 1), ("telecom", 1)):
        path = Path("data") / "tau2" / "domains" / domain / "tasks.json"
        assert _raw(out / path) == [_raw(checkout / path)[position]]
    assert len(files) == len(set(files)) == 12
    assert all(file.is_file() for file in files)
    originals = {task.id: task for task in source.tasks(Quarantine())}
    again = list(Tau2Bench(out).tasks(Quarantine()))
    assert [task.id for task in again] == keep
    assert [task.ground_truth for task in again] == [originals[task_id].ground_truth for task_id in keep]
    assert again[1].environment.tools == originals[keep[1]].environment.tools


def test_domains_that_share_tasks_keep_what_either_keeps(checkout: Path, tmp_path: Path) -> None:
    source = Tau2Bench(checkout, ["telecom", "telecom-workflow"])
    ids = [task.id for task in source.tasks(Quarantine())]
    source.write_split([ids[0], ids[3]], tmp_path / "split")
    assert len(_raw(tmp_path / "split/data/tau2/domains/telecom/tasks.json")) == 2


def test_an_unknown_id_is_refused(checkout: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such task: airline/7"):
        Tau2Bench(checkout).write_split(["airline/7"], tmp_path)


def test_splits_stay_readable(checkout: Path, tmp_path: Path) -> None:
    write(checkout / "data/tau2/domains/airline/split_tasks.json", {"base": ["0", "1"]})
    Tau2Bench(checkout, ["airline"]).write_split(["airline/1"], tmp_path / "split")
    assert [task.id for task in Tau2Bench(tmp_path / "split").tasks(Quarantine())] == ["airline/1"]
