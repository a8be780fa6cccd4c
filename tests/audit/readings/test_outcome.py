"""What trials and votes make of a claim."""

import pytest

from agenthard.audit.readings.outcome import Ballot, Kind, ReadingsOutcome, ReadingVote, after_trials, after_votes
from agenthard.audit.readings.records import GOLD, Reading, Trial
from agenthard.taxonomy import ToolCall


def trial(name: str, *, passed: bool, final: str = "", right: bool = True, refused: tuple[str, ...] = ()) -> Trial:
    made = Reading(name=name, meaning=name, turns=((ToolCall(name=f"do_{name}"),),), right=right)
    return Trial(reading=made, environment="e", final=final or name, passed=passed, parts={}, refused=refused)


GOLDEN = trial(GOLD, passed=True)
OTHER = trial("A", passed=False)


def votes(**right: bool | None) -> list[Ballot]:
    """Two readers of one mind."""
    cast = tuple(ReadingVote(reading=name, right=said, because="so") for name, said in right.items())
    return [Ballot(reader=reader, votes=cast) for reader in ("x", "y")]


@pytest.mark.parametrize(
    ("kind", "trials", "standing"),
    [
        ("ambiguous", (OTHER, GOLDEN), "holds"),
        ("ambiguous", (GOLDEN,), "withdrawn"),
        ("ambiguous", (trial("A", passed=False, refused=("no",)), GOLDEN), "withdrawn"),
        ("ambiguous", (trial("A", passed=True), GOLDEN), "withdrawn"),
        ("ambiguous", (trial("A", passed=False, final="s"), trial(GOLD, passed=False, final="t")), "open"),
        ("strict", (OTHER, GOLDEN), "holds"),
        ("strict", (trial("A", passed=True), GOLDEN), "withdrawn"),
        ("lenient", (trial("A", passed=True, right=False), GOLDEN), "holds"),
        ("lenient", (trial("A", passed=False, right=False), GOLDEN), "withdrawn"),
        ("lenient", (OTHER, GOLDEN), "withdrawn"),
        ("better-gold", (OTHER, GOLDEN), "holds"),
    ],
)
def test_trials(kind: Kind, trials: tuple[Trial, ...], standing: str) -> None:
    assert after_trials(kind, trials).standing == standing


def test_a_withdrawn_claim_says_what_the_replay_refused() -> None:
    found = after_trials("strict", (trial("A", passed=False, refused=("lend: it is lent",)), GOLDEN))
    assert found.reason == "reading A the replay refuses: lend: it is lent"


@pytest.mark.parametrize(
    ("kind", "right", "standing", "wrong"),
    [
        ("ambiguous", {"A": True, GOLD: True}, "confirmed", "A"),
        ("ambiguous", {"A": False, GOLD: True}, "lowered", ""),
        ("ambiguous", {"A": True, GOLD: False}, "lowered", ""),
        ("strict", {"A": True, GOLD: True}, "confirmed", "A"),
        ("strict", {"A": True, GOLD: False}, "lowered", ""),
        ("better-gold", {"A": True, GOLD: False}, "confirmed", "A"),
        ("better-gold", {"A": True, GOLD: True}, "lowered", ""),
    ],
)
def test_votes(kind: Kind, right: dict[str, bool], standing: str, wrong: str) -> None:
    found = after_votes(after_trials(kind, (OTHER, GOLDEN)), votes(**right))
    assert (found.standing, found.wrong) == (standing, wrong)


def test_a_careless_run_that_passes_is_confirmed_by_readers_who_find_it_wrong() -> None:
    held = after_trials("lenient", (trial("A", passed=True, right=False), GOLDEN))
    assert after_votes(held, votes(A=False, gold=True)).standing == "confirmed"
    assert after_votes(held, votes(A=True, gold=True)).standing == "lowered"


def test_one_reader_is_not_enough_and_none_changes_nothing() -> None:
    held = after_trials("ambiguous", (OTHER, GOLDEN))
    one = after_votes(held, votes(A=True, gold=True)[:1])
    assert one.standing == "holds" and "fewer than 2 readers" in one.reason
    assert after_votes(held, []) == held
    unsure = after_votes(held, votes(A=None, gold=None))
    assert unsure.standing == "holds"


def test_readers_who_part_confirm_nothing() -> None:
    held = after_trials("ambiguous", (OTHER, GOLDEN))
    split = [votes(A=True, gold=True)[0], votes(A=False, gold=True)[0]]
    found: ReadingsOutcome = after_votes(held, split)
    assert found.standing == "lowered"
    assert "found right: A 1 of 2, gold 2 of 2" in found.reason
