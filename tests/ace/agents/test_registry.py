from collections.abc import Iterator
from itertools import product
from math import prod, sqrt
from random import Random

import pytest

from agenthard.ace.agents import BASES, LEADERBOARD, Episode, Noise, UnknownAgentError, find
from agenthard.ace.agents.brief import brief
from agenthard.ace.agents.notes import Notes
from agenthard.ace.agents.player import Player
from agenthard.ace.environment import Budgets, Environment, Mode
from agenthard.ace.instance import Instance
from tests.ace.environment import small
from tests.ace.made import small_suite

CONDITIONS = [
    Budgets.UNLIMITED,
    Budgets(),
    Budgets(extra_queries=0, alpha=0),
    Budgets(extra_queries=-1, alpha=0),
    Budgets(extra_queries=0, alpha=-1),
]


def share(name: str, trials: int = 1, mode: Mode = Mode.REFERENCE, budgets: Budgets | None = None) -> float:
    """Share of the small suite's episodes that an agent solves."""
    solved = [
        find(name).play(Environment(instance.puzzle, mode=mode, budgets=budgets), trial).passed
        for instance in small_suite()
        for trial in range(trials)
    ]
    return sum(map(bool, solved)) / len(solved)


def guesses(instance: Instance) -> int:
    return prod(1 + len(slot.decoys) for slot in instance.answer.slots)


def names_of_all_kinds() -> Iterator[str]:
    yield from LEADERBOARD
    yield from (f"{base}+early-stop:0.3+hallucination:0.3+no-retry" for base in BASES)


@pytest.mark.parametrize(("name", "mode", "budgets"), [*product(names_of_all_kinds(), Mode, CONDITIONS)])
def test_no_condition_makes_an_agent_fail_otherwise_than_by_a_wrong_grid(
    name: str, mode: Mode, budgets: Budgets
) -> None:
    for rate in (0.0, 0.4, 1.0):
        instance = small.instance()
        environment = Environment(instance.puzzle, mode=mode, budgets=budgets, failure_rate=rate, seed=3)
        run = find(name).play(environment)
        assert run.model == name and run.status == "ok" and run.ending in ("done", "open")
        assert run.passed == (environment.grid == instance.answer.solution)
        assert run.usage["malformed"] == 0 and run.usage["calls"] == sum(len(m.tool_calls) for m in run.messages)
        if rate == 1.0:
            assert run.score == 0 and run.ending == "open" and run.usage["failed_calls"] == run.usage["calls"]


@pytest.mark.parametrize(
    ("mode", "budgets"),
    [
        (Mode.REFERENCE, Budgets()),
        (Mode.REFERENCE, Budgets.UNLIMITED),
        (Mode.PAPER, Budgets(extra_queries=-1, alpha=0)),
    ],
)
def test_the_solver_is_always_right_where_all_can_be_read(mode: Mode, budgets: Budgets) -> None:
    assert share("solver", mode=mode, budgets=budgets) == 1.0


def test_the_leaderboard_has_an_order() -> None:
    solver, ahead, check = share("solver", 3), share("look-ahead", 3), share("filter-check", 3)
    guess, random = share("slot-filter", 3), share("random", 3)
    assert solver == 1.0
    assert solver > ahead > guess >= random
    assert solver > check > guess
    assert random < 0.05


def test_the_slot_filter_is_right_once_in_the_number_of_fillings_the_decoys_leave() -> None:
    chances = [1 / guesses(instance) for instance in small_suite()]
    trials = 20
    spread = sqrt(sum(p * (1 - p) for p in chances) * trials) / (trials * len(chances))
    assert abs(share("slot-filter", trials) - sum(chances) / len(chances)) < 4 * spread


@pytest.mark.parametrize("noise", ["forgetting", "arithmetic", "early-stop", "hallucination"])
def test_more_of_a_weakness_makes_a_solver_worse(noise: str) -> None:
    slight, strong = share(f"solver+{noise}:0.02", 2), share(f"solver+{noise}:0.8", 2)
    assert 1.0 >= slight > strong


