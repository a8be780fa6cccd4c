import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.native_text import origin_of
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.native import Native
from agenthard.taxonomy import Origin
from tests.builders import LEND, make_run, make_task


def write(folder: Path, tasks: list[Any], environments: list[Any] = (), runs: list[Any] = ()) -> Path:  # type: ignore[assignment]
    for name, rows in (("tasks", tasks), ("environments", environments), ("runs", runs)):
        if rows:
            text = "".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
            (folder / f"{name}.jsonl").write_text(text, encoding="utf-8")
    return folder


def plain(task_id: str, **changes: Any) -> dict[str, Any]:
    data = make_task(task_id).model_dump(mode="json", exclude={"origins", "native_id"})
    return {**data, "environment": {"$ref": "library"}, **changes}


LIBRARY = {"name": "library", "tools": [LEND.model_dump(mode="json")], "policy": "Be kind."}


def test_tasks_share_the_environment_they_name(tmp_path: Path) -> None:
    source = Native(write(tmp_path, [plain("a"), plain("b", subtask="returns")], [LIBRARY]))
    quarantine = Quarantine()
    first, second = source.tasks(quarantine)
    assert quarantine.items == []
    assert first.environment is second.environment
    assert first.native_id == "a"
    assert first.origins[""].line == 1
    assert first.environment.tools[0].origin is not None
    assert first.environment.tools[0].origin.pointer == "/tools/0"
    assert origin_of(first, "/environment/policy") == Origin(file="environments.jsonl", line=1, pointer="/policy")
    assert [t.id for t in Native(tmp_path, ["returns"]).tasks(Quarantine())] == ["b"]


def test_wrong_records_are_quarantined_with_line_and_pointer(tmp_path: Path) -> None:
    tasks = [
        plain("a"),
        '{"id": ',
        plain("b", user={"kind": "ghost"}),
        plain("a"),
        plain("c", environment={"$ref": "x"}),
    ]
    quarantine = Quarantine()
    found = list(Native(write(tmp_path, tasks, [LIBRARY])).tasks(quarantine))
    assert [task.id for task in found] == ["a"]
    assert [(q.line, q.pointer, q.task_id) for q in quarantine.items] == [
        (2, "", None),
        (3, "/user/kind", "b"),
        (4, "", "a"),
        (5, "/environment/$ref", None),
    ]


def test_runs_and_split(tmp_path: Path) -> None:
    runs = [make_run("a").model_dump(mode="json", exclude={"id", "origin"}), {"task_id": "a"}]
    source = Native(write(tmp_path, [plain("a"), plain("b")], [LIBRARY], runs))
    quarantine = Quarantine()
    (run,) = source.runs(tmp_path, quarantine)
    assert run.id == "runs.jsonl:1"
    assert (quarantine.items[0].kind, quarantine.items[0].line) == ("run", 2)
    out = tmp_path / "out"
    out.mkdir()
    source.write_split(["b"], out)
    assert (out / "tasks.jsonl").read_bytes() == (tmp_path / "tasks.jsonl").read_bytes().splitlines(keepends=True)[1]
    assert [task.id for task in Native(out).tasks(Quarantine())] == ["b"]


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"tasks\.jsonl"):
        Native(tmp_path)
    with pytest.raises(SourceError, match="no run file"):
        next(iter(Native(write(tmp_path, [plain("a")])).runs(tmp_path, Quarantine())))
