"""The corner shop, a small benchmark written by hand, and a browser, as fixtures."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from agenthard.reports.result import AuditResult
from agenthard.taxonomy.finding import Coverage, Status
from tests.reports.browsing import ARGUMENTS, BROWSERS, Visit, watch
from tests.reports.shop import CHECKS, build_shop, changed

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from agenthard.reports.cleaning.record import CleaningAnalysis


@pytest.fixture
def shop(tmp_path: Path) -> AuditResult:
    """Five tasks, four findings, two quarantined records and the runs of two models, with the files on disk."""
    root = tmp_path / "bench mark"
    root.mkdir()
    return build_shop(root)


@pytest.fixture
def clean_shop(shop: AuditResult) -> AuditResult:
    """The same benchmark when nothing was found, and one check could not look at three tasks."""
    statuses = {"all-models-fail": Status.NOT_CHECKED}
    rows = [
        Coverage(
            task_id=task.id,
            check=check.id,
            status=Status.NOT_CHECKED if i > 1 else statuses.get(check.id, Status.CLEAN),
            reason="no ground truth" if i > 1 else "no runs were given" if check.id in statuses else "",
        )
        for i, task in enumerate(shop.tasks)
        for check in CHECKS
    ]
    return changed(shop, findings=(), coverage=rows, models=(), quarantined=(), cited_runs={})


@pytest.fixture(scope="module")
def browser() -> "Iterator[Browser]":
    """A headless Chromium."""
    from playwright.sync_api import sync_playwright

    executable = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if executable is None:
        pytest.skip(f"no browser: none of {', '.join(BROWSERS)} is installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def open_file(browser: "Browser") -> Iterator[Callable[..., Visit]]:
    """Opens a page from disk; afterwards nothing may have gone wrong or been fetched."""
    visits: list[Visit] = []

    def open_page(path: Path, fragment: str = "", **context: object) -> Visit:
        visit = watch(browser.new_context(**context).new_page(), path.as_uri())  # type: ignore[arg-type]
        visit.page.goto(visit.url + fragment)
        visits.append(visit)
        return visit

    yield open_page
    for visit in visits:
        assert visit.problems == []
        own = visit.url.rpartition("/")[0] + "/instances/"
        assert {url for url in visit.requests if not url.startswith(own)} == {visit.url}
        visit.page.context.close()


@pytest.fixture
def open_cleaning(open_file: Callable[..., Visit], tmp_path: Path) -> Callable[..., Visit]:
    """Writes the page of what cleaning does to ``tmp_path / "report.html"`` and opens it."""
    from agenthard.reports.cleaning.page import write_cleaning_page

    def open_page(analysis: "CleaningAnalysis", audit: AuditResult | None = None, **context: object) -> Visit:
        write_cleaning_page(analysis, tmp_path / "report.html", audit)
        return open_file(tmp_path / "report.html", **context)

    return open_page
