"""A page of a large audit shows the gravest part of it, says so, and does not grow with the rest."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.reports import page, page_data
from agenthard.reports.places import Places
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.finding import Severity, Tier
from tests.reports.shop import changed


@pytest.fixture
def many(shop: AuditResult) -> AuditResult:
    """Forty findings: four of the shop, and 36 copies of the first that are only suspected."""
    changes: dict[str, Any] = {"tier": Tier.SUSPECTED, "severity": Severity.COSMETIC}
    copies = [shop.findings[0].model_copy(update={"id": f"{number:012x}", **changes}) for number in range(36)]
    return changed(shop, findings=[*copies, *shop.findings])


def test_the_surest_and_gravest_findings_are_on_the_page(many: AuditResult, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = page_data.page_data(many, Places(many), {})
    assert len(whole["findings"]) == 40
    monkeypatch.setattr(page_data, "MOST_FINDINGS", 4)
    monkeypatch.setattr(page_data, "MOST_DECIDED", 1)
    monkeypatch.setattr(page_data, "MOST_TASKS", 1)
    part = page_data.page_data(many, Places(many), {})
    assert len(part["findings"]) == 4 and len(part["decided"]) == 1
    sure = {finding.id for finding in many.findings[36:] if finding.tier is not Tier.SIGNAL}
    assert len(sure) == 3 and sure < {found["id"] for found in part["findings"]}
    assert part["decided"][0][3] == 1
    shown = {found["id"]: found for found in whole["findings"]}
    for found in part["findings"]:
        names = [part["tasks"][number] for number in found["tasks"]]
        assert names == [whole["tasks"][number] for number in shown[found["id"]]["tasks"]]


def test_the_page_says_how_many_of_how_many(many: AuditResult, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.write_page(many, tmp_path / "whole.html")
    monkeypatch.setattr(page_data, "MOST_FINDINGS", 4)
    monkeypatch.setattr(page_data, "MOST_DECIDED", 1)
    page.write_page(many, tmp_path / "part.html")
    whole, part = ((tmp_path / name).read_text() for name in ("whole.html", "part.html"))
    assert "4 of 40 findings are on this page" in part and "tables/findings.parquet" in part
    assert "The first 1 of" in part
    assert "are on this page" not in whole and len(part) < len(whole)
