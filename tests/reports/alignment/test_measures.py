import numpy as np
import pytest

from agenthard.audit.statistics import Estimate, Undefined
from agenthard.reports.alignment.measures import Settings, constant_baselines, measure, random_baseline
from tests.reports.alignment.labelled import make_answers, make_labelled

SETTINGS = Settings(resamples=500)


def value(result: object) -> float:
    assert isinstance(result, Estimate), result
    return result.value


def test_what_was_not_answered_counts_neither_for_nor_against() -> None:
    #                            xxxxoooo
    found = measure(make_answers("ffcefcu."), make_labelled("xxxxoooo"), SETTINGS)
    assert (found.answered, found.labelled, found.undecided, found.errors, found.not_asked) == (5, 8, 1, 1, 1)
    counts = (found.true_positives, found.false_positives, found.false_negatives, found.true_negatives)
    assert counts == (2, 1, 1, 1)
    # precision 2/3, recall 2/3 of the flawed tasks that have a verdict, F1 = 2·2 / (3 + 3)
    assert [value(found.precision), value(found.recall), value(found.f1)] == pytest.approx([2 / 3] * 3)
    assert isinstance(found.f1, Estimate)
    assert (found.f1.n, found.f1.of) == (5, 8)


def test_precision_is_adjusted_to_the_prevalence() -> None:
    said, truth = "f" * 80 + "c" * 20 + "f" * 20 + "c" * 80, "x" * 100 + "o" * 100
    found = measure(make_answers(said), make_labelled(truth), SETTINGS)
    # .8 · .1 / (.8 · .1 + .2 · .9) = .08 / .26
    assert (value(found.precision), value(found.adjusted)) == (0.8, pytest.approx(0.08 / 0.26))
    assert isinstance(found.adjusted, Estimate)
    assert found.adjusted.low is not None
    clustered = measure(make_answers(said), make_labelled(truth, clusters="ab" * 100), SETTINGS)
    assert isinstance(clustered.adjusted, Estimate)
    assert clustered.adjusted.low is None
    assert "clusters" in clustered.adjusted.method


def test_a_balanced_sample_is_weighted_up_to_the_benchmark() -> None:
    # 100 flagged tasks of which 10 are labelled, 8 flawed; 900 unflagged of which 10 are labelled, 1 flawed.
    labelled = make_labelled(
        "x" * 8 + "oo" + "x" + "o" * 9, strata="f" * 10 + "u" * 10, population={"f": 100, "u": 900}
    )
    found = measure(make_answers("f" * 10 + "c" * 10), labelled, SETTINGS)
    # flawed: 80 among the flagged, 90 among the rest; recall 80/170, F1 = 2·80 / (100 + 170)
    assert value(found.precision) == pytest.approx(0.8)
    assert value(found.recall) == pytest.approx(80 / 170)
    assert value(found.f1) == pytest.approx(160 / 270)
    assert value(labelled.frame.rate(labelled.flawed, labelled.flawed | True)) == pytest.approx(0.17)
    assert isinstance(found.adjusted, Undefined)
    # Var = 80·(1 − 10/100)·... by hand: z = (y − R)/170 for flawed tasks, y = 1 if flagged; s² of each stratum
    r, z_flagged, z_rest = 80 / 170, (1 - 80 / 170) / 170, (80 / 170) / 170
    s2 = [z_flagged**2 * (8 * 2) / (10 * 9), z_rest**2 * (1 * 9) / (10 * 9)]
    variance = 100**2 * (1 - 10 / 100) * s2[0] / 10 + 900**2 * (1 - 10 / 900) * s2[1] / 10
    assert isinstance(found.recall, Estimate)
    assert f"({r * (1 - r) / variance:.1f})" in found.recall.method


def test_a_stratum_with_one_label_gives_no_interval_and_a_full_count_has_no_width() -> None:
    one = make_labelled("xxo", strata="ffu", population={"f": 4, "u": 9})
    found = measure(make_answers("ffc"), one, SETTINGS).recall
    assert isinstance(found, Estimate)
    assert found.low is None
    everything = make_labelled("xxoo", strata="ffuu", population={"f": 2, "u": 2})
    found = measure(make_answers("fcfc"), everything, SETTINGS).recall
    assert isinstance(found, Estimate)
    assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)
    # All flagged tasks are labelled, a part of the others: precision is a count, recall is not.
    part = measure(make_answers("ffcc"), make_labelled("xoxo", strata="ffuu", population={"f": 2, "u": 8}), SETTINGS)
    assert isinstance(part.precision, Estimate)
    assert (part.precision.low, part.precision.high) == (0.5, 0.5)
    assert isinstance(part.recall, Estimate)
    assert part.recall.low is not None
    assert part.recall.low < part.recall.value == pytest.approx(1 / 5)


