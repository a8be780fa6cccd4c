import numpy as np
import pytest

from agenthard.reports.alignment.sampling import SampleError, pass_rates, sample_balanced, sample_by_score, sample_size
from tests.reports.alignment.labelled import make_answers

IDS = [f"t{i}" for i in range(200)]


@pytest.mark.parametrize(
    ("said", "size", "drawn"),
    [
        ("f" * 40 + "c" * 160, 30, {"flagged": 15, "unflagged": 15}),
        ("f" * 5 + "c" * 195, 30, {"flagged": 5, "unflagged": 25}),
        # 20 of 200 have no verdict: 10 % of the sample; what is left is divided
        ("f" * 90 + "c" * 90 + "u" * 10 + "e" * 10, 30, {"flagged": 13, "unflagged": 14, "no verdict": 3}),
        ("c" * 200, 7, {"unflagged": 7}),
        ("f" * 100 + "c" * 100, 500, {"flagged": 100, "unflagged": 100}),
    ],
)
def test_half_of_a_balanced_sample_is_flagged(said: str, size: int, drawn: dict[str, int]) -> None:
    key = sample_balanced(make_answers(said), IDS, size, seed=1)
    assert {stratum.name: stratum.sampled for stratum in key.strata} == drawn
    assert len({task.task_id for task in key.tasks}) == sum(drawn.values())
    assert sum(task.weight for task in key.tasks) == pytest.approx(200)


def test_the_order_of_a_sheet_tells_nothing_and_the_seed_repeats_it() -> None:
    answers = make_answers("f" * 100 + "c" * 100)
    key = sample_balanced(answers, IDS, 40, seed=5)
    assert key == sample_balanced(answers, IDS, 40, seed=5)
    assert key != sample_balanced(answers, IDS, 40, seed=6)
    strata = [task.stratum for task in key.tasks]
    changes = sum(one != other for one, other in zip(strata, strata[1:], strict=False))
    assert 10 < changes < 30


def test_weights_undo_the_design() -> None:
    # Over many samples the weighted number of tasks with an even number is that of the benchmark.
    answers = make_answers("f" * 30 + "c" * 170)
    estimates = [
        sum(
            task.weight for task in sample_balanced(answers, IDS, 40, seed=seed).tasks if int(task.task_id[1:]) % 2 == 0
        )
        for seed in range(300)
    ]
    assert np.mean(estimates) == pytest.approx(100, abs=3 * np.std(estimates) / 300**0.5)


def test_a_sample_by_score_takes_equally_much_of_each_fifth() -> None:
    scores = {task: i / 159 for i, task in enumerate(IDS[:160])} | {"t0": 0.6000000000000001, "t1": 3 * 0.2}
    key = sample_by_score(scores, "pass rate", IDS, 30, seed=0)
    assert [stratum.sampled for stratum in key.strata] == [5] * 6
    assert sum(stratum.population for stratum in key.strata) == 200
    assert key.strata[-1].name == "no pass rate"
    with pytest.raises(SampleError, match="no task has a pass rate"):
        sample_by_score({}, "pass rate", IDS, 30, seed=0)


def test_pass_rates_are_means_over_models() -> None:
    rates = pass_rates({("a", "m1"): [True, False], ("a", "m2"): [True], ("b", "m1"): []})
    assert rates == {"a": 0.75}


def test_sizes() -> None:
    assert [sample_size(n, 0.1, 30) for n in (20, 50, 301)] == [20, 30, 31]
