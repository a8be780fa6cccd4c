"""Our own format: the public part apart from the private one, in JSON lines or Parquet, and resumed."""

import json
from itertools import islice
from pathlib import Path

import pytest

from agenthard.ace.errors import MalformedInstanceError, Unreadable
from agenthard.ace.files import load, load_puzzles
from agenthard.ace.generator import Parameters, generate
from agenthard.ace.instance import Instance
from agenthard.ace.reference_format import write as write_reference
from agenthard.ace.storage import SUITES, Kind
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
    assert SUITES.write(tmp_path / "suite", made, asked(), kind) == len(made) == 6
    assert list(SUITES.read(tmp_path / "suite")) == made
    assert list(SUITES.read_public(tmp_path / "suite")) == [each.puzzle for each in made]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_instances_of_unknown_origin_are_kept_too(tmp_path: Path, kind: Kind) -> None:
    SUITES.write(tmp_path, [instance()], kind=kind)
    assert list(SUITES.read(tmp_path)) == [instance()]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_the_public_part_stands_alone_and_says_nothing(made: list[Instance], tmp_path: Path, kind: Kind) -> None:
    SUITES.write(tmp_path, made, asked(), kind)
    (tmp_path / f"answers.{kind}").unlink()
    assert list(SUITES.read_public(tmp_path)) == [each.puzzle for each in made]
    text = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    for word in (b"truth", b"solution", b"decoys", b"filters", b"stage", b"certificate", b'attempts":'):
        assert word not in text.replace(b'"preference_attempts": ', b"").replace(b'"attempts": ', b""), word


def test_parquet_shows_what_is_asked_for_most(made: list[Instance], tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    SUITES.write(tmp_path, made, asked(), "parquet")
    puzzles, answers = (pq.read_table(tmp_path / f"{part}.parquet") for part in ("puzzles", "answers"))
    assert puzzles.column("domain").to_pylist() == ["meal"] * 3 + ["travel"] * 3
    assert set(puzzles.column("slots").to_pylist()) == {4}
    assert set(answers.column("decoys").to_pylist()) == {2}
    assert set(answers.column("solutions").to_pylist()) == {1}


def test_an_interrupted_suite_is_taken_up_again(made: list[Instance], tmp_path: Path) -> None:
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    SUITES.write(whole, generate(PARAMETERS), asked())
    SUITES.write(torn, islice(generate(PARAMETERS), 4), asked())
    with (torn / "puzzles.jsonl").open("ab") as file:
        file.write(b'{"id": "half')
    answers = (torn / "answers.jsonl").read_bytes().splitlines(keepends=True)
    (torn / "answers.jsonl").write_bytes(b"".join(answers[:3]) + answers[3][:10])
    assert SUITES.resumable(torn, asked()) == 3
    assert SUITES.write(torn, generate(PARAMETERS, start=3), asked(), resume=True) == 3
    for name in ("puzzles.jsonl", "answers.jsonl", "suite.json"):
        assert (torn / name).read_bytes() == (whole / name).read_bytes()


def test_a_fresh_or_empty_folder_starts_at_nothing(tmp_path: Path) -> None:
    assert SUITES.resumable(tmp_path / "absent", asked()) == 0
    SUITES.write(tmp_path, [], asked())
    (tmp_path / "answers.jsonl").unlink()
    assert SUITES.resumable(tmp_path, asked()) == 0


def test_only_the_same_suite_is_taken_up(tmp_path: Path) -> None:
    SUITES.write(tmp_path / "lines", [], asked())
    with pytest.raises(ValueError, match="a suite with other parameters"):
        SUITES.resumable(tmp_path / "lines", asked(PARAMETERS.model_copy(update={"seed": 7})))
    SUITES.write(tmp_path / "table", [], asked(), "parquet")
    with pytest.raises(ValueError, match="holds a Parquet suite"):
        SUITES.resumable(tmp_path / "table", asked())
    with pytest.raises(ValueError, match="cannot be resumed"):
        SUITES.write(tmp_path / "table", [], asked(), "parquet", resume=True)


def test_what_is_no_suite_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MalformedInstanceError, match=r"suite\.json cannot be read"):
        list(SUITES.read(tmp_path))
    (tmp_path / "suite.json").write_text("[]", encoding="utf-8")
    with pytest.raises(MalformedInstanceError, match="no suite of the format agenthard-ace"):
        list(SUITES.read(tmp_path))
    SUITES.write(tmp_path, [instance()])
    head = json.loads((tmp_path / "suite.json").read_text(encoding="utf-8"))
    (tmp_path / "suite.json").write_text(json.dumps(head | {"schema_version": 99}), encoding="utf-8")
    with pytest.raises(MalformedInstanceError, match="schema version 99, this reads 1"):
        list(SUITES.read(tmp_path))


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
        ("answers", b'"id":"course_r2', b'"id":"course_r3', "is paired with the answer of 'course_r3_c2_h2_b2'"),
        ("answers", b"\n", b"\n{}\n", "instance 1: only its answer is there"),
        ("puzzles", b"{", b"", "instance 0: the line: Invalid JSON"),
        ("answers", b'"stage":4', b'"stage":0', "instance 0: a slot is on preference level 0, which is not one of"),
    ],
)
def test_a_broken_record_is_named(tmp_path: Path, part: str, old: bytes, new: bytes, reason: str) -> None:
    SUITES.write(tmp_path, [instance()])
    path = tmp_path / f"{part}.jsonl"
    path.write_bytes(path.read_bytes().replace(old, new, 1))
    with pytest.raises(MalformedInstanceError, match=reason):
        list(SUITES.read(tmp_path))


