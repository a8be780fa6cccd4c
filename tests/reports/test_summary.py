"""Totals, ledger, the Markdown summary, the JSON twin, and the contract itself."""

import json
from pathlib import Path

import pytest

from agenthard.audit.detectors.base import TaskDetector
from agenthard.audit.sources.base import FigureTable
from agenthard.reports.findings_json import write_findings_json
from agenthard.reports.page import write_page, write_summary
from agenthard.reports.result import AuditResult, CheckInfo
from agenthard.reports.totals import Reason, ledger, sentence, totals
from agenthard.taxonomy.finding import Coverage, Finding, Severity, Status, Tier
from tests.reports.shop import ATTACK, changed


def test_totals_count_tasks_not_findings(shop: AuditResult) -> None:
    sums = totals(shop)
    # shop/0 to shop/3 carry confirmed or suspected findings; shop/4 only a signal.
    assert (sums.tasks, sums.checked, sums.flagged, sums.signalled) == (5, 5, 4, 1)
    # shop/0: confirmed and affects the score; shop/1: suspected; shop/3: a check ended in an error.
    assert (sums.dropped, sums.review, sums.kept) == (1, 2, 2)
    assert (sums.quarantined_tasks, sums.quarantined_runs) == (1, 1)
    assert (sums.findings, sums.confirmed, sums.suspected, sums.signals) == (4, 2, 1, 1)
    assert sums.unchecked == ()


def test_unchecked_task_is_never_clean(shop: AuditResult) -> None:
    rows = [
        Coverage(task_id="shop/0", check="lenient-substring", status=Status.CLEAN),
        Coverage(task_id="shop/1", check="lenient-substring", status=Status.ERROR, reason="KeyError: 'x'"),
        Coverage(task_id="shop/2", check="lenient-substring", status=Status.NOT_CHECKED, reason="no output"),
        Coverage(task_id="shop/3", check="lenient-substring", status=Status.NOT_CHECKED, reason="no output"),
    ]
    result = changed(shop, coverage=rows, findings=(), quarantined=())
    sums = totals(result)
    assert sums.checked == 1
    assert sums.unchecked == (
        Reason("no output", False, 2, "shop/2"),
        Reason("KeyError: 'x'", True, 1, "shop/1"),
        Reason("no check was asked to run", False, 1, "shop/4"),
    )
    assert sentence(result, sums) == (
        "AgentHard checked 1 of 5 tasks of Corner Shop and flagged 0; 0 to drop, 1 to review, 0 kept; "
        "4 unchecked (nothing speaks against them, and no deciding check could run); "
        "4 not checked (2 no output, 1 error: KeyError: 'x', 1 no check was asked to run)."
    )
    row = ledger(result)[1]
    assert (row.ran, row.flagged, row.clean, row.not_checked, row.errors) == (1, 0, 1, 2, 1)
    assert ledger(result)[0].ran == 0


def test_summary_has_the_same_numbers_and_links(shop: AuditResult, tmp_path: Path) -> None:
    write_summary(shop, tmp_path / "summary.md")
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "| 5 of 5 | 4 | 1 | 2 | 2 | 0 | 1 |" in text
    assert "1. **Incorrect tool calls** (confirmed, 1 task: shop/0)" in text
    assert "`policy.md:5` [details](report.html#finding=aaaaaaaaaaa0)" in text
    assert "| lenient-substring | 1 of 5 | no required output (4) |" in text
    assert "50.0 % (2 of 4)" in text
    assert text.splitlines()[0] == "# Corner Shop: audit by AgentHard"


def test_summary_is_safe_and_counts_what_it_does_not_show(shop: AuditResult, tmp_path: Path) -> None:
    hostile = "a | b\n# [x](http://y) `c` @team"
    copies = [shop.findings[1].model_copy(update={"id": f"{i:012x}", "claim": hostile}) for i in range(9)]
    write_summary(changed(shop, findings=copies), tmp_path / "summary.md")
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert text.count("http://y") == 5 and "\n5. " in text and "\n6. " not in text
    assert "a \\| b \\# \\[x\\](http://y) \\`c\\` @\u200bteam" in text
    assert text.count("and [4 more](report.html#check=lenient-substring) of this check") == 1
    assert ATTACK not in text


