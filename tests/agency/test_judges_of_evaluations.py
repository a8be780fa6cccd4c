"""Who judges as an axis of an evaluation: rules next to panels of models, which a server on loopback plays."""

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from agenthard.agency.packs import packs
from agenthard.agency.suite_files import write_suite
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.finished import read_finished
from agenthard.flows.evaluation.publish import EvaluationOutcome
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.models.model_file import load_model
from tests.flows.evaluation.conftest import evaluated, model_path
from tests.loopback import Loopback
from tests.loopback.agency_brain import judges
from tests.loopback.talk import Answer, Asked

runner = CliRunner()
PRICE = {"prompt": 1.0, "completion": 4.0, "date": "2026-11"}
LEAKS = ("loop", "compatible/", "/tmp/", "127.0.0.1")


def panel(folder: Path, url: str, **settings: Any) -> str:
    """Write the file of a panel of two judges that read, with model files next to it."""
    for name in ("one", "two"):
        file = {"name": f"compatible/judge-{name}@{url}", "label": name, "price": PRICE}
        (folder / f"{name}.yaml").write_text(json.dumps(file))
    path = folder / "judges.yaml"
    path.write_text(json.dumps({"text": ["one.yaml", "two.yaml"], **settings}))
    return str(path)


def played(suite: Path, out: Path, **settings: Any) -> EvaluationOutcome:
    return evaluated(EvaluationSettings(benchmark="agency", path=str(suite), out=str(out), **settings))


