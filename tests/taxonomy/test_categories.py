from pathlib import Path

import pytest

from agenthard.taxonomy.categories import TaxonomyError, builtin_taxonomy, load_taxonomy, taxonomy_page

OWN = """
version: "lab-1"
categories:
  - {id: stale-license, name: Stale licence, component: environment, rule: r, positive: p, negative: n}
"""


def test_the_eleven_categories_of_the_paper_are_there_by_component() -> None:
    paper = [c for c in builtin_taxonomy().categories if c.origin == "paper"]
    counts = {component: sum(c.component == component for c in paper) for component in {c.component for c in paper}}
    assert counts == {"user": 2, "environment": 4, "evaluation": 2, "ground_truth": 3}


def test_a_users_own_categories_join_their_component(tmp_path: Path) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(OWN)
    merged = load_taxonomy(file)
    assert merged["stale-license"].origin == "user"
    assert merged.version.endswith("+lab-1")
    components = [category.component for category in merged.categories]
    assert components == sorted(components, key=["user", "environment", "evaluation", "ground_truth"].index)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (OWN.replace("stale-license", "too-lenient"), "defined twice"),
        (OWN.replace("rule: r, ", ""), "rule"),
        (OWN.replace("environment", "weather"), "component"),
        ("a: [", "not valid YAML"),
        ("- 1", "valid dictionary"),
    ],
)
def test_a_wrong_file_is_refused_with_the_place(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "own.yaml"
    file.write_text(text)
    with pytest.raises(TaxonomyError, match=message):
        load_taxonomy(file)


def test_an_absent_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(TaxonomyError, match="none.yaml"):
        load_taxonomy(tmp_path / "none.yaml")


def test_an_unknown_category_lists_the_known_ones() -> None:
    with pytest.raises(KeyError, match="too-lenient"):
        builtin_taxonomy()["nothing"]


def test_the_page_has_a_section_per_category() -> None:
    page = taxonomy_page(builtin_taxonomy(), {"call-schema": "ground-truth.md"})
    assert "[`call-schema`](checks/ground-truth.md#call-schema)" in page
    assert [c.id for c in builtin_taxonomy().categories if f"\n### {c.id}\n" not in page] == []
