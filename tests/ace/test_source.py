"""ACE-Bench as a source: tasks with places, what is set aside, ids over files, and splits in the same bytes."""

import gzip
import json
import shutil
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from agenthard.ace import reference_format, storage
from agenthard.ace.environment import Environment
from agenthard.ace.environment.tools import Kind
from agenthard.ace.generator import Parameters, generate
from agenthard.ace.source import INSTANCE, AceBench
from agenthard.audit.evidence import canonical_json, text_at
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.suite import suite_parquet as parquet
from agenthard.audit.sources.registry import open_source, sources
from agenthard.taxonomy import AgentTask
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.record import Origin

SUITE = Parameters(rows=3, cols=3, hidden_slots=(2, 3), decoy_budgets=(0, 2), candidates=6, domains=("course", "meal"))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("suite")
    for domain in SUITE.domains:
        header = SUITE.header(domain)
        part = SUITE.model_copy(update={"domains": (domain,)})
        reference_format.write(folder / header.filename(0), header, generate(part), part.count)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "suite"))


def read(root: Path, *domains: str) -> tuple[list[AgentTask], Quarantine]:
    quarantine = Quarantine()
    return list(AceBench(root, domains).tasks(quarantine)), quarantine


def file_of(folder: Path, domain: str) -> Path:
    return next(folder.glob(f"{domain}_*"))


def edited(path: Path, change: Any) -> None:
    content = json.loads(path.read_bytes())
    change(content)
    path.write_text(json.dumps(content, indent=2))


def test_the_source_is_registered(made: Path) -> None:
    assert sources()["ace"] is AceBench
    assert open_source("ace", made).title == "ACE-Bench"


def test_every_instance_is_a_task_whose_places_lead_into_the_file(made: Path) -> None:
    tasks, quarantine = read(made)
    assert (len(tasks), quarantine.items) == (8, [])
    assert len({id(task.environment) for task in tasks}) == 2
    for task in tasks:
        assert len(task.environment.tools) == 11
        content = json.loads((made / task.origins[""].file).read_bytes())
        assert resolve(content, task.origins[""].pointer + "/instance_id") == task.id == task.native_id
        for part, place in task.origins.items():
            found = resolve(content, place.pointer)
            if part == "/user/turns/0/0/content":
                assert text_at(task, part) == found
            elif part == f"/metadata/{INSTANCE}":
                assert json.loads(text_at(task, part)) == found


def test_the_ground_truth_solves_the_instance(made: Path) -> None:
    instances = {i.id: i for path in made.iterdir() for i in reference_format.read(path).instances}
    for task in read(made)[0]:
        environment = Environment(instances[task.id].puzzle)
        calls = list(task.gold_calls())
        assert len(calls) == task.metadata["hidden_slots"]
        for _, call in calls:
            environment.call(call.name, call.arguments)
        assert environment.grid == instances[task.id].answer.solution


def test_domains_select_files(made: Path) -> None:
    assert {task.subtask for task in read(made, "meal")[0]} == {"meal"}
    with pytest.raises(SourceError, match="no domain travel; there are: course, meal"):
        AceBench(made, ("travel",))


def test_one_file_and_a_packed_one_are_read(folder: Path) -> None:
    plain = file_of(folder, "meal")
    alone = read(plain)[0]
    packed = folder / f"{plain.name}.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    plain.unlink()
    assert [task.id for task in read(packed)[0]] == [task.id for task in alone]
    assert AceBench.recognises(packed) and not AceBench.recognises(folder / "none.json")


def test_other_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text('{"a": 1}')
    assert not AceBench.recognises(tmp_path)
    with pytest.raises(SourceError, match="no ACE-Bench file here"):
        AceBench(tmp_path)


def test_an_unreadable_instance_is_set_aside_with_its_place(folder: Path) -> None:
    edited(file_of(folder, "course"), lambda content: content["instances"][1].pop("slots"))
    tasks, quarantine = read(folder)
    (item,) = quarantine.items
    assert (len(tasks), item.pointer) == (7, "/instances/1")
    assert "'slots' is missing" in item.reason and item.task_id == "course_r3_c3_h2_b2"
    assert tasks[1].origins[""].pointer == "/instances/2"


def test_a_damaged_file_is_set_aside_and_the_others_are_read(folder: Path) -> None:
    path = file_of(folder, "course")
    path.write_bytes(path.read_bytes()[:5000])
    tasks, quarantine = read(folder)
    assert {task.subtask for task in tasks} == {"meal"}
    assert [item.file for item in quarantine.items] == [path.name]
    assert "not JSON" in quarantine.items[0].reason


