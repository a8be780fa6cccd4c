import random
from typing import Any

import pytest

from agenthard.audit.decisions.judging import Escalation
from agenthard.audit.judge.aggregate.panel import combine, why_second
from agenthard.audit.judge.aggregate.votes import ErrorRates, PanelRates, error_rates
from agenthard.audit.judge.verdict import CheckedVerdict
from tests.audit.judge.verdicts import failed, flawed, issue, panel, sound, unsure

UNVERIFIED, REFUTED = issue(standing="unverified"), issue(standing="refuted")
PROVED = issue(standing="proved", confidence=0.1)


@pytest.mark.parametrize(
    ("verdicts", "outcome", "probability", "answered"),
    [
        ([flawed("a"), flawed("b"), sound("c")], "flawed", 2 / 3, 3),
        ([flawed("a"), sound("b"), sound("c")], "not_flawed", 1 / 3, 3),
        ([flawed("a"), sound("b")], "uncertain", 1 / 2, 2),
        ([flawed("a"), failed("b"), failed("c")], "flawed", 1.0, 1),
        ([flawed("a"), unsure("b"), sound("c"), sound("c", 1)], "not_flawed", 1 / 3, 4),
        ([unsure("a"), unsure("b"), failed("c")], "uncertain", None, 2),
        ([failed("a"), failed("b")], "error", None, 0),
        ([flawed("a", 0, UNVERIFIED), sound("b")], "not_flawed", 0.0, 2),
        ([flawed("a", 0, REFUTED, UNVERIFIED)], "uncertain", None, 1),
        ([flawed("a", 0, PROVED), sound("b"), sound("c"), sound("c", 1)], "flawed", 1.0, 4),
    ],
    ids=lambda value: None if isinstance(value, list) else str(value),
)
def test_majority(verdicts: list[CheckedVerdict], outcome: str, probability: float | None, answered: int) -> None:
    found = combine(verdicts, panel("a", "b", "c"))
    assert (found.outcome, found.probability) == (outcome, pytest.approx(probability))
    assert (found.answered, found.asked) == (answered, len(verdicts))
    assert bool(found.reason) == (outcome in ("uncertain", "error"))


def test_a_failure_keeps_its_reason() -> None:
    found = combine([failed("a", 0, "refusal: I cannot"), failed("a", 1)], panel("a"))
    assert found.reason == "no judge gave a verdict: a/0: refusal: I cannot; a/1: timeout: no answer"


@pytest.mark.parametrize(
    ("band", "outcome"),
    [
        ((0.5, 0.5), "not_flawed"),
        ((0.25, 0.25), "uncertain"),
        ((0.0, 1.0), "uncertain"),
        ((0.1, 0.25), "flawed"),
        ((0.25, 0.9), "not_flawed"),
    ],
)
def test_the_band(band: tuple[float, float], outcome: str) -> None:
    verdicts = [flawed("a"), sound("b"), sound("b", 1), sound("b", 2)]
    assert combine(verdicts, panel("a", "b", band=band)).outcome == outcome


def test_unanimous_judges_decide_in_the_widest_band() -> None:
    settings = panel("a", "b", band=(0.0, 1.0))
    assert combine([flawed("a"), flawed("b")], settings).outcome == "flawed"
    assert combine([sound("a"), sound("b")], settings).outcome == "not_flawed"


def test_samples_share_the_weight_of_their_judge() -> None:
    settings = panel({"name": "a", "weight": 2.0}, "b", "c", aggregation="weighted")
    # a: 1 of its 4 votes at weight 2, b: 1 at weight 1, c does not vote: (0.5 + 1) / 3.
    votes = [flawed("a"), *(sound("a", n) for n in (1, 2, 3)), failed("a", 4), flawed("b"), unsure("c")]
    assert combine(votes, settings).probability == pytest.approx(0.5)


def test_the_second_tier_decides_where_it_voted() -> None:
    settings = panel("a", "b", {"name": "strong", "tier": "second"})
    first = [flawed("a"), flawed("b")]
    assert combine([*first, sound("strong")], settings).outcome == "not_flawed"
    assert combine([*first, unsure("strong")], settings).outcome == "flawed"


def test_issues_by_category() -> None:
    weak, strong = issue("too-strict", confidence=0.4), issue("too-strict", confidence=0.9)
    other = issue("ambiguous-instruction", confidence=1.0)
    verdicts = [flawed("b", 0, strong, weak), flawed("a", 0, weak, other), flawed("b", 1, UNVERIFIED, weak), sound("c")]
    found = combine(verdicts, panel("a", "b", "c")).issues
    assert [(i.category, i.votes, i.of, i.judges) for i in found] == [
        ("too-strict", 3, 4, ("a", "b")),
        ("ambiguous-instruction", 1, 4, ("a",)),
    ]
    assert found[0].best == strong
    proved = issue("too-strict", "proved", 0.1)
    assert combine([*verdicts, flawed("c", 1, proved)], panel("a", "b", "c")).issues[0].best == proved