def test_no_flag_has_no_precision_and_a_perfect_f1_no_interval() -> None:
    nothing = measure(make_answers("ccc"), make_labelled("xoo"), SETTINGS)
    assert isinstance(nothing.precision, Undefined)
    assert isinstance(measure(make_answers("ccc"), make_labelled("ooo"), SETTINGS).f1, Undefined)
    perfect = measure(make_answers("fcc"), make_labelled("xoo"), SETTINGS).f1
    assert isinstance(perfect, Estimate)
    assert (perfect.value, perfect.low) == (1, None)


def test_constant_baselines() -> None:
    labelled = make_labelled("xxooooooo" + "o")
    flag_all, flag_none = constant_baselines(labelled, SETTINGS)
    assert (value(flag_all.precision), value(flag_all.recall)) == (0.2, 1)
    assert value(flag_none.recall) == 0
    assert isinstance(flag_none.precision, Undefined)


def test_random_flags_have_the_hypergeometric_expectation() -> None:
    labelled = make_labelled("x" * 20 + "o" * 60)
    found = random_baseline("r", 0.25, labelled, Settings(resamples=4000, seed=3))
    # 20 of 80 flagged: expected precision 20/80 and recall 20/80; sd of the hits sqrt(20·.25·.75·60/79) = 1.69
    assert found.flagged == 20
    assert value(found.precision) == pytest.approx(0.25, abs=3 * 1.69 / 20 / 4000**0.5)
    assert value(found.recall) == value(found.precision) == pytest.approx(value(found.f1))
    assert isinstance(found.precision, Estimate)
    # 5 % and 95 % of hypergeometric(80, 20, 20) are 2 and 8 hits
    assert (found.precision.low, found.precision.high, found.precision.level) == (2 / 20, 8 / 20, 0.9)
    assert isinstance(random_baseline("r", 0.001, labelled, SETTINGS).precision, Undefined)


@pytest.mark.parametrize("design", ["independent", "clustered", "balanced"])
def test_intervals_cover_the_truth_about_as_often_as_they_claim(design: str) -> None:
    rng = np.random.default_rng(11)
    trials, covered = 200, np.zeros(3)
    for _ in range(trials):
        if design == "balanced":
            # A benchmark of 120 flagged tasks, 84 flawed, and 480 others, 48 flawed; 60 + 60 of them are labelled.
            flagged = rng.permutation(np.repeat([True, False], [84, 36]))[:60]
            rest = rng.permutation(np.repeat([True, False], [48, 432]))[:60]
            truth = [*flagged, *rest]
            strata, population, clusters, said = "f" * 60 + "u" * 60, {"f": 120, "u": 480}, "", "f" * 60 + "c" * 60
            true = (84 / 120, 84 / 132, 168 / 252)
        else:
            # Flaws and verdicts are shared by all four tasks of a cluster, or each task's own.
            size = 4 if design == "clustered" else 1
            flaw = rng.random(160 // size) < 0.4
            flag = np.where(flaw, rng.random(len(flaw)) < 0.75, rng.random(len(flaw)) < 0.2)
            truth, said = list(np.repeat(flaw, size)), "".join("f" if f else "c" for f in np.repeat(flag, size))
            clusters = "".join(chr(200 + i) for i in np.repeat(np.arange(len(flaw)), size)) if size > 1 else ""
            strata, population = "", None
            true = (0.3 / (0.3 + 0.12), 0.75, 2 * 0.3 / (0.42 + 0.4))
        labelled = make_labelled("".join("x" if t else "o" for t in truth), clusters, strata, population)
        found = measure(make_answers(said), labelled, Settings(resamples=300))
        for place, (result, figure) in enumerate(zip((found.precision, found.recall, found.f1), true, strict=True)):
            assert isinstance(result, Estimate)
            assert result.low is not None
            assert result.high is not None
            covered[place] += result.low <= figure <= result.high
    # 95 % claimed; with 200 trials the standard error is 1.5 points
    assert (covered / trials > 0.9).all(), covered / trials
    assert (covered / trials).mean() < 0.985
