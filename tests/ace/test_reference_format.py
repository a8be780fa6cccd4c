"""The JSON layout of the paper's files: what was read is written back byte for byte, what does not fit is set aside."""

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.ace.generator import Parameters, generate
from agenthard.ace.reference_format import Header, MalformedInstanceError, decode, encode, loads, read, write
from tests.ace.environment.small import instance
from tests.ace.made import one

PARAMETERS = Parameters(
    rows=3, cols=4, hidden_slots=(0, 4), decoy_budgets=(0,), candidates=6, domains=("meal",), per_cell=2
)
HEADER = Header("course", 2, 2, (2,), (2,), 3)


def content(**changes: Any) -> dict[str, Any]:
    data = {
        "domain": "course",
        "num_instances": 1,
        "rows": 2,
        "cols": 2,
        "hidden_slots": [2],
        "branch_budget": [2],
        "candidates_per_slot": 3,
        "instances": [encode(instance())],
    }
    return copy.deepcopy(data) | changes


def encoded(**changes: Any) -> dict[str, Any]:
    return json.loads(json.dumps(encode(instance()))) | changes


def test_the_layout_of_an_instance() -> None:
    entry = encode(instance())
    assert list(entry) == [
        "domain",
        "meta",
        "global_constraints",
        "item_pool",
        "truth_solution",
        "partial_solution",
        "hidden_slots",
        "slots",
        "task_instruction",
        "instance_id",
    ]
    assert entry["meta"] == {
        "rows": 2,
        "cols": 2,
        "hidden_slots": 2,
        "branch_budget": 2,
        "branch_slot_count": 2,
        "branch_budget_allocations": [1, 1],
        "candidates_per_slot": 3,
        "requested_candidates_per_slot": 3,
        "decoy_generation_final_stage": 4,
        "decoy_generation_final_stage_label": "hard_only",
    }
    assert next(iter(entry["global_constraints"].items())) == ("global", "global")
    first, last = entry["slots"]
    assert first["slot_constraints"] == {
        "row": 0,
        "col": 1,
        "active_rule_names": ["max_price", "min_credits"],
        "max_price": 300,
        "min_credits": 2,
    }
    assert (first["branch_rank"], first["decoy_generation_final_stage_label"]) == (0, "hard_only")
    assert (last["branch_rank"], last["decoy_generation_final_stage_label"]) == (1, "last_branch_hard_only")


def test_generated_instances_survive_the_layout(tmp_path: Path) -> None:
    made = list(generate(PARAMETERS))
    path = tmp_path / "made.json"
    write(path, PARAMETERS.header("meal"), made, len(made))
    text = path.read_bytes()
    assert text == json.dumps(json.loads(text), indent=2).encode()
    again = read(path)
    assert again.unreadable == ()
    assert [each.puzzle for each in again.instances] == [each.puzzle for each in made]
    assert [each.answer for each in again.instances] == [each.answer for each in made]
    write(tmp_path / "again.json", again.header, again.instances, len(made))
    assert (tmp_path / "again.json").read_bytes() == text


def test_a_file_without_instances_is_one_too(tmp_path: Path) -> None:
    write(tmp_path / "none.json", HEADER, [], 0)
    text = (tmp_path / "none.json").read_bytes()
    assert text == json.dumps(json.loads(text), indent=2).encode()
    assert read(tmp_path / "none.json").instances == ()


def test_a_wrong_announcement_is_noticed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="announces 2 instances and holds 1: it is incomplete"):
        write(tmp_path / "short.json", HEADER, [instance()], 2)


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "file.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content()).encode()))
    assert read(path).instances == (instance(),)