def test_an_unknown_domain_is_set_aside(folder: Path) -> None:
    path = file_of(folder, "course")
    path.write_bytes(path.read_bytes().replace(b'"domain": "course"', b'"domain": "circus"'))
    tasks, quarantine = read(folder)
    assert {task.subtask for task in tasks} == {"meal"}
    assert "unknown domain 'circus'" in quarantine.items[0].reason


def test_an_instance_that_does_not_hold_together_has_no_candidates(folder: Path) -> None:
    def drop(content: Any) -> None:
        instance = content["instances"][0]
        del instance["item_pool"][instance["slots"][0]["filter_candidate_ids"][0]]

    edited(file_of(folder, "course"), drop)
    tasks, quarantine = read(folder, "course")
    assert quarantine.items == []
    assert ["candidates" in task.metadata for task in tasks] == [False, True, True, True]


def test_ids_repeat_over_files_but_not_within_one(folder: Path) -> None:
    path = file_of(folder, "meal")
    (folder / "other").mkdir()
    shutil.copy(path, folder / "other" / "meal.json")
    edited(path, lambda content: content["instances"][1].update(instance_id=content["instances"][0]["instance_id"]))
    tasks, quarantine = read(folder, "meal")
    ids = [task.id for task in tasks]
    assert len(set(ids)) == len(ids) == 7
    assert "other/meal/meal_r3_c3_h2_b0" in ids
    assert [item.pointer for item in quarantine.items] == ["/instances/1"]
    assert "used in this file already" in quarantine.items[0].reason


def test_a_split_of_everything_has_the_same_bytes_and_a_part_the_same_instances(made: Path, tmp_path: Path) -> None:
    source = AceBench(made)
    ids = [task.id for task in source.tasks(Quarantine())]
    for path in source.write_split(ids, tmp_path / "all"):
        assert path.read_bytes() == (made / path.name).read_bytes()
    (part,) = source.write_split(ids[1:3], tmp_path / "part")
    text = part.read_text()
    original = (made / part.name).read_text()
    content = json.loads(text)
    assert content["num_instances"] == 2
    for entry in content["instances"]:
        block = json.dumps(entry, indent=2).replace("\n", "\n    ")
        assert block in text and block in original
    assert [task.id for task in read(tmp_path / "part")[0]] == ids[1:3]


@pytest.fixture(params=["jsonl", "parquet"])
def kind(request: pytest.FixtureRequest) -> storage.Kind:
    return request.param


@pytest.fixture
def suite(kind: storage.Kind, tmp_path: Path) -> Path:
    asked = SUITE.model_dump(mode="json")
    storage.SUITES.write(tmp_path / "own", generate(SUITE), asked, kind, count=SUITE.count)
    return tmp_path / "own"


def at(root: Path, origin: Origin) -> Any:
    """What is at an origin: pointers into Parquet are into the list of its records."""
    path = root / origin.file
    if path.suffix == ".parquet":
        return resolve([json.loads(line) for line in parquet.records(path)], origin.pointer)
    assert origin.line is not None
    return resolve(json.loads(path.read_bytes().splitlines()[origin.line - 1]), origin.pointer)


def test_both_formats_make_the_same_tasks_with_places_of_their_own(made: Path, suite: Path) -> None:
    own, quarantine = read(suite)
    assert quarantine.items == []
    assert {t.id: t.model_dump(exclude={"origins"}) for t in own} == {
        t.id: t.model_dump(exclude={"origins"}) for t in read(made)[0]
    }
    for task in own:
        assert at(suite, task.origins[""])["id"] == task.id
        for part, origin in task.origins.items():
            if part in ("", "/ground_truth"):
                continue
            there, said = at(suite, origin), json.loads(canonical_json(resolve(task, part)))
            if part.endswith("/slot_constraints"):
                assert there.items() <= said.items()
            elif part.endswith("/global_constraints"):
                assert said == {"global": "global", **there}
            else:
                assert there == said, part
    slot = f"/metadata/{INSTANCE}/slots/1"
    assert {part: at(suite, task.origins[f"{slot}/{part}"]) for part in ("truth_id", "decoy_ids")} == {
        "truth_id": resolve(task, f"{slot}/truth_id"),
        "decoy_ids": list(resolve(task, f"{slot}/decoy_ids")),
    }


def test_a_suite_is_recognised_alone_and_below_a_folder(suite: Path, made: Path) -> None:
    assert AceBench.recognises(suite) and AceBench.recognises(suite.parent)
    assert AceBench.recognises(suite / "suite.json") and not AceBench.recognises(suite / "nothing")
    alone = [task.id for task in read(suite)[0]]
    assert [task.id for task in read(suite.parent)[0]] == alone
    assert AceBench(suite).version().label == "agenthard-ace"
    shutil.copytree(made, suite.parent / "paper")
    both = [task.id for task in read(suite.parent)[0]]
    assert both[:8] == alone and len(set(both)) == 16
    assert AceBench(suite.parent).version().label == "ace-reference-layout+agenthard-ace"