def test_order_of_verdicts_changes_nothing() -> None:
    verdicts = [flawed("a", n, issue(confidence=n / 10)) for n in range(5)] + [sound("b", n) for n in range(4)]
    verdicts += [failed("c", n, f"reason {n}") for n in range(3)]
    settings, rng = panel("a", "b", "c"), random.Random(1)
    found = combine(verdicts, settings)
    for _ in range(10):
        assert combine(rng.sample(verdicts, len(verdicts)), settings) == found


@pytest.mark.parametrize(
    ("verdicts", "message"),
    [
        ([], "not 0"),
        ([sound(), sound(task_id="lib/2")], "not 2"),
        ([sound("z")], "z, who is not among a"),
        ([sound(), flawed()], "2 verdicts of a are sample 0"),
    ],
)
def test_verdicts_that_do_not_belong_together(verdicts: list[CheckedVerdict], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        combine(verdicts, panel("a"))


def test_judges_count_by_their_own_error_rates() -> None:
    settings = panel("a", "b", "c", aggregation="dawid_skene")
    good, poor = (ErrorRates(sensitivity=s, specificity=s, tasks=100) for s in (0.9, 0.6))
    rates = PanelRates(prevalence=0.5, judges={"a": good, "b": poor, "c": poor}, tasks=100)
    votes = [flawed("a"), sound("b"), sound("c")]
    # odds = 0.9/0.1 * 0.4/0.6 * 0.4/0.6 = 4
    assert combine(votes, settings, rates).probability == pytest.approx(0.8)
    assert combine(votes, settings).probability == pytest.approx(1 / 3)


def _many(judges: int, tasks: int) -> list[CheckedVerdict]:
    rng = random.Random(5)
    kinds = [(f"t/{n}", rng.random() < 0.4) for n in range(tasks)]
    return [
        (flawed if (rng.random() < 0.85) == bad else sound)(f"j{judge}", sample, task_id=task)
        for task, bad in kinds
        for judge in range(judges)
        for sample in range(2)
    ]


def test_error_rates_over_all_tasks() -> None:
    rates = error_rates(_many(4, 300))
    assert list(rates.judges) == ["j0", "j1", "j2", "j3"]
    assert not rates.note and rates.tasks == 300
    for judge in rates.judges.values():
        assert judge.tasks == 300
        assert (judge.sensitivity, judge.specificity) == (pytest.approx(0.85, abs=0.1), pytest.approx(0.85, abs=0.1))


@pytest.mark.parametrize(("judges", "tasks", "why"), [(2, 50, "no task 3"), (3, 19, "on 19 tasks"), (0, 0, "no task")])
def test_the_majority_decides_where_rates_cannot_be_estimated(judges: int, tasks: int, why: str) -> None:
    verdicts = _many(judges, tasks)
    rates = error_rates(verdicts)
    assert not rates.judges and why in rates.note
    settings = panel("j0", "j1", "j2", aggregation="dawid_skene")
    for task in sorted({verdict.task_id for verdict in verdicts})[:5]:
        mine = [verdict for verdict in verdicts if verdict.task_id == task]
        assert combine(mine, settings, rates) == combine(mine, panel("j0", "j1", "j2"))


@pytest.mark.parametrize(
    ("verdicts", "rules", "why"),
    [
        ([flawed("a"), flawed("b")], {}, "uncertain"),
        ([flawed("a"), flawed("b")], {"sure": 0.5}, "grave"),
        ([flawed("a"), flawed("b")], {"sure": 0.5, "grave": ["cosmetic"]}, ""),
        ([flawed("a"), flawed("b")], {"when": ["failed"]}, ""),
        ([flawed("a"), sound("b")], {}, "uncertain"),
        ([unsure("a")], {}, "uncertain"),
        ([unsure("a")], {"when": ["grave"]}, ""),
        ([failed("a"), failed("b")], {}, "failed"),
        ([failed("a"), failed("b")], {"when": ["uncertain"]}, ""),
        ([flawed("a"), sound("b"), sound("b", 1)], {}, "uncertain"),
        ([sound("a"), sound("b")], {}, ""),
        ([flawed("a", 0, UNVERIFIED), sound("b")], {}, ""),
        ([flawed("a", 0, PROVED), sound("b")], {}, ""),
    ],
)
def test_who_gets_a_second_opinion(verdicts: list[CheckedVerdict], rules: dict[str, Any], why: str) -> None:
    assert why_second(combine(verdicts, panel("a", "b")), Escalation.model_validate(rules)) == why