def test_the_file_name_is_the_paper_s() -> None:
    assert Parameters().header("meal").filename(42) == (
        "meal_dataset_r5_c7_h1-5-7-11-15-21_cand25_budget0-2-4-8-10-15-19-21-25_seed42.json"
    )
    assert HEADER.filename() == "course_dataset_r2_c2_h2_cand3_budget2.json"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"{", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no list under 'instances'"),
        (json.dumps(content(num_instances=2)).encode(), "/num_instances is 2, the rest of it says 1"),
        (json.dumps(content(extra=1)).encode(), "/extra is not part of the layout"),
        (json.dumps(content(rows="2")).encode(), "should be a whole number"),
        (json.dumps({k: v for k, v in content().items() if k != "cols"}).encode(), "no key 'cols'"),
    ],
)
def test_a_broken_file_is_refused(text: bytes, reason: str) -> None:
    with pytest.raises(MalformedInstanceError, match=reason):
        loads(text)


def test_a_broken_file_is_named(tmp_path: Path) -> None:
    for name, data in (("broken.json", b"{"), ("broken.json.gz", b"no gzip")):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(MalformedInstanceError, match=f"^{name}: "):
            read(tmp_path / name)


def test_one_broken_instance_does_not_stop_the_others() -> None:
    broken = encoded(instance_id="broken")
    broken["slots"][0]["candidate_ids"] = "C13"
    file = loads(json.dumps(content(instances=[broken, encode(instance()), 7], num_instances=3)).encode())
    assert file.instances == (instance(),)
    assert [(each.index, each.id) for each in file.unreadable] == [(0, "broken"), (2, None)]
    assert "should be a list of ids" in file.unreadable[0].reason


def test_an_instance_of_another_kind_than_the_file_is_set_aside() -> None:
    file = loads(json.dumps(content(rows=3)).encode())
    assert [each.reason for each in file.unreadable] == ["the file is about rows 3, the instance about 2"]


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("meta", "branch_slot_count"), 3, "/meta/branch_slot_count is 3, the rest of it says 2"),
        (("meta", "rows"), True, "should be a whole number"),
        (("slots", 0, "branch_rank"), 5, "/slots/0/branch_rank is 5, the rest of it says 0"),
        (("slots", 0, "decoy_generation_final_stage"), 9, "is not one of 1, 2, 3, 4, null"),
        (("slots", 0, "extra"), 1, "/slots/0/extra is not part of the layout"),
        (("hidden_slots",), [], "/hidden_slots is"),
        (("item_pool", "C1", "price"), 1.5, "should be a whole number"),
        (("row_constraints",), [{"row": 0}], "/row_constraints is not part of the layout"),
        (("truth_solution",), None, "should be a list of rows"),
    ],
)
def test_what_contradicts_itself_is_refused(path: tuple[Any, ...], value: Any, reason: str) -> None:
    entry = encoded()
    inner: Any = entry
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    with pytest.raises(MalformedInstanceError, match=reason):
        decode(entry)


def test_missing_keys_are_named_and_empty_legacy_ones_allowed() -> None:
    entry = encoded()
    del entry["slots"]
    with pytest.raises(MalformedInstanceError, match="the key 'slots' is missing"):
        decode(entry)
    assert decode(encoded(row_constraints=[], col_constraints={})) == instance()


def test_an_instance_with_decoys_survives() -> None:
    made = one("travel")
    again = decode(json.loads(json.dumps(encode(made))))
    assert (again.puzzle, again.answer) == (made.puzzle, made.answer)


@pytest.mark.long
@pytest.mark.corpora
def test_the_released_files_are_written_back_byte_for_byte(corpora: Path, tmp_path: Path) -> None:
    paths = sorted((corpora / "ace_reference").glob("5x*/*.gz"))
    assert len(paths) == 12
    for path in paths[::3]:
        file = read(path)
        assert file.unreadable == ()
        out = tmp_path / file.header.filename(42)
        write(out, file.header, file.instances, len(file.instances))
        assert out.name == path.name.removesuffix(".gz")
        assert out.read_bytes() == gzip.decompress(path.read_bytes()), path.name
