"""CONTRIBUTING.md names what exists: files, make targets, commands and entry-point groups."""

import re
from pathlib import Path

import pytest

from agenthard.agency import judging, packs
from agenthard.agency.scaffolds import scaffold
from agenthard.audit.detectors import registry as detectors
from agenthard.audit.execution import registry as environments
from agenthard.audit.execution.policy import checker as policies
from agenthard.audit.sources import registry as sources
from agenthard.flows import generators
from agenthard.flows.evaluation import benchmark as benchmarks

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+)\n+((?:(?!## ).*\n)*)", TEXT, re.MULTILINE))


def test_the_files_it_names_exist() -> None:
    named = re.findall(r"`((?:audit|taxonomy|tests|docs)/[\w./]*)`", TEXT) + re.findall(r"\]\(([\w./-]+)\)", TEXT)
    assert len(named) > 15
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_make_targets_it_names_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"\bmake (\w+)", TEXT))
    assert {"test", "lint", "docs", "bench"} <= targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []


def test_the_entry_point_groups_are_those_of_the_registries() -> None:
    groups = {sources.GROUP, detectors.GROUP, environments.GROUP, environments.CHECKOUTS, policies.GROUP}
    groups |= {packs.GROUP, scaffold.GROUP, judging.GROUP}
    table = "".join(re.findall(r"^\| `.*\n", TEXT, re.MULTILINE))
    assert set(re.findall(r"`(agenthard\.\w+)`", table)) == groups | {benchmarks.GROUP, generators.GROUP}


@pytest.mark.parametrize("kind", ["a check", "a source", "an environment", "a statistic"])
def test_each_recipe_has_at_most_ten_steps(kind: str) -> None:
    steps = re.findall(r"^\d+\. ", SECTIONS[f"Add {kind}"], re.MULTILINE)
    assert 5 <= len(steps) <= 10
