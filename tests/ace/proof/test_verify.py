"""Verification: whole instances pass, and each way of being wrong is said."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agenthard.ace.instance import Instance
from agenthard.ace.proof import digest, verify
from tests.ace.environment.small import instance
from tests.ace.made import one, published, small_suite, with_item, with_puzzle, with_slot_answer


def kinds(made: Instance) -> list[tuple[str, object]]:
    return [(problem.kind, problem.cell) for problem in verify(made).problems]


def test_generated_instances_hold_and_carry_their_certificate() -> None:
    for made in small_suite():
        report = verify(made)
        assert report.ok and report.unique and report.hard == ()
        assert report.certificate == made.certificate


def test_the_puzzle_by_hand_holds() -> None:
    report = verify(instance())
    assert report.ok and report.unique
    assert report.certificate is not None and report.certificate.solutions == 1


def test_a_decoy_that_fits_is_found_twice_over() -> None:
    # With 9 credits asked for instead of 10, C22 fits, and the solution is no longer the only one.
    loose = with_puzzle(instance(), limits=instance().puzzle.limits | {"total_credits_min": 9})
    assert kinds(loose) == [("decoy", (1, 0)), ("text", None), ("solution", None)]
    assert not verify(loose).unique and len(verify(loose).hard) == 2


def test_a_decoy_that_breaks_its_slot_is_none() -> None:
    assert ("decoy", (0, 1)) in kinds(with_item(instance(), "C12", price=301))


def test_a_filter_that_meets_its_slot_is_none() -> None:
    fits = with_item(instance(), "C13", price=300)
    assert ("filter", (0, 1)) in kinds(fits)


def test_a_truth_that_breaks_a_rule_is_found() -> None:
    dear = with_item(instance(), "C11", price=301)
    assert kinds(dear)[:2] == [("truth", (0, 1)), ("truth", None)]  # its slot's limit, and the sum of the grid
    assert ("solution", None) in kinds(dear)


def test_another_solution_than_the_recorded_one_is_found() -> None:
    small = instance()
    slots = (small.answer.slots[0], replace(small.answer.slots[1], truth="C22", decoys=("C21",)))
    swapped = replace(small.answer, solution=(("C1", "C11"), ("C22", "C2")), slots=slots)
    report = verify(replace(small, answer=swapped))
    assert "the only solution is another than the recorded one" in [problem.message for problem in report.problems]


def test_a_false_level_is_a_soft_problem() -> None:
    claimed = with_slot_answer(instance(), 1, stage=1)
    report = verify(claimed)
    assert [problem.kind for problem in report.problems] == ["stage"]
    assert report.problems[0].message == "preference level 1 is recorded, the decoys are on 3"
    assert report.hard == () and report.unique


def test_a_text_that_says_something_else_is_a_soft_problem() -> None:
    assert kinds(with_puzzle(instance(), instruction="Fill the grid.")) == [("text", None)]


def test_a_certificate_of_another_instance_is_found() -> None:
    made = one("meal")
    stale = with_puzzle(made, id="another")
    assert digest(stale) != digest(made)
    assert [problem.message for problem in verify(stale).problems] == [
        "the certificate is about another instance: puzzle or answer were changed after it was made"
    ]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"solutions": 2}, "says 2 solutions, the search finds 1"),
        ({"nodes": 1}, "says 1 nodes, the same search takes"),
    ],
)
def test_a_certificate_that_says_too_much_is_found(change: dict[str, int], message: str) -> None:
    made = one("meal")
    assert made.certificate is not None
    forged = replace(made, certificate=replace(made.certificate, **change))
    assert [problem.kind for problem in verify(forged).problems] == ["certificate"]
    assert message in verify(forged).problems[0].message


def test_an_older_search_may_count_its_nodes_otherwise() -> None:
    made = one("meal")
    assert made.certificate is not None
    assert verify(replace(made, certificate=replace(made.certificate, nodes=1, version=0))).ok


def _solution(grid: tuple[tuple[str, ...], ...]) -> Callable[[Instance], Instance]:
    return lambda made: replace(made, answer=replace(made.answer, solution=grid))


def _slots(change: dict[str, object], index: int = 0) -> Callable[[Instance], Instance]:
    def changed(made: Instance) -> Instance:
        slots = list(made.puzzle.slots)
        slots[index] = replace(slots[index], **change)
        return with_puzzle(made, slots=tuple(slots))

    return changed


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda made: with_puzzle(made, domain="garden"), "the domain 'garden' is unknown; there are: course, meal"),
        (lambda made: with_puzzle(made, rows=3), "the grid is not 3x2"),
        (_solution((("C1", "C11"),)), "the solution is not 2x2"),
        (_solution((("C2", "C11"), ("C21", "C1"))), "the solution is not the grid filled with the truths"),
        (_slots({"row": 1}), "the slots are not the empty cells of the grid in reading order"),
        (lambda made: replace(made, answer=replace(made.answer, slots=())), "2 slots have 0 answers"),
        (_slots({"candidates": ("C13", "C11", "C99")}), "no items have the ids C99"),
        (_slots({"candidates": ("C13", "C11", "C21")}), "items are in more than one place: C21"),
        (_slots({"candidates": ("C13", "C11")}), "its candidates are not its truth, its decoys and its filters"),
        (_slots({"limits": {"max_colour": 3}}), "unknown slot rules: max_colour"),
        (lambda made: with_puzzle(made, limits={}), "global rules missing or unknown: same_category_week_max"),
        (
            lambda made: with_puzzle(made, limits=made.puzzle.limits | {"total_price_max": 2**70}),
            "a threshold is beyond",
        ),
        (lambda made: with_puzzle(made, candidates_per_slot=4), "it has 3 candidates where 4 are announced"),
        (lambda made: with_slot_answer(made, 0, stage=None), "a preference level belongs to the slots with decoys"),
        (lambda made: with_item(made, "C1", price="free"), "item 'C1': its price is 'free', not a whole number"),
        (lambda made: with_item(made, "C1", price=2**70), "not a whole number"),
        (lambda made: with_item(made, "C1", teacher=7), "item 'C1': its teacher is 7, not a word"),
        (lambda made: with_item(made, "C1", course_id="C7"), "item 'C1': its course_id is 'C7'"),
    ],
)
def test_what_does_not_hold_together_is_said_and_not_searched(
    change: Callable[[Instance], Instance], message: str
) -> None:
    report = verify(change(instance()))
    assert {problem.kind for problem in report.problems} == {"structure"}
    assert any(message in problem.message for problem in report.problems), report.problems
    assert report.certificate is None and not report.unique and report.hard == report.problems


@pytest.mark.long
@pytest.mark.corpora
def test_the_paper_s_files_hold_but_for_eight_labels(corpora: Path) -> None:
    soft = []
    unique = 0
    for made in published(corpora):
        report = verify(made)
        unique += report.unique
        assert report.hard == (), made.id
        soft += [(made.id, problem.cell, problem.message) for problem in report.problems]
    assert unique == len(published(corpora)) == 534
    label = "preference level {} is recorded, the decoys are on {}".format
    assert soft == [
        ("shopping_r5_c5_h15_b19", (3, 2), label(2, 3)),
        ("course_r5_c7_h5_b8", (3, 2), label(1, 3)),
        ("pc_build_r5_c7_h15_b21", (2, 6), label(2, 3)),
        ("shopping_r5_c7_h5_b15", (3, 5), label(1, 2)),
        ("shopping_r5_c7_h5_b21", (2, 5), label(1, 3)),
        ("travel_r5_c7_h21_b25", (2, 4), label(1, 3)),
        ("travel_r5_c7_h21_b25", (2, 6), label(1, 3)),
        ("workforce_r5_c7_h15_b21", (4, 2), label(1, 3)),
    ]