def test_summary_of_nothing_says_what_was_not_checked(clean_shop: AuditResult, tmp_path: Path) -> None:
    write_summary(clean_shop, tmp_path / "summary.md")
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert "3 not checked (3 no ground truth)." in text
    assert "| all-models-fail | 0 of 5 | no ground truth (3) |" in text
    assert "Look at these first" not in text and "## Models" not in text


def test_equal_input_gives_equal_reports(shop: AuditResult, tmp_path: Path) -> None:
    for writer, name in ((write_page, "p"), (write_summary, "s"), (write_findings_json, "j")):
        writer(shop, tmp_path / f"{name}1")
        writer(shop, tmp_path / f"{name}2")
        assert (tmp_path / f"{name}1").read_bytes() == (tmp_path / f"{name}2").read_bytes()
        assert str(tmp_path).encode() not in (tmp_path / f"{name}1").read_bytes()


def test_findings_json_holds_the_records_and_their_places(shop: AuditResult, tmp_path: Path) -> None:
    endless = shop.findings[3].model_copy(update={"measures": {"rate": float("nan")}})
    write_findings_json(changed(shop, findings=(*shop.findings[:3], endless)), tmp_path / "findings.json")
    text = (tmp_path / "findings.json").read_text(encoding="utf-8")
    document = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert [Finding.model_validate(item) for item in document["findings"][:3]] == list(shop.findings[:3])
    assert document["findings"][3]["measures"] == {"rate": None}
    assert document["places"]["aaaaaaaaaaa0"] == [
        {"file": "policy.md", "line": 5},
        {"file": "tasks.json", "line": 9},
    ]
    assert document["totals"]["flagged"] == 4 and document["schema_version"] == 1
    assert document["checks"][1]["ran"] == 1 and document["checks"][1]["of"] == 5


def test_result_refuses_parts_that_do_not_fit(shop: AuditResult) -> None:
    values = {k: getattr(shop, k) for k in AuditResult.__dataclass_fields__}
    with pytest.raises(ValueError, match="every task once"):
        AuditResult(**{**values, "decisions": shop.decisions[1:]})
    for changes, word in (
        ({"task_ids": ("shop/77",)}, "unknown task 'shop/77'"),
        ({"check": "elsewhere"}, "unknown check 'elsewhere'"),
        ({"category": "elsewhere"}, "unknown category 'elsewhere'"),
    ):
        with pytest.raises(ValueError, match=word):
            AuditResult(**{**values, "findings": [shop.findings[0].model_copy(update=changes)]})


def test_check_is_described_from_its_detector() -> None:
    class Odd(TaskDetector):
        """Flags odd tasks.

        Flagged: 3.
        """

        id = "odd"
        title = "odd tasks"
        version = "4"
        category = "too-strict"
        severity = Severity.COSMETIC
        tier = Tier.SIGNAL

        def inspect(self, task):  # type: ignore[no-untyped-def]
            return ()

    info = CheckInfo.of(Odd())
    assert info.doc == "Flags odd tasks.\n\nFlagged: 3." and info.version == "4" and info.why == ""


def test_figures_of_the_runs_stand_in_summary_and_page(shop: AuditResult, tmp_path: Path) -> None:
    table = FigureTable(
        title="Scores of m|1", columns=("part", "score"), rows=(("<b>", "4.5"), ("all", "5.0")), note="Mean over parts."
    )
    result = changed(shop, figures=(table,))
    write_summary(result, tmp_path / "summary.md")
    text = (tmp_path / "summary.md").read_text(encoding="utf-8")
    assert (
        "## Scores of m\\|1\n\n| part | score |\n|---|---|\n| \\<b\\> | 4.5 |\n| all | 5.0 |\n\nMean over parts."
        in text
    )
    write_page(result, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Scores of m|1" in page and '&lt;b&gt;</th><td class="n">4.5</td>' in page
