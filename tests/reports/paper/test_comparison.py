"""Published figures next to ours: what follows from printed scores, what runs meet, what is ambiguous or unknown."""

from dataclasses import replace

import numpy as np
import pytest

from agenthard.audit.statistics import Undefined
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.analysis import analyse
from agenthard.reports.cleaning.compression import compressions
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.paper.comparison import compare_published
from agenthard.reports.paper.material import RunMaterial
from agenthard.reports.paper.material import _runs as chosen
from agenthard.reports.paper.page import make_paper, paper_markdown, sentence
from agenthard.reports.paper.published import LEADERBOARD, SCORES
from agenthard.reports.paper.record import Comparison
from tests.reports.cleaning.small import IDENTITY, made, runs

TASKS = 200
SETTINGS = AnalysisSettings(draws=200, resamples=20)


def tau(scores: dict[str, float], decisions: str = "") -> RunMaterial:
    """Make an audit of τ-bench whose models have these scores, on 200 tasks; each model fails its last tasks."""
    marks = {model: "1" * round(score * TASKS) + "0" * round((1 - score) * TASKS) for model, score in scores.items()}
    found = made(decisions or "k" * TASKS, runs(marks))
    found = replace(found, audit=IDENTITY.model_copy(update={"source": "tau-bench"}))
    everyone = chosen(found, None, 0.0)
    banks = undefined("no bank is needed here")
    return RunMaterial("tau", found, analyse(found, SETTINGS), everyone, everyone, banks, np.zeros((TASKS, 2)))


def by_id(rows: tuple[Comparison, ...], made_from: str = "our runs") -> dict[str, Comparison]:
    return {row.published.id: row for row in rows if row.made_from == made_from}


def test_table_9_follows_from_the_scores_that_table_5_prints() -> None:
    rows = by_id(compare_published([], [], None), "the paper's scores")
    assert len(rows) == 7 and {row.met for row in rows.values()} == {"met"}
    # 9 of 16 and 12 of 16 models change rank, by 14 and 18 ranks together
    values = {name: row.ours.value for name, row in rows.items() if row.ours and not isinstance(row.ours, Undefined)}
    assert values["change-rate-filtered"] == 9 / 16 and values["change-rate-hard"] == 12 / 16
    assert values["rank-shift-filtered"] == 14 / 16 and values["rank-shift-hard"] == 18 / 16


def test_without_runs_nothing_is_met_by_them_and_the_reason_is_said() -> None:
    rows = by_id(compare_published([], [], None))
    assert {row.met for row in rows.values()} == {"not made", "unknown"}
    assert rows["agreement-initial"].why == "no audit of this benchmark is among the runs"
    assert rows["stages-others"].met == "unknown" and rows["stages-others"].published.value is None


def test_scores_are_matched_by_their_initial_value() -> None:
    rows = by_id(compare_published([tau({"first": 0.685, "other": 0.5, "last": 0.1})], [], None))
    assert rows["score-1-initial"].met == "met" and rows["score-1-initial"].run == "tau: first"
    assert rows["score-1-issue-filtered"].met == "differs"
    assert rows["score-1-issue-filtered"].difference == pytest.approx(0.685 - 0.711)
    assert "our policy drops other tasks" in rows["score-1-issue-filtered"].why
    fourth = rows["score-4-initial"]
    assert (fourth.met, fourth.why) == (
        "not made",
        "3 models of ours have a run on every task, and no further one scores 0.642",
    )


def test_a_score_that_two_models_of_the_paper_share_names_neither(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "agenthard.reports.paper.published.LEADERBOARD", tuple((round(a, 2), b, c) for a, b, c in LEADERBOARD)
    )
    figures = tuple(f.model_copy(update={"value": round(f.value or 0, 2)}) for f in SCORES)
    monkeypatch.setattr("agenthard.reports.paper.published.SCORES", figures)
    rows = by_id(compare_published([tau({"one": 0.67, "other": 0.5, "last": 0.1})], [], None))
    assert rows["score-2-initial"].met == "met" and rows["score-2-hard"].met == "not made"
    assert "2 models of the paper score 0.670 at first; which of them ours is, is not known" in rows["score-2-hard"].why
    assert rows["score-3-initial"].met == "not made"


def test_our_own_figures_say_why_they_differ() -> None:
    rows = by_id(compare_published([tau({"a": 0.9, "b": 0.5, "c": 0.1}, "d" * 20 + "k" * 180)], [], None))
    assert rows["tasks-filtered"].ours is not None and rows["tasks-filtered"].difference == 180 - 121
    assert "3 models with a run on every task, the paper has 16" in rows["agreement-initial"].why
    assert "no judge has looked at the tasks" not in rows["agreement-initial"].why
    assert rows["precision"].met == "not made" and "--alignment" in rows["precision"].why


def test_the_whole_paper_of_a_small_audit_is_escaped_and_complete() -> None:
    material = tau({"a<b>": 0.9, "b": 0.5, "c": 0.1})
    paper = make_paper([material])
    assert [table.paper for table in paper.tables][:2] == ["Table 1", "Table 2"]
    assert all(table.rows or table.missing for table in paper.tables)
    assert all(row.keys() == table.rows[0].keys() for table in paper.tables for row in table.rows)
    text = paper_markdown(paper)
    assert "<b>" not in text and "a\\<b\\>" in text
    assert sentence(paper).startswith(f"{len(paper.comparisons)} comparisons with figures that the paper printed: ")


def test_a_stage_that_did_not_run_leaves_what_the_stage_before_left() -> None:
    found = compressions(
        {"a": {"initial": 100, "rules": 90, "judge": 60}, "b": {"initial": 20, "rules": 20, "execution": 10}}
    )
    assert [(row.stage, row.ran, row.kept, row.tasks) for row in found] == [
        ("rules", 2, 110, 120),
        ("execution", 1, 100, 120),
        ("judge", 1, 70, 120),
    ]
    pooled, macro = ([getattr(row, name).value for row in found] for name in ("pooled", "macro"))
    assert pooled == pytest.approx([10 / 120, 20 / 120, 50 / 120])
    assert macro == pytest.approx([0.05, 0.3, 0.45])
