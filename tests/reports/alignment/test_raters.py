import numpy as np
import pytest

from agenthard.audit.statistics import Estimate, Undefined
from agenthard.reports.alignment.measures import Settings
from agenthard.reports.alignment.raters import MAJORITY, rater_agreement, robustness
from agenthard.reports.alignment.truth import Names, consensus
from agenthard.reports.labels import Label
from agenthard.taxonomy.categories import builtin_taxonomy
from tests.reports.alignment.labelled import make_answers, make_labelled

NAMES = Names(builtin_taxonomy())
SETTINGS = Settings(resamples=300)


def labels(who: str, said: str, category: str = "too-strict") -> list[Label]:
    """Labels of t0, t1 ...: x flawed, o sound, anything else none."""
    return [
        Label(task_id=f"t{i}", flawed=c == "x", annotator=who, category=category if c == "x" else None)
        for i, c in enumerate(said)
        if c in "xo"
    ]


def test_everybody_is_compared_with_everybody() -> None:
    given = [*labels("ann", "xxxxoooo-"), *labels("bob", "xxxoxooo-", "Too lenient"), *labels("cem", "-xxxoooox")]
    found = rater_agreement(given, consensus(given, NAMES).tasks, make_answers("ffccccfu"), NAMES, SETTINGS)
    assert [(pair.first, pair.second) for pair in found.between_annotators] == [
        ("ann", "bob"), ("ann", "cem"), ("bob", "cem"),
    ]  # fmt: skip
    assert [pair.first for pair in found.with_judge] == ["ann", "bob", "cem", MAJORITY]
    first = found.between_annotators[0]
    assert isinstance(first.same, Estimate)
    assert isinstance(first.kappa, Estimate)
    # 6 of 8 alike; both say flawed 4 of 8: p_e = 1/2, so κ = (3/4 − 1/2) / (1/2)
    assert (first.same.value, first.same.n, first.kappa.value) == (0.75, 8, 0.5)
    judge = found.with_judge[0].same
    assert isinstance(judge, Estimate)
    assert (judge.value, judge.n) == (4 / 7, 7)  # the undecided task is not among them
    assert isinstance(found.alpha, Estimate)
    assert (found.alpha.n, found.alpha.of) == (8, 9)
    # Where ann says too-strict bob says too-lenient, so they agree less on categories than on flaws.
    assert isinstance(found.alpha_categories, Estimate)
    assert found.alpha_categories.value < found.alpha.value


def test_one_annotator_has_no_agreement() -> None:
    given = labels("ann", "xo")
    found = rater_agreement(given, consensus(given, NAMES).tasks, make_answers("fc"), NAMES, SETTINGS)
    assert found.between_annotators == ()
    assert isinstance(found.alpha, Undefined)
    assert len(found.with_judge) == 1


def test_intervals_of_agreement_cover_the_truth() -> None:
    # Two annotators who err on 15 % of the tasks, half of which are flawed: κ = α = (1 − 2·.15)² = .49
    rng, covered, trials = np.random.default_rng(4), np.zeros(2), 120
    for _ in range(trials):
        truth = rng.random(150) < 0.5
        given = []
        for who in ("ann", "bob"):
            said = truth ^ (rng.random(150) < 0.15)
            given += labels(who, "".join("x" if flaw else "o" for flaw in said))
        found = rater_agreement(given, (), make_answers(""), NAMES, SETTINGS)
        for place, result in enumerate((found.between_annotators[0].kappa, found.alpha)):
            assert isinstance(result, Estimate)
            assert result.low is not None
            assert result.high is not None
            covered[place] += result.low <= 0.49 <= result.high
    assert (covered / trials > 0.89).all(), covered / trials


def test_judges_are_compared_on_the_tasks_they_share() -> None:
    labelled = make_labelled("x" * 10 + "o" * 10)
    good, poor = make_answers("f" * 10 + "c" * 10, "good"), make_answers("c" * 8 + "ff" + "c" * 9 + "e", "poor")
    found = robustness([good, poor], labelled, SETTINGS)
    assert found is not None
    assert (found.common, found.labelled) == (19, 20)
    assert [row.accuracy.value for row in found.rows if isinstance(row.accuracy, Estimate)] == [1, 11 / 19]
    assert not isinstance(found.differences, Undefined)
    (pair,) = found.differences
    # good is right on 8 tasks on which poor is wrong, never the other way round: p = 2 / 2^8
    assert (pair.difference, pair.n, pair.p) == (pytest.approx(8 / 19), 19, 2 / 2**8)
    assert robustness([good], labelled, SETTINGS) is None


def test_a_judge_that_was_asked_about_few_tasks_does_not_narrow_the_comparison() -> None:
    labelled = make_labelled("xxxxoooo")
    judges = [make_answers("ffffcccc", "one"), make_answers("fcffcccc", "two"), make_answers("ff", "second tier")]
    found = robustness(judges, labelled, SETTINGS)
    assert found is not None
    assert ([row.name for row in found.rows], found.common) == (["one", "two"], 8)
    assert found.left_out == {"second tier": 2}
    assert len(found.agreement) == 3
    few = robustness(judges[1:], labelled, SETTINGS)
    assert few is not None
    assert isinstance(few.differences, Undefined)


def test_judges_of_a_small_sample_of_the_labelled_tasks_are_compared_on_the_sample() -> None:
    labelled = make_labelled("xxxxoooo" + "o" * 40)
    judges = [make_answers("fcffcccc", "one"), make_answers("ffffcccc", "two")]
    found = robustness(judges, labelled, SETTINGS)
    assert found is not None
    assert ([row.name for row in found.rows], found.common, found.left_out) == (["one", "two"], 8, {})


def test_judges_that_answered_nothing_are_not_compared() -> None:
    found = robustness([make_answers("", "one"), make_answers("", "two")], make_labelled("xxoo"), SETTINGS)
    assert found is not None
    assert found.common == 0 and all(isinstance(row.accuracy, Undefined) for row in found.rows)


def test_judges_on_clusters_are_compared_by_cluster() -> None:
    labelled = make_labelled("xxxxoooo" * 4, clusters="abcdefgh" * 4)
    good, poor = make_answers("ffffcccc" * 4, "good"), make_answers("cfffcccf" * 4, "poor")
    found = robustness([good, poor], labelled, Settings(resamples=400))
    assert found is not None
    assert "bootstrap over clusters" in found.test
    assert not isinstance(found.differences, Undefined)
    # Two of eight clusters differ, which a resample misses too often to be significant; 8 of 32 tasks would be.
    assert found.differences[0].p > 0.05
