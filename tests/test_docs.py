"""The docs say what is true: generated pages are current, every id has its section, every command is described."""

import re
from pathlib import Path

import pytest

from audit.detectors.page import checks_page
from audit.detectors.registry import detectors
from audit.sources.registry import sources
from flows.cli import app
from taxonomy.categories import load_taxonomy
from taxonomy.page import taxonomy_page

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def test_generated_pages_are_current() -> None:
    assert (ROOT / "docs/taxonomy.md").read_text() == taxonomy_page(load_taxonomy()), "run `make docs`"
    assert (ROOT / "docs/checks.md").read_text() == checks_page(detectors()), "run `make docs`"


def test_checks_and_categories_name_each_other() -> None:
    categories = {category.id: category for category in load_taxonomy().categories}
    for detector in detectors():
        assert detector.id in categories[detector.category].checks, detector.id
        assert len(detector.__doc__ or "") > 200, f"{detector.id} has no documentation worth the name"
    known = {detector.id for detector in detectors()}
    assert [check for c in categories.values() for check in c.checks if check not in known] == []


@pytest.mark.parametrize("name", [str(command.name) for command in app.registered_commands])
def test_every_command_is_in_the_docs(name: str) -> None:
    text = (ROOT / "docs/commands.md").read_text()
    assert f"\n## {name}\n" in text


def test_every_source_has_its_page() -> None:
    assert [name for name in sources() if not (ROOT / f"docs/sources/{name}.md").is_file()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", page.read_text()):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"
