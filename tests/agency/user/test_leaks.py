"""What the leak filter catches: planted gold, literals of rubrics and hidden names; and what it leaves."""

import json
import random
from pathlib import Path

import pytest

from agenthard.agency.scenario import Criterion, ScenarioTask
from agenthard.agency.user import Feedback, LeakFilter
from agenthard.agency.user.leaks import WITHHELD

TASK = ScenarioTask(
    id="a/t",
    number=1,
    query="Write report.json with the port 8080 and the totals of sales.csv.",
    criteria=(
        Criterion(id="shown", text="The port is 8080.", check="port"),
        Criterion(
            id="hidden", text="The title is `Quarterly numbers` and the code X7-42.", check="t_total", visible=False
        ),
    ),
)
WORDS = "the report lacks a total in one of its columns please look at how rows are added and check again".split()


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    chance = random.Random(1)
    folder = tmp_path / "gold"
    folder.mkdir()
    totals = {f"region{n}": round(chance.uniform(1000, 99999), 2) for n in range(40)}
    (folder / "totals.json").write_text(json.dumps({"totals": totals, "best": "North-East district"}, indent=1))
    (folder / "expected_answer.txt").write_text("The answer is the copper kettle\ncode-9f3a71\n")
    return folder


def feedback(text: str) -> Feedback:
    return Feedback(
        task_id="a/t", attempt=0, by="m", status="Some is done.", diagnosis=text, root_cause="None.", directives="Look."
    )


def secrets(gold: Path) -> list[str]:
    data = json.loads((gold / "totals.json").read_text())
    return [*map(str, data["totals"].values()), data["best"], "The answer is the copper kettle", "code-9f3a71"]


def test_planted_gold_is_taken_out_of_200_feedbacks(gold: Path) -> None:
    chance, known = random.Random(2), secrets(gold)
    filter_ = LeakFilter(TASK, gold, [])
    caught = 0
    for number in range(200):
        secret = known[number % len(known)]
        words = chance.choices(WORDS, k=30)
        written = (
            secret.upper() if number % 3 == 0 else secret.replace(" ", "\n  ") if number % 3 == 1 else f"`{secret}`"
        )
        words.insert(chance.randrange(30), written)
        found = filter_.filtered(feedback(" ".join(words)))
        caught += secret.casefold() not in " ".join(found.text.casefold().split()) and bool(found.leaks)
        assert secret not in json.dumps([leak.model_dump() for leak in found.leaks])
    assert caught == 200


def test_200_feedbacks_without_gold_are_left_as_they_are(gold: Path) -> None:
    chance, filter_ = random.Random(3), LeakFilter(TASK, gold, [])
    for _ in range(200):
        said = feedback(" ".join(chance.choices([*WORDS, "8080", "report.json", "sales.csv", "10", "3.5"], k=40)))
        assert filter_.filtered(said) == said


def test_rubric_literals_and_hidden_names_are_taken_out(gold: Path) -> None:
    text = "Use Quarterly  Numbers, X7-42; t_total compares with expected_answer.txt; the port 8080 is right."
    found = LeakFilter(TASK, gold, []).filtered(feedback(text))
    masks = (WITHHELD,) * 4
    assert found.diagnosis == "Use {}, {}; {} compares with {}; the port 8080 is right.".format(*masks)
    assert {leak.source for leak in found.leaks} == {"rubric", "name"}


def test_what_the_agent_has_read_or_written_is_no_leak(gold: Path) -> None:
    first = secrets(gold)[0]
    text = f"Your file has {first}."
    assert LeakFilter(TASK, gold, [f"total: {first}"]).filtered(feedback(text)).leaks == ()
    assert LeakFilter(TASK, gold, [f"9{first}7"]).filtered(feedback(text)).leaks != ()
