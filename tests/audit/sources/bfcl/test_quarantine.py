from pathlib import Path

import pytest

from agenthard.audit.sources.base import Quarantine, Quarantined
from agenthard.audit.sources.bfcl import BFCL

QUESTIONS, ANSWERS = "BFCL_v3_simple.json", "possible_answer/BFCL_v3_simple.json"
TURNS = "BFCL_v3_multi_turn_base.json"


@pytest.fixture
def quarantined(broken: Path) -> list[Quarantined]:
    quarantine = Quarantine()
    assert [task.id for task in BFCL(broken).tasks(quarantine)] == ["simple_0", "simple_14", "multi_turn_base_3"]
    return quarantine.items


@pytest.mark.parametrize(
    ("file", "line", "pointer", "reason"),
    [
        (QUESTIONS, 2, "", "not valid JSON"),
        (QUESTIONS, 3, "/id", "the field 'id' is missing"),
        (QUESTIONS, 4, "/id", "the field 'id' is not text: 4"),
        (QUESTIONS, 5, "/question", "expected an array at /question, found a string"),
        (QUESTIONS, 6, "/function/0", "the field 'parameters' is missing"),
        (QUESTIONS, 7, "/id", "the id 'simple_0' was already used at BFCL_v3_simple.json:1"),
        (QUESTIONS, 8, "/id", "possible_answer/BFCL_v3_simple.json has no line for 'simple_8'"),
        (ANSWERS, 5, "/ground_truth/0/bell_ring/times", "expected an array"),
        (QUESTIONS, 10, "/question/0/0/role", "unknown role 'narrator'"),
        (ANSWERS, 7, "/ground_truth", "expected an array at /ground_truth, found an object"),
        (QUESTIONS, 12, "", "expected a JSON object, found list"),
        (QUESTIONS, 13, "/function/0/parameters/properties/times", "expected an object"),
        (ANSWERS, 2, "/id", "answers 'simple_1', but no readable line of BFCL_v3_simple.json has that id"),
        (ANSWERS, 10, "/id", "the id 'simple_14' was already used at possible_answer/BFCL_v3_simple.json:9"),
        (ANSWERS, 11, "/id", "answers 'simple_99', but no readable line"),
        (
            TURNS,
            1,
            "/involved_classes",
            "involved_classes names an unknown class 'TeapotAPI'; known: GorillaFileSystem",
        ),
        (TURNS, 2, "/involved_classes", "the documentation of TradingBot is absent"),
        (TURNS, 3, "", "the field 'initial_config' is missing"),
        ("multi_turn_func_doc/message_api.json", 2, "/parameters", "expected an object at /parameters, found an array"),
    ],
)
def test_a_bad_record_is_quarantined_with_its_place(
    quarantined: list[Quarantined], file: str, line: int | None, pointer: str, reason: str
) -> None:
    (item,) = [item for item in quarantined if (item.file, item.line) == (file, line)]
    assert item.pointer == pointer
    assert item.reason.startswith(reason)


def test_each_bad_record_is_quarantined_once(quarantined: list[Quarantined]) -> None:
    assert len(quarantined) == 19


def test_without_an_answer_file_every_task_is_quarantined(v3_copy: Path) -> None:
    (v3_copy / "data/possible_answer/BFCL_v3_simple.json").unlink()
    quarantine = Quarantine()
    tasks = list(BFCL(v3_copy).tasks(quarantine))
    assert len(tasks) == 17
    assert [(item.task_id, item.line) for item in quarantine.items] == [("simple_0", 1), ("simple_1", 2)]


def test_a_record_nested_too_deeply_is_quarantined(v3_copy: Path) -> None:
    path = v3_copy / "data/BFCL_v3_irrelevance.json"
    deep = '{"type": "array", "items": ' * 120 + "{}" + "}" * 120
    record = (
        '{"id": "irrelevance_1", "question": [[]], "function": [{"name": "f", "parameters": '
        f'{{"type": "dict", "properties": {{"x": {deep}}}}}}}]}}\n'
    )
    path.write_text(path.read_text() + record * 2)
    quarantine = Quarantine()
    tasks = list(BFCL(v3_copy, ["irrelevance"]).tasks(quarantine))
    assert [task.id for task in tasks] == ["irrelevance_0"]
    assert [item.line for item in quarantine.items] == [2, 3]
    assert all(item.reason.startswith("the record is nested more than 100 levels deep") for item in quarantine.items)
