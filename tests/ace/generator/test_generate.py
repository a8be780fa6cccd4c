"""Suites: what every instance must be, determinism, resumption, and failures that say why."""

import hashlib
import math
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from agenthard.ace import domains
from agenthard.ace.domain import Number
from agenthard.ace.errors import UnmetConditionError
from agenthard.ace.generator import GenerationError, Parameters, generate, make
from agenthard.ace.generator.parameters import Cell
from agenthard.ace.instance import Instance
from agenthard.ace.proof import verify
from agenthard.ace.records import answer_line, puzzle_line
from agenthard.ace.reference_format import write
from tests.ace.made import small_suite

ROOT = Path(__file__).parents[3]
FEW = Parameters(rows=4, cols=5, hidden_slots=(4,), decoy_budgets=(0, 6), candidates=8, seed=3, per_cell=2)


def fingerprint(instances: list[Instance]) -> str:
    lines = [line for made in instances for line in (puzzle_line(made.puzzle), answer_line(made))]
    return hashlib.sha256(b"\n".join(lines)).hexdigest()


def test_instances_are_what_was_asked_for() -> None:
    for made, cell in zip(generate(FEW), FEW.cells(), strict=True):
        puzzle = made.puzzle
        assert (puzzle.domain, len(puzzle.slots)) == (cell.domain, cell.hidden_slots)
        assert made.answer.decoy_budget == cell.decoy_budget
        assert {len(slot.candidates) for slot in puzzle.slots} == {8} == {puzzle.candidates_per_slot}
        assert puzzle.id == f"{cell.domain}_r4_c5_h4_b{cell.decoy_budget}" + ("_i1" if cell.number else "")
        assert len(puzzle.items) == 4 * 5 + 4 * 7
        assert made.provenance is not None and made.provenance.index == cell.number
        assert verify(made).ok


def test_slots_carry_two_rules_and_together_all_of_them() -> None:
    for made in small_suite():
        rules = [set(slot.limits) for slot in made.puzzle.slots]
        assert {len(each) for each in rules} == {2}
        assert set.union(*rules) == {rule.name for rule in domains.load(made.puzzle.domain).slot_rules}
    alone = next(generate(Parameters(hidden_slots=(1,), decoy_budgets=(0,))))
    assert len(alone.puzzle.slots[0].limits) == 3


def test_every_item_is_natural_and_named_for_what_it_is() -> None:
    for made in small_suite():
        domain = domains.load(made.puzzle.domain)
        for id, item in made.puzzle.items.items():
            assert list(item) == [domain.id_key, "name", *(attribute.name for attribute in domain.attributes)]
            assert id.startswith(domain.id_prefix) and len(id) >= len(domain.id_prefix) + 3
            for attribute in domain.attributes:
                if isinstance(attribute, Number):
                    assert attribute.low <= int(item[attribute.name]) <= attribute.high
                else:
                    assert item[attribute.name] in attribute.values
            kind = str(item[domain.naming.by]) if domain.naming.by else ""
            assert str(item["name"]).rsplit(" ", 1)[0] in domain.naming.labels[kind]


def test_neither_ids_nor_names_nor_order_tell_the_truth() -> None:
    """The whole battery runs elsewhere; this is the quick check that nothing is told outright."""
    parameters = Parameters(rows=5, cols=7, hidden_slots=(21,), decoy_budgets=(0, 10), per_cell=2, seed=5)
    places: Counter[int] = Counter()
    ranks = []
    for made in generate(parameters):
        pool = list(made.puzzle.items)
        assert pool == sorted(pool, key=lambda id: int("".join(filter(str.isdigit, id))))
        for slot, known in zip(made.puzzle.slots, made.answer.slots, strict=True):
            places[slot.candidates.index(known.truth)] += 1
            ranks.append(sorted(slot.candidates, key=pool.index).index(known.truth))
    assert sum(places.values()) == 504 and max(places.values()) < 45  # 20.2 expected in each of 25 places
    assert sum(ranks) / len(ranks) == pytest.approx(12, abs=1)  # standard error 7.2 / sqrt(504) = 0.32