def test_domains_select_instances_of_a_suite(suite: Path) -> None:
    assert {task.subtask for task in read(suite, "meal")[0]} == {"meal"}
    with pytest.raises(SourceError, match="no domain travel; there are: course, meal"):
        AceBench(suite, ("travel",))


def test_a_broken_record_of_a_suite_is_set_aside_with_its_place(tmp_path: Path) -> None:
    storage.SUITES.write(tmp_path, generate(SUITE), SUITE.model_dump(mode="json"), count=SUITE.count)
    changes = {
        "puzzles.jsonl": {1: ('"rows":3', '"rows":"3"'), 3: ('"domain":"course"', '"domain":"circus"')},
        "answers.jsonl": {2: ('"solution"', '"answer"'), 4: ('"id":"meal', '"id":"x')},
    }
    for name, edits in changes.items():
        lines = (tmp_path / name).read_text().splitlines(keepends=True)
        for number, (old, new) in edits.items():
            assert old in lines[number]
            lines[number] = lines[number].replace(old, new, 1)
        (tmp_path / name).write_text("".join(lines))
    lines = (tmp_path / "puzzles.jsonl").read_text().splitlines(keepends=True)
    lines[6] = lines[6].replace('"limits":{', '"limits":{"global":1,', 1)
    (tmp_path / "puzzles.jsonl").write_text("".join(lines))
    tasks, quarantine = read(tmp_path)
    assert [task.origins[""].line for task in tasks] == [1, 6, 8]
    assert [(item.file, item.line) for item in quarantine.items] == [
        ("puzzles.jsonl", 2),
        ("answers.jsonl", 3),
        ("puzzles.jsonl", 4),
        ("answers.jsonl", 5),
        ("puzzles.jsonl", 7),
    ]
    for item, reason in zip(
        quarantine.items, ("rows:", "answer.solution", "circus", "is paired with the answer of", "global"), strict=True
    ):
        assert reason in item.reason
    assert quarantine.items[1].task_id == "course_r3_c3_h3_b0"


def test_an_interrupted_suite_says_so(tmp_path: Path) -> None:
    storage.SUITES.write(tmp_path, islice(generate(SUITE), 5), SUITE.model_dump(mode="json"), count=SUITE.count)
    tasks, quarantine = read(tmp_path)
    assert len(tasks) == 5
    (item,) = quarantine.items
    assert (item.file, item.line) == ("puzzles.jsonl", 6)
    assert "interrupted here, after 5 of 8" in item.reason and item.reason.endswith("continues from there")


def test_an_unreadable_suite_is_set_aside_and_the_others_are_read(suite: Path, kind: storage.Kind) -> None:
    bad = Path(shutil.copytree(suite, suite.parent / "bad"))
    (bad / f"answers.{kind}").unlink()
    worse = Path(shutil.copytree(suite, suite.parent / "worse"))
    (worse / "suite.json").write_text('{"format": "agenthard-ace", "kind": "stone"}')
    tasks, quarantine = read(suite.parent)
    assert len(tasks) == 8
    assert [item.file for item in quarantine.items] == ["bad/suite.json", "worse/suite.json"]


def test_a_split_of_a_suite_keeps_its_records(suite: Path, kind: storage.Kind, tmp_path: Path) -> None:
    source = AceBench(suite.parent)
    ids = [task.id for task in source.tasks(Quarantine())]
    written = source.write_split([ids[1], ids[6]], tmp_path / "split")
    own = tmp_path / "split" / "own"
    assert sorted(written) == [own / f"answers.{kind}", own / f"puzzles.{kind}", own / "suite.json"]
    for part in ("puzzles", "answers"):
        whole = list(storage.SUITES.records(suite, part))
        assert list(storage.SUITES.records(own, part)) == [whole[1], whole[6]]
    tasks, quarantine = read(tmp_path / "split")
    assert ([task.id for task in tasks], quarantine.items) == ([ids[1], ids[6]], [])
    assert AceBench(suite).write_split([], tmp_path / "none") == []


def test_runs_are_refused_with_what_can_be_read(made: Path) -> None:
    with pytest.raises(SourceError, match="model, task_id, score"):
        AceBench(made).runs(made, Quarantine())


def test_done_and_set_slot_are_the_tools_that_write(made: Path) -> None:
    tools = read(made)[0][0].environment.tools
    assert {tool.name for tool in tools if tool.effect == "write"} == {Kind.SET_SLOT.value, Kind.DONE.value}
