"""Live figures, with values derived by hand."""

from pathlib import Path

import numpy as np
import pytest

from agenthard.audit.statistics.agreement import cohen_kappa, krippendorff_alpha
from agenthard.audit.statistics.matrix import ScoreMatrix
from agenthard.audit.statistics.result import Estimate, Undefined
from agenthard.flows.review.decide import ReviewedRun
from agenthard.flows.review.figures import (
    agreement,
    check_precision,
    label_budget,
    read_scores,
    review_figures,
    task_values,
)
from agenthard.flows.review.state import fold
from tests.flows.review.build_events import finding_verdict, made, numbered, verdict

ANN, BOB = "yyyyynnnnn", "yyyynnnnny"


def matrix(rows: list[str]) -> ScoreMatrix:
    passed = np.array([[int(cell == "1") for cell in row] for row in rows], dtype=np.int32)
    ones, zeros = np.ones_like(passed), np.zeros_like(passed)
    names = tuple(f"m{n}" for n in range(len(rows)))
    tasks = tuple(f"t{n}" for n in range(len(rows[0])))
    return ScoreMatrix(names, tasks, passed, ones, zeros, zeros.astype(np.int8))


def test_two_reviewers_have_kappa_and_three_alpha() -> None:
    words = {"y": "yes", "n": "no"}
    labels = {"y": "flawed", "n": "sound"}
    events = [verdict(f"t{n}", words[a]) for n, a in enumerate(ANN)]
    events += [verdict(f"t{n}", words[b], by="bob") for n, b in enumerate(BOB)]
    found = agreement(fold(numbered(*events)))
    # p_o = 8/10, p_e = .5 * .5 + .5 * .5, κ = (.8 - .5) / (1 - .5)
    assert isinstance(found, Estimate) and found.value == pytest.approx(0.6) and found.n == 10
    assert found == cohen_kappa([labels[a] for a in ANN], [labels[b] for b in BOB])
    third = [verdict("t0", "no", by="cem"), verdict("t9", "cannot_tell", by="cem")]
    rows = [[labels[a], labels[b], "sound" if n == 0 else None] for n, (a, b) in enumerate(zip(ANN, BOB, strict=True))]
    assert agreement(fold(numbered(*events, *third))) == krippendorff_alpha(rows)
    assert isinstance(agreement(fold(numbered(*events[:10]))), Undefined)


def test_only_blind_verdicts_count_where_asked() -> None:
    events = [verdict("t0", "yes"), verdict("t1", "no"), verdict("t0", "yes", by="bob"), verdict("t1", "no", by="bob")]
    events.append(verdict("t1", "yes", by="bob", blind=False))
    whole, blind = (agreement(fold(numbered(*events)), blind=only) for only in (False, True))
    assert isinstance(whole, Estimate) and whole.n == 2
    assert isinstance(blind, Undefined)


def test_figures_of_the_demo(demo_audit: Path) -> None:
    reviewed = ReviewedRun(demo_audit)
    flagged = [d.task_id for d in reviewed.decisions if d.action in ("drop", "review")]
    sound = next(d.task_id for d in reviewed.decisions if d.action == "keep" and not d.finding_ids)
    schema = [finding for finding in reviewed.findings if finding.check == "call-schema"]
    assert [finding.task_ids for finding in schema] == [("library/9",), ("parcels/11",)]
    events = [
        verdict("library/9", "yes", seconds=10),
        verdict("parcels/11", "yes", seconds=20),
        verdict("parcels/11", "no", by="bob", seconds=60),
        verdict(sound, "no"),
        finding_verdict(schema[0].id, "true"),
        finding_verdict(schema[1].id, "arguable"),
    ]
    found = review_figures(fold(numbered(*events)), reviewed.decisions, reviewed.findings, resamples=200)
    assert (found.tasks, found.reviewed, found.flagged, found.reviewed_flagged) == (60, 3, len(flagged), 2)
    assert (found.disputed, found.stale, found.seconds) == (1, 0, 20)
    assert found.reviewers == {"ann": 3, "bob": 1}
    row = next(row for row in found.precision if row.check == "call-schema")
    assert isinstance(row.findings, Estimate) and (row.findings.value, row.findings.n) == (0.5, 2)
    assert isinstance(row.tasks, Estimate) and (row.tasks.value, row.tasks.n) == (1.0, 1)  # parcels/11 is disputed
    assert found.budget == label_budget(60) and found.budget_left == (found.budget or 0) - 3
    stale = fold(numbered(*events), reviewed.contents)
    assert review_figures(stale, reviewed.decisions, reviewed.findings, resamples=200).stale == 6


def test_an_adjudication_settles_the_precision(demo_audit: Path) -> None:
    reviewed = ReviewedRun(demo_audit)
    events = [verdict("parcels/11", "yes"), verdict("parcels/11", "no", by="bob")]
    events.append(made("adjudication", "parcels/11", "cem", flaw="no"))
    row = next(r for r in check_precision(fold(numbered(*events)), reviewed.findings) if r.check == "call-schema")
    assert isinstance(row.tasks, Estimate) and (row.tasks.value, row.tasks.n) == (0.0, 1)


def test_the_value_of_a_task_is_what_it_changes_on_the_leaderboard() -> None:
    # m0 passes t0, t1, t3; m1 passes t0, t2. On t0 to t2 they are tied, and t3 is dropped.
    scores, kept = matrix(["1101", "1010"]), {"t0": True, "t1": True, "t2": True, "t3": False}
    found = {row.task_id: row for row in task_values(scores, kept)}
    assert {name: row.pairs for name, row in found.items()} == {"t0": 0, "t1": 1, "t2": 1, "t3": 1}
    assert found["t0"].closeness == 0
    # Without t2 m0 leads by 1/2 - 0 and no single task changes the order; t1 closes the gap of 2/3 by all of it.
    lead = {row.task_id: row for row in task_values(matrix(["111", "100"]), {"t0": True, "t1": True, "t2": True})}
    assert [row.pairs for row in lead.values()] == [0, 0, 0] and lead["t1"].closeness == pytest.approx(0.25)
    assert task_values(Undefined(reason="undefined because none"), kept) == [] == task_values(matrix(["10"]), kept)


def test_values_of_the_demo(demo_audit: Path) -> None:
    reviewed = ReviewedRun(demo_audit)
    kept = {decision.task_id: decision.action != "drop" for decision in reviewed.decisions}
    scores = read_scores(demo_audit, list(kept))
    assert isinstance(scores, ScoreMatrix) and len(scores.models) == 8
    values = task_values(scores, kept)
    assert len(values) == 60 and values[0].pairs >= values[-1].pairs
    assert len({row.task_id for row in values}) == 60


def test_the_budget_is_that_of_align_plan() -> None:
    assert label_budget(1) is None and (label_budget(278) or 0) < 278