@pytest.mark.parametrize("coupling", [False, True])
def test_workers_and_starting_points_change_no_byte(coupling: bool) -> None:
    parameters = FEW.model_copy(update={"coupling": coupling, "domains": ("meal", "travel", "course")})
    whole = list(generate(parameters))
    assert fingerprint(list(generate(parameters, workers=2))) == fingerprint(whole)
    assert fingerprint(list(generate(parameters, start=5))) == fingerprint(whole[5:])
    assert list(generate(parameters, start=99)) == []


@pytest.mark.long
def test_eight_workers_make_what_one_makes() -> None:
    assert fingerprint(list(generate(FEW, workers=8))) == fingerprint(list(generate(FEW)))


def test_hash_seeds_change_no_byte() -> None:
    code = (
        "import sys; from pathlib import Path; sys.path.insert(0, '.'); "
        "from tests.ace.generator.test_generate import FEW, fingerprint; from agenthard.ace.generator import generate; "
        "print(fingerprint(list(generate(FEW))))"
    )
    prints = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
        ).stdout
        for seed in ("1", "2")
    }
    assert prints == {fingerprint(list(generate(FEW))) + "\n"}


def test_files_in_the_layout_of_the_paper_have_equal_bytes_too(tmp_path: Path) -> None:
    parameters = FEW.model_copy(update={"domains": ("meal",)})
    for name, workers in (("one", 1), ("two", 2)):
        write(tmp_path / name, parameters.header("meal"), generate(parameters, workers=workers), parameters.count)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_seeds_and_cells_are_independent() -> None:
    made = {
        fingerprint([make(FEW.model_copy(update={"seed": seed}), Cell("meal", 4, budget, number))])
        for seed in (0, 1)
        for budget in (5, 6)
        for number in (0, 1)
    }
    assert len(made) == 8


def test_a_suite_without_slots_is_possible() -> None:
    made = next(generate(Parameters(hidden_slots=(0,), decoy_budgets=(0,), domains=("meal",))))
    assert made.puzzle.slots == () and made.puzzle.candidates_per_slot == 25
    assert verify(made).ok


@pytest.mark.long
@pytest.mark.parametrize("coupling", [False, True])
@pytest.mark.parametrize(("rows", "hidden"), [(7, 21), (7, 35), (7, 70), (4, 35)])
def test_the_largest_sizes_are_made(rows: int, hidden: int, coupling: bool) -> None:
    """Eight slots share 60 decoys: millions of combinations, of which none is listed."""
    parameters = Parameters(
        rows=rows, cols=10, hidden_slots=(hidden,), decoy_budgets=(60,), candidates=31, coupling=coupling
    )
    for made in generate(parameters):
        assert made.answer.decoy_budget == 60 and len(made.answer.decoy_slots) == 8
        assert math.prod(1 + len(slot.decoys) for slot in made.answer.slots) > 20_000
        assert made.certificate is not None and made.certificate.solutions == 1


def test_a_full_grid_of_slots_is_made() -> None:
    made = next(generate(Parameters(rows=2, cols=3, hidden_slots=(6,), decoy_budgets=(9,), candidates=8)))
    assert all(item is None for row in made.puzzle.grid for item in row)


def test_what_failed_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise UnmetConditionError(
            "hard condition", "decoy slot 1 of 2 needs 3 decoys, and 2 of 600 proposals break the whole"
        )

    monkeypatch.setattr("agenthard.ace.generator.making.draw_decoys", refuse)
    with pytest.raises(GenerationError) as failed:
        next(generate(FEW.model_copy(update={"attempts": 4})))
    assert str(failed.value) == (
        "course with H = 4, B = 0, number 0: none of 4 attempts met every condition (hard condition missed 4 times, at "
        "last because decoy slot 1 of 2 needs 3 decoys, and 2 of 600 proposals break the whole). "
        "Use a smaller decoy budget, another seed, or more attempts."
    )


def test_an_instance_that_fails_its_proof_is_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = []

    def fails_once(instance: Instance) -> Instance:
        if not first:
            first.append(instance)
            raise UnmetConditionError("proof", "made up for this test")
        return instance

    monkeypatch.setattr("agenthard.ace.generator.making._prove", fails_once)
    again = make(FEW, Cell("meal", 4, 6, 0))
    assert again.provenance is not None and again.provenance.attempts == 2
    assert again.puzzle.items != first[0].puzzle.items
