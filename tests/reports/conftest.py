"""The corner shop, a small benchmark written by hand, as fixtures."""

from pathlib import Path

import pytest

from reports.result import AuditResult
from taxonomy.finding import Coverage, Status
from tests.reports.shop import CHECKS, build_shop, changed


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
