"""Two audits side by side."""

import pytest

from agenthard.audit.statistics import Estimate, Undefined
from agenthard.reports.cleaning.inputs import AnalysisSettings, CleaningInput
from agenthard.reports.comparison.audits import AuditSide, ComparisonError, compare_audits
from agenthard.reports.comparison.boards import BoardsComparison
from agenthard.reports.comparison.summary import comparison_markdown, comparison_sections
from tests.reports.cleaning.small import IDENTITY, finding, made, runs

SETTINGS = AnalysisSettings(draws=200, resamples=200, min_verdicts=0.5)
ROWS = {"a": "11110", "b": "11000", "c": "00100"}


def side(audit: CleaningInput, name: str = "one", changed: str = "") -> AuditSide:
    contents = {task.id: f"{task.id} mended" if task.id == changed else task.id for task in audit.tasks}
    coverage = {("call-schema", task.id): "clean" for task in audit.tasks}
    return AuditSide(name, audit, contents, coverage)


def compared(first: AuditSide, second: AuditSide, **options: bool) -> BoardsComparison:
    found = compare_audits(first, second, SETTINGS, **options).boards
    assert isinstance(found, BoardsComparison)
    return found


def test_an_audit_compared_with_itself_has_no_news() -> None:
    audit = made("kkkkd", runs(ROWS), findings=[finding(1, "t4")])
    found = compare_audits(side(audit), side(audit, "two"), SETTINGS)
    assert (found.findings.new, found.findings.persisted, found.findings.fixed) == ((), 1, ())
    assert found.decisions == () and found.new_defects == 0 and found.same_content
    assert isinstance(found.boards, BoardsComparison)
    assert all(delta.difference.value == 0 for delta in found.boards.cleaned if isinstance(delta.difference, Estimate))


def test_cleaned_splits_are_compared_on_their_own_tasks_with_a_paired_interval() -> None:
    first, second = made("kkkkk", runs(ROWS)), made("kkkdd", runs(ROWS), findings=[finding(1, "t4")])
    found = compare_audits(side(first), side(second, "two"), SETTINGS)
    assert found.new_defects == 1
    assert [(c.task_id, c.before, c.after) for c in found.decisions] == [("t3", "keep", "drop"), ("t4", "keep", "drop")]
    boards = found.boards
    assert isinstance(boards, BoardsComparison)
    assert (boards.first_cleaned.n, boards.second_cleaned.n) == (5, 3)
    deltas = {delta.model: delta.difference for delta in boards.cleaned}
    # a: 4/5 → 3/3, b: 2/5 → 2/3, c: 1/5 → 1/3.
    for model, value in (("a", 1 - 4 / 5), ("b", 2 / 3 - 2 / 5), ("c", 1 / 3 - 1 / 5)):
        delta = deltas[model]
        assert isinstance(delta, Estimate) and delta.value == pytest.approx(value)
        assert delta.low is not None and delta.high is not None and delta.low <= value <= delta.high


def test_tasks_of_other_content_are_left_out_of_scores_and_counted() -> None:
    audit = made("kkkkk", runs(ROWS))
    found = compare_audits(side(audit), side(audit, "two", changed="t0"), SETTINGS)
    assert (found.tasks.same, found.tasks.changed) == (4, ("t0",))
    assert isinstance(found.boards, BoardsComparison) and found.boards.scores.tasks == 4


def test_different_models_are_refused_unless_the_common_ones_are_asked_for() -> None:
    first, second = made("kkkkk", runs(ROWS)), made("kkkkk", runs({**ROWS, "d": "10101"}))
    refused = compare_audits(side(first), side(second), SETTINGS)
    assert isinstance(refused.boards, Undefined) and "only the second has ['d']" in refused.boards.reason
    assert "the leaderboards are not compared" in refused.sentence
    found = compared(side(first), side(second), common_models=True)
    assert found.left_out == ("d",)
    assert {row.model for row in found.scores.models} == {"a", "b", "c"}


def test_what_may_not_be_compared_has_a_reason() -> None:
    audit = made("kkkkk", runs(ROWS))
    other = made("kkkkk", runs(ROWS))
    object.__setattr__(other, "audit", IDENTITY.model_copy(update={"source": "shop"}))
    with pytest.raises(ComparisonError, match="different benchmarks"):
        compare_audits(side(audit), side(other), SETTINGS)
    for second, reason in (
        (side(made("kkkkk")), "in the second audit no runs"),
        (side(made("kkkkk", runs(ROWS, "paper"))), "no experiment ''"),
        (AuditSide("x", audit, {t: "new" for t in audit.categories}, {}), "no task has the same content"),
    ):
        boards = compare_audits(side(audit), second, SETTINGS).boards
        assert isinstance(boards, Undefined) and reason in boards.reason


def test_the_sections_are_cut_and_the_markdown_is_escaped() -> None:
    before = made("k" * 30, runs({"a": "10" * 15, "b": "01" * 15}))
    findings = [finding(i, f"t{i}", claim="<script>|") for i in range(30)]
    after = made("d" * 25 + "k" * 5, runs({"a": "10" * 15, "b": "01" * 15}), findings=findings)
    found = compare_audits(side(before), side(after), SETTINGS)
    sections = {section.title: section for section in comparison_sections(found)}
    assert len(sections["New findings (the first 20 of 30)"].rows) == 20
    assert len(sections["Decisions (the first 20 of 25)"].rows) == 20
    text = comparison_markdown(found)
    assert "<script>" not in text and "\\<script\\>\\|" in text