def rows(out: Path) -> list[dict[str, Any]]:
    with gzip.open(out / "rollouts.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def asked_of_judges(server: Loopback) -> list[Asked]:
    return [asked for asked in server.service.heard if asked.model.startswith("judge-")]


@pytest.mark.long
def test_rules_and_a_panel_are_two_conditions_of_one_evaluation(
    suite: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.brain, loopback.service.remember = judges, 1000
    who = panel(tmp_path, loopback.openai_url, repeats=3)
    settings: dict[str, Any] = {
        "models": (load_model(str(model_path(tmp_path, loopback.url))),),
        "agents": ("partial",),
        "axes": {"judge": ("rules", f"panel:{who}")},
    }
    outcome = played(suite, tmp_path / "out", **settings)
    assert outcome.complete and outcome.planned == 4
    asked = asked_of_judges(loopback)
    found = rows(tmp_path / "out")
    by_panel = [row["grade"] for row in found if row["grade"]["panel"]]
    judged = {(grade["task_id"], row["agent"], grade["snapshot"]) for row in found if (grade := row["grade"])["panel"]}
    assert len(asked) == 6 * len(judged) > 0  # an attempt that changed nothing gets the judgement of the one before
    for grade in by_panel:
        (kind,) = grade["panel"]["grades"]
        by_judge = {name: [o["score"] for o in kind["opinions"] if o["judge"] == name] for name in ("one", "two")}
        assert [len(scores) for scores in by_judge.values()] == [3, 3]
        assert grade["score"] == pytest.approx(sum(sum(scores) / 3 for scores in by_judge.values()) / 2)
        assert {each["share"] for each in grade["criteria"]} == {grade["score"] / 10}
    table = pd.read_parquet(tmp_path / "out/tables/episodes.parquet")
    assert table.groupby("judge")["judge_requests"].sum().to_dict() == {"rules": 0, f"panel:{who}": 6 * len(by_panel)}
    costs = {(total.model, total.purpose): total for total in outcome.costs}
    for name in ("one", "two"):
        total = costs[f"compatible/judge-{name}@{loopback.openai_url}", "judge"]
        assert total.sent == len(asked) / 2 and total.cost and total.cost > 0
    runs = list(read_finished(tmp_path / "out", "agency").runs())
    kinds = Counter((judgement.judge, judgement.kind) for run in runs for judgement in run.judgements)
    assert kinds["one", "text"] == kinds["two", "text"] == 3 * len(by_panel) and kinds["rules", "script"]
    words = [said.text for each in asked for said in each.said]
    assert not [leak for leak in (*LEAKS, str(tmp_path)) for text in words if leak in text]
    assert "judge=panel" in Path(outcome.report).read_text(encoding="utf-8")
    page = " ".join(Path(outcome.report).read_text(encoding="utf-8").split())
    assert "Agreement of judges" in page and "one and two" in page
    units = {(g["task_id"], tuple(o["score"] for o in g["panel"]["grades"][0]["opinions"])) for g in by_panel}
    done = runner.invoke(app, ["agency", "agreement", str(tmp_path / "out"), "--json"])
    (shown,) = json.loads(done.stdout)
    assert shown["kind"] == "text" and set(shown["repeats"]) == {"one", "two"}
    (pair,) = shown["pairs"]
    assert len(units) <= pair["alpha"]["n"] <= len(judged) and shown["judges"] == pair["alpha"]
    assert json.loads((tmp_path / "out/report/evaluation.json").read_text())["judges"] == [shown]
    table = runner.invoke(app, ["agency", "agreement", str(tmp_path / "out")])
    assert "one and two" in table.stdout and "one with itself" in table.stdout
    again = played(suite, tmp_path / "again", cache=str(tmp_path / "out/work/replies.sqlite"), **settings)
    assert again.complete and len(asked_of_judges(loopback)) == len(asked)  # every judgement came from the cache


@pytest.mark.long
def test_a_panel_that_sees_looks_at_the_page_in_a_browser(loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain, loopback.service.remember = judges, 1000
    packs.cache_clear()
    write_suite([packs()["frontend"]], tmp_path / "suite")
    who = panel(tmp_path, loopback.openai_url, vision=["one.yaml"])
    played(
        tmp_path / "suite", tmp_path / "out", agents=("reference",), options={"judge": f"panel:{who}", "rounds": "0"}
    )
    asked = asked_of_judges(loopback)
    assert [bool(each.said[-1].images) for each in asked].count(True) == 3 and len(asked) == 9
    for row in rows(tmp_path / "out"):
        text, vision = (each["score"] for each in row["grade"]["panel"]["grades"])
        assert row["grade"]["score"] == pytest.approx((text + vision) / 2)


def test_without_a_panel_there_is_no_agreement(suite: Path, tmp_path: Path) -> None:
    outcome = played(suite, tmp_path / "out", agents=("partial",))
    done = runner.invoke(app, ["agency", "agreement", str(tmp_path / "out")])
    assert isinstance(done.exception, CommandError) and "no two judgements" in str(done.exception)
    assert "Agreement of judges" not in Path(outcome.report).read_text(encoding="utf-8")


def test_rules_decide_what_they_can_and_a_panel_the_rest(
    suite: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.brain, loopback.service.remember = judges, 1000
    who = panel(tmp_path, loopback.openai_url)
    played(suite, tmp_path / "out", agents=("partial",), options={"judge": f"mixed:{who}", "rounds": "0"})
    assert [row["grade"]["score"] for row in rows(tmp_path / "out")] == [7.5, 0.0] and not asked_of_judges(loopback)


def test_an_attempt_that_no_judge_can_judge_has_no_verdict(
    suite: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.brain = lambda asked: Answer(text="seven")
    who = panel(tmp_path, loopback.openai_url)
    outcome = played(suite, tmp_path / "out", agents=("partial",), options={"judge": f"panel:{who}"})
    assert not outcome.complete and outcome.without_verdict == 1
    table = pd.read_parquet(tmp_path / "out/tables/episodes.parquet")
    assert list(table["status"]) == ["judge_error"] and "no judge gave an answer" in table["status_reason"][0]
    assert [row["grade"]["score"] for row in rows(tmp_path / "out")] == [None, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "cannot be read"),
        ("{}", "names no judge"),
        ('{"text": ["nobody/model"]}', "'nobody' is not a provider"),
        ('{"text": ["compatible/a@http://x/v1"], "repeats": 0}', "repeats"),
    ],
)
def test_a_panel_that_cannot_be_used_is_refused(suite: Path, tmp_path: Path, content: str | None, message: str) -> None:
    path = tmp_path / "judges.yaml"
    if content is not None:
        path.write_text(content)
    settings = EvaluationSettings(
        benchmark="agency", path=str(suite), out=str(tmp_path / "out"), options={"judge": f"panel:{path}"}
    )
    with pytest.raises(CommandError, match=message):
        settings.open()


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("panel", "name the file"),
        ("rules:x", "leave out ':x'"),
        ("nobody", "^no judge 'nobody'; there are: rules, panel"),
    ],
)
def test_a_judge_that_is_not_there_is_refused(suite: Path, tmp_path: Path, judge: str, message: str) -> None:
    settings = EvaluationSettings(
        benchmark="agency", path=str(suite), out=str(tmp_path / "out"), options={"judge": judge}
    )
    with pytest.raises(CommandError, match=message):
        settings.open()