def test_a_missing_part_is_named(tmp_path: Path) -> None:
    SUITES.write(tmp_path, [instance()])
    (tmp_path / "answers.jsonl").unlink()
    with pytest.raises(MalformedInstanceError, match=r"has no answers\.jsonl"):
        list(SUITES.read(tmp_path))


def test_one_broken_record_does_not_stop_the_others(made: list[Instance], tmp_path: Path) -> None:
    SUITES.write(tmp_path, made[:3])
    path = tmp_path / "answers.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"truth":"D', b'"truth":1,"D', 1))
    first, second, third = load(tmp_path)
    assert isinstance(first, Unreadable)
    assert (first.index, first.id) == (0, made[0].id) and "Invalid JSON" in first.reason
    assert [second, third] == made[1:3]


def test_an_answer_for_every_slot_is_needed(tmp_path: Path) -> None:
    SUITES.write(tmp_path, [instance()])
    path = tmp_path / "answers.jsonl"
    record = json.loads(path.read_bytes())
    record["answer"]["slots"].pop()
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    (broken,) = load(tmp_path)
    assert isinstance(broken, Unreadable)
    assert (broken.reason, broken.part) == ("2 slots have 1 answers", "answers")


@pytest.mark.parametrize("cut", ["between lines", "in a puzzle", "in an answer", "before the answer"])
def test_an_interrupted_suite_is_read_as_far_as_it_goes(made: list[Instance], tmp_path: Path, cut: str) -> None:
    SUITES.write(tmp_path, made[:4], asked(), count=6)
    puzzles, answers = tmp_path / "puzzles.jsonl", tmp_path / "answers.jsonl"
    if cut != "between lines":
        with puzzles.open("ab") as file:
            file.write(b'{"id": "half' if cut == "in a puzzle" else puzzles.read_bytes().splitlines(keepends=True)[0])
    if cut == "in an answer":
        with answers.open("ab") as file:
            file.write(b'{"id"')
    *whole, end = load(tmp_path)
    assert whole == made[:4]
    assert isinstance(end, Unreadable) and end.index == 4
    assert end.reason.startswith("the suite was interrupted here, after 4 of 6 instances; the same `agenthard ace")
    with pytest.raises(MalformedInstanceError, match="after 4 of 6 instances"):
        list(SUITES.read(tmp_path))


