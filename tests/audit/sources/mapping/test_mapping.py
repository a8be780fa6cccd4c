"""Mistakes in a mapping are told with the key and the nearest name."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.mapping import MappingSource, load_mapping
from agenthard.audit.sources.mapping.mapping import (
    EnvironmentMap,
    Join,
    MappingFile,
    RunMap,
    ScoringMap,
    TruthMap,
    UserMap,
)
from agenthard.audit.sources.mapping.paths import PathSyntaxError, compile_path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"grund_truth": {}}, "unknown key 'grund_truth'; did you mean 'ground_truth'"),
        ({"user": {"turn": "question"}}, "unknown key 'user.turn'; did you mean 'turns'"),
        ({"ground_truth": {"calls": {"pth": "gold"}}}, "unknown key 'ground_truth.calls.pth'; did you mean 'path'"),
        ({"ground_truth": {"matching": "fuzzy"}}, "ground_truth.matching"),
        ({"benchmark": None}, "the key 'benchmark' is missing"),
        ({"user": {}}, "give turns"),
        ({"user": {"turns": "Final answer"}}, "'/Final answer'"),
        ({"id": {"path": "id", "value": 1}}, "exactly one of path, value and file"),
        ({"files": "../tasks.jsonl"}, "leaves the folder"),
        ({"files": "*.csv"}, "names no file with rows"),
        ({"environment": {"policy": {"file": "policy.md"}}}, "cannot read the file that the mapping names"),
        ({"user": {"turns": "qestion"}}, "user.turns: 'qestion' is in no row .*did you mean 'question'"),
        ({"ground_truth": {"calls": "gold[0].cals"}}, "'cals' is absent"),
    ],
)
def test_a_mistake_is_told(write: Any, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(SourceError, match=message):
        MappingSource(write(**changes))


def test_a_path_with_a_default_may_be_in_no_row(open_mapping: Any) -> None:
    assert open_mapping(cluster={"path": "family", "default": None}).mapping.cluster is not None


@pytest.mark.parametrize("text", ["- a", "a: [", "7", "a: &a [*a]"])
def test_what_is_no_mapping_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "m.yaml").write_text(text)
    with pytest.raises(SourceError, match="m.yaml"):
        load_mapping(tmp_path / "m.yaml")


def test_a_folder_without_a_mapping_leads_to_infer(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="agenthard sources infer"):
        MappingSource(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "pointer"),
    [
        ("a.b[1].c", 3, "/a/b/1/c"),
        ("/a/b/1/c", 3, "/a/b/1/c"),
        ("/Final answer", "x", "/Final answer"),
        ("a.b[].c", [2, 3], "/a/b"),
        ("'constant'", "constant", ""),
        ("nothing.here", None, "/nothing/here"),
    ],
)
def test_paths(path: str, value: Any, pointer: str) -> None:
    expression = compile_path(path)
    assert expression.find({"a": {"b": [{"c": 2}, {"c": 3}]}, "Final answer": "x"}) == value
    assert expression.pointer == pointer


def test_a_function_on_a_wrong_type_is_told() -> None:
    with pytest.raises(PathSyntaxError, match="does not fit"):
        compile_path("join('/', [a])").find({"a": 1})


def test_the_page_shows_the_mapping_of_the_example() -> None:
    root = Path(__file__).parents[4]
    shown = (root / "docs/sources/mapping.md").read_text().split("```yaml\n")[1].split("```")[0]
    assert shown == (root / "docs/examples/library/mapping.yaml").read_text()


def test_the_page_names_every_key() -> None:
    page = (Path(__file__).parents[4] / "docs/sources/mapping.md").read_text()
    records = (MappingFile, UserMap, EnvironmentMap, TruthMap, ScoringMap, RunMap, Join)
    assert [name for record in records for name in record.model_fields if name not in page] == []
