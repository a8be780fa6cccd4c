"""Our own format: the public part apart from the private one, in JSON lines or Parquet, and taken up again."""

import json
from itertools import islice
from pathlib import Path

import pytest

from ace.files import load
from ace.generator import Parameters, generate
from ace.instance import Instance
from ace.reference_format import write as write_reference
from ace.storage import Kind, read, read_puzzles, resumable, write
from ace.unreadable import Malformed, Unreadable
from tests.ace.environment.small import instance

PARAMETERS = Parameters(
    rows=3, cols=4, hidden_slots=(4,), decoy_budgets=(2,), candidates=6, domains=("meal", "travel"), per_cell=3
)


def asked(parameters: Parameters = PARAMETERS) -> dict[str, object]:
    return parameters.model_dump(mode="json")


@pytest.fixture(scope="module")
def made() -> list[Instance]:
    return list(generate(PARAMETERS))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_what_is_written_is_read(made: list[Instance], tmp_path: Path, kind: Kind) -> None:
    assert write(tmp_path / "suite", made, asked(), kind) == len(made) == 6
    assert list(read(tmp_path / "suite")) == made
    assert list(read_puzzles(tmp_path / "suite")) == [each.puzzle for each in made]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_instances_of_unknown_origin_are_kept_too(tmp_path: Path, kind: Kind) -> None:
    write(tmp_path, [instance()], kind=kind)
    assert list(read(tmp_path)) == [instance()]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_the_public_part_stands_alone_and_says_nothing(made: list[Instance], tmp_path: Path, kind: Kind) -> None:
    write(tmp_path, made, asked(), kind)
    (tmp_path / f"answers.{kind}").unlink()
    assert list(read_puzzles(tmp_path)) == [each.puzzle for each in made]
    text = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for word in (b"truth", b"solution", b"decoys", b"filters", b"stage", b"certificate", b'attempts":'):
        assert word not in text.replace(b'"preference_attempts": ', b"").replace(b'"attempts": ', b""), word


def test_parquet_shows_what_is_asked_for_most(made: list[Instance], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    write(tmp_path, made, asked(), "parquet")
    puzzles, answers = (pq.read_table(tmp_path / f"{part}.parquet") for part in ("puzzles", "answers"))
    assert puzzles.column("domain").to_pylist() == ["meal"] * 3 + ["travel"] * 3
    assert set(puzzles.column("slots").to_pylist()) == {4}
    assert set(answers.column("decoys").to_pylist()) == {2}
    assert set(answers.column("solutions").to_pylist()) == {1}


def test_an_interrupted_suite_is_taken_up_again(made: list[Instance], tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    write(whole, generate(PARAMETERS), asked())
    write(torn, islice(generate(PARAMETERS), 4), asked())
    with (torn / "puzzles.jsonl").open("ab") as file:
        file.write(b'{"id": "half')
    answers = (torn / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (torn / "answers.jsonl").write_bytes(b"".join(answers[:3]) + answers[3][:10])
    assert resumable(torn, asked()) == 3
    assert write(torn, generate(PARAMETERS, start=3), asked(), resume=True) == 3
    for name in ("puzzles.jsonl", "answers.jsonl", "suite.json"):
        assert (torn / name).read_bytes() == (whole / name).read_bytes()


def test_a_fresh_or_empty_folder_starts_at_nothing(tmp_path: Path) -> None:
    assert resumable(tmp_path / "absent", asked()) == 0
    write(tmp_path, [], asked())
    (tmp_path / "answers.jsonl").unlink()
    assert resumable(tmp_path, asked()) == 0


def test_only_the_same_suite_is_taken_up(tmp_path: Path) -> None:
    write(tmp_path / "lines", [], asked())
    with pytest.raises(ValueError, match="a suite with other parameters"):
        resumable(tmp_path / "lines", asked(PARAMETERS.model_copy(update={"seed": 7})))
    write(tmp_path / "table", [], asked(), "parquet")
    with pytest.raises(ValueError, match="holds a Parquet suite"):
        resumable(tmp_path / "table", asked())
    with pytest.raises(ValueError, match="cannot be taken up again"):
        write(tmp_path / "table", [], asked(), "parquet", resume=True)


def test_what_is_no_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match=r"suite\.json cannot be read"):
        list(read(tmp_path))
    (tmp_path / "suite.json").write_text("[]", encoding="utf-8")
    with pytest.raises(Malformed, match="no suite of the format agenthard-ace"):
        list(read(tmp_path))
    write(tmp_path, [instance()])
    head = json.loads((tmp_path / "suite.json").read_text(encoding="utf-8"))
    (tmp_path / "suite.json").write_text(json.dumps(head | {"schema_version": 99}), encoding="utf-8")
    with pytest.raises(Malformed, match="schema version 99, this reads 1"):
        list(read(tmp_path))


@pytest.mark.parametrize(
    ("part", "old", "new", "reason"),
    [
        ("puzzles", b'"rows":2', b'"rows":"2"', "instance 0: rows: Input should be a valid integer"),
        (
            "answers",
            b'"truth":"C11"',
            b'"truth":11',
            "instance 0: answer.slots.0.truth: Input should be a valid string",
        ),
        ("answers", b'"id":"course_r2', b'"id":"course_r3', "stands the answer of 'course_r3_c2_h2_b2'"),
        ("answers", b"\n", b"\n{}\n", "instance 1: only its answer is there"),
        ("puzzles", b"{", b"", "instance 0: the line: Invalid JSON"),
    ],
)
def test_a_broken_record_is_named(tmp_path: Path, part: str, old: bytes, new: bytes, reason: str) -> None:
    write(tmp_path, [instance()])
    path = tmp_path / f"{part}.jsonl"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(Malformed, match=reason):
        list(read(tmp_path))


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    write(tmp_path, [instance()])
    (tmp_path / "answers.jsonl").unlink()
    with pytest.raises(Malformed, match=r"has no answers\.jsonl"):
        list(read(tmp_path))


def test_one_broken_record_does_not_stop_the_others(made: list[Instance], tmp_path: Path) -> None:
    write(tmp_path, made[:3])
    path = tmp_path / "answers.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"truth":"D', b'"truth":1,"D', 1))
    first, second, third = load(tmp_path)
    assert isinstance(first, Unreadable)
    assert (first.index, first.id) == (0, made[0].id) and "Invalid JSON" in first.reason
    assert [second, third] == made[1:3]


def test_both_formats_are_loaded(made: list[Instance], tmp_path: Path) -> None:
    meals = made[:3]
    write(tmp_path / "suite", meals)
    write_reference(tmp_path / "file.json", PARAMETERS.header("meal"), meals, 3)
    assert list(load(tmp_path / "suite")) == meals
    assert [each.puzzle for each in load(tmp_path / "file.json") if isinstance(each, Instance)] == [
        each.puzzle for each in meals
    ]
    with pytest.raises(Malformed):
        list(load(tmp_path))