def test_misspelt_ids_leave_slots_empty_as_often_as_they_should() -> None:
    # Two slots, each misspelt with probability 0.5: right in one episode of four.
    trials = 400
    runs = [
        find("solver+hallucination:0.5").play(Environment(small.puzzle(), mode=Mode.REFERENCE), trial)
        for trial in range(trials)
    ]
    solved = sum(bool(run.passed) for run in runs)
    assert abs(solved - trials / 4) < 4 * sqrt(trials * 0.25 * 0.75)


def test_only_facts_about_candidates_are_forgotten() -> None:
    noise = Noise(forgetting=1.0, arithmetic=1.0)
    notes = Notes(Player(Episode(Environment(small.puzzle()), "someone", 0), noise, Random(0)))
    for id in ("C1", "C11"):
        notes.note(id, "price", (250, 300))
        notes.note(id, "price", (300,))
    assert notes.knows("C1", "price") and notes.summand("C1", "price") == (300,)
    # The prompt names the prices that occur, 100 to 350: all that is left to know of C11.
    assert notes.possible("C11", "price") == range(100, 351)


def test_a_wrong_number_is_off_by_a_tenth_of_what_occurs_at_most() -> None:
    notes = Notes(Player(Episode(Environment(small.puzzle()), "someone", 0), Noise(arithmetic=1.0), Random(0)))
    notes.note("C11", "price", (200,))
    taken = {notes.summand("C11", "price")[0] for _ in range(2000)}
    assert taken == {*range(175, 226)} - {200}


def test_stopping_early_at_once_takes_one_turn_and_the_farewell() -> None:
    run = find("solver+early-stop:1").play(Environment(small.puzzle()))
    assert run.usage["turns"] == 2 and run.ending == "done" and run.score == 0


def test_the_limit_of_turns_ends_an_episode_with_the_grid_as_it_is() -> None:
    run = find("filter-check").play(Environment(small.puzzle()), max_turns=3)
    # Two turns ask about the slots, the third fills them and checks; none is left for `done`.
    assert run.usage["turns"] == 3 and run.ending == "max_steps" and run.status == "ok"
    assert run.score == float(bool(run.passed))


def test_what_an_agent_is_told_holds_no_items_no_candidates_and_no_id() -> None:
    told = brief(Environment(small.puzzle(), mode=Mode.REFERENCE))
    assert told.puzzle.id == "" and told.puzzle.items == {} and told.ranges == {}
    assert all(slot.candidates == () for slot in told.puzzle.slots)
    assert told.fixed == ["C1", "C2"]


def test_repeating_failed_calls_helps() -> None:
    def solved(name: str) -> int:
        runs = (
            find(name).play(Environment(i.puzzle, mode=Mode.REFERENCE, failure_rate=0.2, seed=1)) for i in small_suite()
        )
        return sum(bool(run.passed) for run in runs)

    assert solved("solver") == len(small_suite()) > solved("solver+no-retry")


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("resolver", "must begin with one of random, slot-filter, filter-check, look-ahead, solver"),
        ("solver+sleeping:0.1", "'sleeping:0.1' does not go with solver, but: forgetting:P"),
        ("random+forgetting:0.1", "does not go with random, but: early-stop:P, hallucination:P, no-retry"),
        ("solver+forgetting", "'' is not a probability"),
        ("solver+forgetting:1.5", "'1.5' is not a probability"),
        ("solver+forgetting:nan", "'nan' is not a probability"),
        ("solver+no-retry+no-retry", "no-retry is given twice"),
        ("solver+no-retry:1", "does not go with solver"),
    ],
)
def test_a_name_that_means_nothing_is_refused(name: str, says: str) -> None:
    with pytest.raises(UnknownAgentError, match="agent") as caught:
        find(name)
    assert says in str(caught.value) and repr(name) in str(caught.value)


def test_every_base_says_what_it_does() -> None:
    assert set(BASES) == {"random", "slot-filter", "filter-check", "look-ahead", "solver"}
    assert all(text.endswith(".") for text in BASES.values())
    assert len(LEADERBOARD) >= 10 and all(find(name).name == name for name in LEADERBOARD)