def test_a_broken_record_of_a_finished_suite_is_no_interruption(made: list[Instance], tmp_path: Path) -> None:
    SUITES.write(tmp_path, made[:3], asked(), count=3)
    path = tmp_path / "puzzles.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"rows":3', b'"rows":"3"', 1).removesuffix(b"\n"))
    first, *others = load(tmp_path)
    assert isinstance(first, Unreadable) and first.reason.startswith("rows: Input should be")
    assert others == made[1:3]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_part_of_a_suite_keeps_the_records_as_they_are(made: list[Instance], tmp_path: Path, kind: Kind) -> None:
    SUITES.write(tmp_path / "whole", made, asked(), kind, count=6)
    written = SUITES.write_part(tmp_path / "whole", tmp_path / "part", {1, 4})
    assert sorted(path.name for path in written) == [f"answers.{kind}", f"puzzles.{kind}", "suite.json"]
    assert list(SUITES.read(tmp_path / "part")) == [made[1], made[4]]
    head = json.loads((tmp_path / "part" / "suite.json").read_bytes())
    assert (head["instances"], head["split"], head["parameters"]) == (2, {"kept": 2, "of": 6}, asked())
    if kind == "jsonl":
        lines = (tmp_path / "whole" / "puzzles.jsonl").read_bytes().splitlines(keepends=True)
        assert (tmp_path / "part" / "puzzles.jsonl").read_bytes() == lines[1] + lines[4]
        with pytest.raises(ValueError, match="a part of a suite"):
            SUITES.resumable(tmp_path / "part", asked())
    else:
        import pyarrow.parquet as pq

        for name in ("puzzles.parquet", "answers.parquet"):
            whole, part = (pq.read_table(tmp_path / folder / name) for folder in ("whole", "part"))
            assert part.equals(whole.take([1, 4]))


def test_damaged_parquet_is_refused_with_its_reason(made: list[Instance], tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    SUITES.write(tmp_path, made[:2], kind="parquet")
    path = tmp_path / "puzzles.parquet"
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    with pytest.raises(MalformedInstanceError, match=r"puzzles\.parquet cannot be read to its end as Parquet"):
        list(SUITES.read(tmp_path))
    pq.write_table(pa.table({"record": [1, 2]}), path)
    with pytest.raises(MalformedInstanceError, match="no text column 'record'"):
        list(SUITES.read(tmp_path))
    pq.write_table(pa.table({"record": pa.array([None, "{}"], pa.string())}), path)
    assert [type(each) for each in load(tmp_path)] == [Unreadable, Unreadable]


def test_puzzles_go_on_after_a_broken_one_too(made: list[Instance], tmp_path: Path) -> None:
    SUITES.write(tmp_path, made[:2])
    (tmp_path / "answers.jsonl").unlink()
    path = tmp_path / "puzzles.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"rows":3', b'"rows":"3"', 1))
    first, second = load_puzzles(tmp_path)
    assert isinstance(first, Unreadable) and second == made[1].puzzle
    with pytest.raises(MalformedInstanceError, match="instance 0: rows"):
        list(SUITES.read_public(tmp_path))


def test_both_formats_are_loaded(made: list[Instance], tmp_path: Path) -> None:
    meals = made[:3]
    SUITES.write(tmp_path / "suite", meals)
    write_reference(tmp_path / "file.json", PARAMETERS.header("meal"), meals, 3)
    assert list(load(tmp_path / "suite")) == meals
    assert [each.puzzle for each in load(tmp_path / "file.json") if isinstance(each, Instance)] == [
        each.puzzle for each in meals
    ]
    assert len(list(load(tmp_path))) == 6
    assert list(load(tmp_path / "suite" / "answers.jsonl")) == meals
    (tmp_path / "empty").mkdir()
    with pytest.raises(MalformedInstanceError, match="no ACE-Bench file and no suite here"):
        list(load(tmp_path / "empty"))
    with pytest.raises(FileNotFoundError, match="nothing at this path"):
        list(load(tmp_path / "absent"))
