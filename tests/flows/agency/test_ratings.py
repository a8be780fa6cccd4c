"""``agenthard align rate`` and ``rated``: sheets from runs, and figures that are derived by hand in comments."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.audit.statistics.result import Estimate, Undefined
from agenthard.flows.cli import app
from agenthard.flows.errors import CommandError
from agenthard.reports.alignment.ratings import (
    PEOPLE,
    RatingError,
    RatingItem,
    RatingKey,
    measure_ratings,
    read_ratings,
)
from agenthard.taxonomy.task import Message
from agenthard.taxonomy.trajectory import Judgement, Trajectory


def align(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["align", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == 0, result.output
    return result.stdout


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def judged(number: int, score: float, attempt: int = 0, user: str | None = None) -> Trajectory:
    name = f"Game/scenario{number}/task1"
    return Trajectory(
        id=f"{name}#{attempt}",
        task_id=name,
        model="acme/zephyr-9",
        trial=attempt,
        score=score,
        user_model=user,
        messages=(
            Message(role="user", content="Fix the board." if attempt else "Build a board."),
            Message(role="assistant", content="zephyr 9 here, done in /home/ada/x"),
        ),
        judgements=(
            Judgement(judge="judge-1", kind="text", score=score, reason=f"by zephyr-9: clause {number} fails"),
        ),
        retry_of=f"{name}#{attempt - 1}" if attempt else None,
    )


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    file = tmp_path / "runs.jsonl"
    found = [judged(number, number % 10) for number in range(1, 21)]
    found += [judged(number, 9, 1) for number in (1, 2)]
    found += [judged(21, 2, user="user-model"), judged(21, 8, 1)]
    file.write_text("".join(run.model_dump_json() + "\n" for run in found))
    return file


def test_a_sheet_names_no_model_no_judge_and_no_score(runs: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    told = align("rate", runs, "--out", sheet, "--count", "15")
    assert "15 of 21 tasks with verdicts, seed 42" in told
    lines = lines_of(sheet)
    assert [line["item"] for line in lines] == [f"v-{number:03}" for number in range(1, 16)]
    assert not re.search("zephyr|judge-1|ada|clause", sheet.read_text())
    assert lines[0]["messages"] == [{"role": "assistant", "content": "[model] here, done in [path]"}]
    assert all(line["score"] is None and line["annotator"] is None for line in lines)
    key = RatingKey.model_validate_json((tmp_path / "sheet.key.json").read_bytes())
    assert len({item.task_id for item in key.items}) == 15
    assert all(item.scores.keys() == {"score", "judge-1 (text)"} for item in key.items)
    again = tmp_path / "again.jsonl"
    align("rate", runs, "--out", again, "--count", "15")
    assert again.read_bytes() == sheet.read_bytes()
    with pytest.raises(CommandError, match="exists, and may hold scores"):
        align("rate", runs, "--out", sheet)


def test_feedback_is_what_the_agent_was_told(runs: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.jsonl"
    align("rate", runs, "--of", "feedback", "--out", sheet)
    told = {line["task"]["id"]: line["feedback"] for line in lines_of(sheet)}
    assert told == {
        "Game/scenario1/task1": "by [model]: clause 1 fails",
        "Game/scenario2/task1": "by [model]: clause 2 fails",
        "Game/scenario21/task1": "Fix the board.",  # by a simulated user, and not the judges' words
    }


def test_sheets_are_read_back(runs: Path, tmp_path: Path) -> None:
    sheet, key = tmp_path / "sheet.jsonl", tmp_path / "sheet.key.json"
    align("rate", runs, "--out", sheet, "--count", "10")
    scores = {item.item: item.scores["score"] for item in RatingKey.model_validate_json(key.read_bytes()).items}
    for name in ("ana", "ben"):
        lines = [{**line, "score": scores[line["item"]]} for line in lines_of(sheet)]
        lines[0]["score"] = None
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    shown = align("rated", tmp_path / "ana.jsonl", tmp_path / "ben.jsonl", "--key", key)
    assert "9 of 10 items are scored; 2 lines not filled in." in shown
    found = json.loads(align("rated", tmp_path / "ana.jsonl", tmp_path / "ben.jsonl", "--key", key, "--json"))
    assert found["raters"] == ["ana", "ben"]
    assert {each["kappa"]["value"] for each in found["judges"]} == {1.0}


def key_of(scores: list[float]) -> RatingKey:
    items = tuple(
        RatingItem(item=f"v-{i}", run=f"r{i}", task_id=f"t{i}", cluster=f"c{i // 2}", scores={"score": score})
        for i, score in enumerate(scores)
    )
    return RatingKey(rated="verdicts", seed=0, available=len(items), items=items)


def test_the_figures() -> None:
    """Of ten attempts the judge passes five; Ana agrees on four of these and four of the others; Ben says 7 always."""
    key = key_of([8, 8, 8, 8, 8, 2, 2, 2, 2, 2])
    ana = dict(zip((f"v-{i}" for i in range(10)), [8, 8, 8, 8, 2, 2, 2, 2, 2, 8], strict=True))
    found = measure_ratings(key, {"ana": ana, "ben": dict.fromkeys(ana, 7.0)}, resamples=500)
    by_rater = {each.rater: each for each in found.judges}
    # p_o = 8/10, p_e = 1/2: κ = (0.8 - 0.5) / 0.5.
    kappa = by_rater["ana"].kappa
    assert isinstance(kappa, Estimate) and kappa.value == pytest.approx(0.6)
    assert kappa.low is not None and kappa.high is not None and kappa.low < 0.6 < kappa.high
    ben = by_rater["ben"].kappa
    assert isinstance(ben, Estimate) and ben.value == 0
    gap = by_rater["ben"].difference
    assert isinstance(gap, Estimate) and gap.value == -2 and gap.low is not None
    mean = found.means[PEOPLE]
    assert isinstance(mean, Estimate) and mean.value == 6  # (5 + 7) / 2
    assert found.useful is None and len(found.pairs) == 1


def test_feedback_has_no_judge_and_a_share_that_is_useful() -> None:
    key = key_of([0] * 4).model_copy(update={"rated": "feedback"})
    key = key.model_copy(update={"items": tuple(item.model_copy(update={"scores": {}}) for item in key.items)})
    found = measure_ratings(key, {"ana": {"v-0": 5, "v-1": 4, "v-2": 1}}, 1, resamples=100)
    assert found.judges == () and isinstance(found.useful, Estimate)
    assert (found.useful.value, found.useful.n, found.scored, found.open) == (pytest.approx(2 / 3), 3, 3, 1)
    assert isinstance(found.alpha, Undefined)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"item": "v-0", "score": 11}', "line 1: the score 11 is not from 0 to 10"),
        ('{"item": "v-9", "score": 1}', "'v-9' is not in the key"),
        ('{"item": "v-0", "score": "good"}', "line 1: expected item, annotator and score"),
        ("[1]", "line 1: expected item, annotator and score"),
        ("{", "line 1: expected item, annotator and score"),
        ('{"item": "v-0", "score": null}', "no line is filled in"),
    ],
)
def test_lines_that_cannot_be_used_are_named(tmp_path: Path, text: str, words: str) -> None:
    sheet = tmp_path / "sheet.jsonl"
    sheet.write_text(text + "\n")
    with pytest.raises(RatingError, match=re.escape(words)):
        read_ratings([sheet], key_of([1, 2]))


def test_runs_without_judges_make_no_sheet(tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    file.write_text(judged(1, 5).model_copy(update={"judgements": ()}).model_dump_json() + "\n")
    with pytest.raises(CommandError, match="hold no attempts that a model judged"):
        align("rate", file, "--out", tmp_path / "sheet.jsonl")


def test_fifty_of_the_released_run(corpora: Path, tmp_path: Path) -> None:
    for of in ("verdicts", "feedback"):
        sheet = tmp_path / f"{of}.jsonl"
        align("rate", corpora / "agencybench", "--of", of, "--out", sheet)
        text = sheet.read_text()
        assert len(text.splitlines()) == 50
        assert not re.search("claude|qwen|/Users/", text, re.IGNORECASE)
