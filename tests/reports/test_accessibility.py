"""What axe-core finds on the written pages, in both themes and on a phone: nothing serious or critical."""

from collections.abc import Callable
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from agenthard.reports.page import write_page
from agenthard.reports.result import AuditResult
from tests.reports.browsing import Visit
from tests.reports.figures.sample import sample
from tests.reports.shop import shop_replay, shop_runs

pytestmark = pytest.mark.browser

THEMES = [("light", 1280), ("dark", 1280), ("light", 390)]
LOCAL = {"resultTypes": ["violations"], "preload": False}
"""Style sheets are in the page, which may not fetch anything."""


def assert_accessible(page: Page) -> None:
    found = Axe().run(page, options=LOCAL).response["violations"]
    grave = [
        f"{each['id']} ({each['impact']}): {node['target']} {node['html'][:120]}"
        for each in found
        if each["impact"] in ("serious", "critical")
        for node in each["nodes"]
    ]
    assert grave == []


@pytest.mark.parametrize(("scheme", "width"), THEMES)
def test_audit_page_and_task(
    open_file: Callable[..., Visit], shop: AuditResult, tmp_path: Path, scheme: str, width: int
) -> None:
    write_page(shop, tmp_path / "report.html", shop_runs(), [shop_replay("shop/0")])
    size = {"width": width, "height": 900}
    page = open_file(tmp_path / "report.html", "#finding=aaaaaaaaaaa0", color_scheme=scheme, viewport=size).page
    expect(page.locator("#results .finding").first).to_be_visible()
    assert_accessible(page)
    page.goto(f"{page.url.partition('#')[0]}#task=shop/0&at=aaaaaaaaaaa0")
    expect(page.locator("#instance mark").first).to_be_visible()
    assert_accessible(page)


@pytest.mark.parametrize(("scheme", "width"), THEMES)
def test_page_of_what_cleaning_does(open_cleaning: Callable[..., Visit], scheme: str, width: int) -> None:
    assert_accessible(open_cleaning(sample(), color_scheme=scheme, viewport={"width": width, "height": 900}).page)


def test_a_fault_is_found(open_file: Callable[..., Visit], shop: AuditResult, tmp_path: Path) -> None:
    write_page(shop, tmp_path / "report.html")
    page = open_file(tmp_path / "report.html").page
    page.evaluate("document.querySelector('label[for=search]').remove()")
    page.evaluate("document.querySelector('#search').removeAttribute('placeholder')")
    with pytest.raises(AssertionError, match="#search"):
        assert_accessible(page)
