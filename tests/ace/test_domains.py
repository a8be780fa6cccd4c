"""Domains are data: the six of the paper, and a seventh that is one more file."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from agenthard.ace import domains
from agenthard.ace.domain import Domain, GlobalKind
from agenthard.ace.environment import Environment
from agenthard.ace.generator import GenerationError, Parameters, generate
from agenthard.ace.generator.scaffold import _usable_limits
from agenthard.ace.generator.space import load_space
from agenthard.ace.probes import candidates_of
from agenthard.ace.proof import verify
from agenthard.ace.reference_format import read, write
from agenthard.audit.probes import read_scene, run_battery

PAGE = Path(__file__).parents[2] / "docs" / "ace" / "domains.md"


@pytest.fixture
def garden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The domain that the documentation shows, as one more file."""
    code = PAGE.read_text(encoding="utf-8").split("```python\n")[1].split("```")[0]
    (tmp_path / "garden.py").write_text(code, encoding="utf-8")
    monkeypatch.setattr(domains, "__path__", [*domains.__path__, str(tmp_path)])
    domains.names.cache_clear()
    yield "garden"
    monkeypatch.undo()
    sys.modules.pop("agenthard.ace.domains.garden", None)
    for cached in (domains.names, domains.load, load_space, _usable_limits):
        cached.cache_clear()


def test_the_six_of_the_paper_are_there() -> None:
    assert domains.names() == ("course", "meal", "pc_build", "shopping", "travel", "workforce")


@pytest.mark.parametrize("name", ["course", "meal", "pc_build", "shopping", "travel", "workforce"])
def test_every_attribute_of_a_rule_is_one_of_the_item(name: str) -> None:
    domain = domains.load(name)
    assert domain.name == name
    assert len(domain.attributes) == 6 and len(domain.slot_rules) == 3
    assert {rule.attribute for rule in domain.global_rules} <= {a.name for a in domain.attributes}


def test_an_unknown_domain_is_refused_with_the_known_ones() -> None:
    with pytest.raises(domains.UnknownDomainError, match=r"unknown domain 'garden'; there are: course, meal"):
        domains.load("garden")


def test_a_seventh_domain_is_one_file(garden: str) -> None:
    assert garden in domains.names()
    parameters = Parameters(
        domains=(garden,), rows=4, cols=4, hidden_slots=(1, 5), decoy_budgets=(0, 6), candidates=10, per_cell=3
    )
    made = list(generate(parameters))
    assert len(made) == 12
    for instance in made:
        assert verify(instance).ok
        assert "Fill the 4x4 grid with plant ids." in instance.puzzle.instruction
        assert all(name.startswith("G") for name in instance.puzzle.items)


def test_a_seventh_domain_is_played_probed_and_written_without_further_code(garden: str, tmp_path: Path) -> None:
    parameters = Parameters(
        domains=(garden,), rows=4, cols=4, hidden_slots=(5,), decoy_budgets=(6,), candidates=10, per_cell=8
    )
    made = list(generate(parameters))
    for instance in made:
        environment = Environment(instance.puzzle)
        assert f"check_{garden}_global_constraints" in {tool.name for tool in environment.tools()}
        for slot, known in zip(instance.puzzle.slots, instance.answer.slots, strict=True):
            environment.call("set_slot", {"row": slot.row, "col": slot.col, "id": known.truth})
        assert environment.call(f"check_{garden}_global_constraints", {})["data"] == {"is_valid": True}
    report = run_battery([read_scene(candidates_of(each), str(number)) for number, each in enumerate(made)])
    assert report.choices == 40 and report.give_aways() == []
    probed = " ".join(result.id for result in report.results)
    assert all(attribute in probed for attribute in ("water", "height", "yield_kg", "kind"))
    path = tmp_path / "garden.json"
    write(path, parameters.header(garden), iter(made), len(made))
    assert [each.puzzle for each in read(path).instances] == [each.puzzle for each in made]


def test_slot_rules_that_exclude_nothing_are_named(garden: str, tmp_path: Path) -> None:
    file = tmp_path / "garden.py"
    text = file.read_text(encoding="utf-8").replace("(120, 200, 260)", "(300,)").replace("(2, 5, 8)", "(0,)")
    file.write_text(text, encoding="utf-8")
    with pytest.raises(GenerationError, match="filters missed 2 times, at last because the slot rules .* allow every"):
        next(generate(Parameters(domains=(garden,), attempts=2)))


def test_a_file_without_a_domain_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty_lot.py").write_text("", encoding="utf-8")
    monkeypatch.setattr(domains, "__path__", [*domains.__path__, str(tmp_path)])
    domains.names.cache_clear()
    try:
        with pytest.raises(TypeError, match=r"ace/domains/empty_lot.py must define DOMAIN = Domain\(name='empty_lot'"):
            domains.load("empty_lot")
    finally:
        monkeypatch.undo()
        domains.names.cache_clear()


def changed(**changes: object) -> Domain:
    return Domain.model_validate(domains.load("course").model_dump() | changes)


def test_contradictions_are_refused() -> None:
    course = domains.load("course").model_dump()
    rule = course["slot_rules"][0]
    with pytest.raises(ValidationError, match="'max_difficulty' with threshold 0 allows no natural difficulty"):
        changed(slot_rules=[rule | {"thresholds": [0]}])
    with pytest.raises(ValidationError, match="slot rule named twice: max_difficulty"):
        changed(slot_rules=[rule, rule])
    with pytest.raises(ValidationError, match="has no attribute 'hight'"):
        changed(slot_rules=[rule | {"attribute": "hight"}])
    with pytest.raises(ValidationError, match="attribute 'teacher' holds words"):
        changed(slot_rules=[rule | {"attribute": "teacher"}])
    with pytest.raises(ValidationError, match="no label for the name of: 'seminar'"):
        labels = {k: v for k, v in course["naming"]["labels"].items() if k != "seminar"}
        changed(naming={"by": "category", "labels": labels})
    with pytest.raises(ValidationError, match="`counted` belongs to the count rules"):
        changed(global_rules=[course["global_rules"][0] | {"counted": 3}])
    with pytest.raises(ValidationError, match="'arts_min' counts 'arts', which no category is"):
        arts = {"name": "arts_min", "kind": "count_min", "attribute": "category", "counted": "arts"}
        changed(global_rules=[arts])
    with pytest.raises(ValidationError, match="low 9 is above high 1"):
        changed(attributes=[{"name": "difficulty", "low": 9, "high": 1}])


def test_only_floors_wait_for_the_full_grid() -> None:
    assert [kind.value for kind in GlobalKind if kind.is_floor] == ["sum_min", "count_min", "count_min_threshold"]
