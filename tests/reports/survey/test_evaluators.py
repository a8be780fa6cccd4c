"""What was found out about evaluators, by test: counts, legitimate verdicts, and why a test was not made."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.execution.evaluator_probes import DOES
from agenthard.flows.audit_plan import AuditSettings
from agenthard.reports.survey.audits import SurveyedAudit, load_audit
from agenthard.reports.survey.categories import category_counts
from agenthard.reports.survey.evaluators import EvaluatorTest, evaluator_tests, probe_of
from agenthard.taxonomy.categories import builtin_taxonomy
from agenthard.taxonomy.finding import Coverage, Finding, Level, Severity, Status, Tier
from tests.flows.audits import audit_by_steps
from tests.reports.cleaning.small import finding, made

LEAVES_OUT = "no environment is registered for library"


def surveyed(findings: Sequence[Finding], ran: str) -> SurveyedAudit:
    """Four tasks; ``ran`` has one letter per task: x = the check ran there."""
    checks = sorted({each.check for each in findings} | {"do-nothing-passes", "probe-passes"})
    rows = [
        Coverage(
            task_id=f"t{i}",
            check=check,
            status=Status.CLEAN if mark == "x" else Status.NOT_CHECKED,
            reason="" if mark == "x" else LEAVES_OUT,
        )
        for i, mark in enumerate(ran)
        for check in checks
    ]
    reasons = [{"text": LEAVES_OUT, "error": False, "tasks": ran.count(" "), "example": "t0"}] if " " in ran else []
    return SurveyedAudit(
        run="run",
        found=made("k" * len(ran), findings=findings),
        manifest={},
        checks={check: {"reasons": reasons, "ran": ran.count("x")} for check in checks},
        not_read=(),
        tickets=0,
        coverage=CoverageTable.of(rows),
    )


def probe(number: int, does: str, *tasks: str) -> Finding:
    return finding(
        number, *tasks, check="probe-passes", category="too-lenient", claim=f"An agent that {does} gets full score"
    )


def by_id(audit: SurveyedAudit) -> dict[str, EvaluatorTest]:
    return {test.id: test for test in evaluator_tests(audit)}


def test_do_nothing_joins_what_was_read_and_what_was_probed() -> None:
    right = {"check": "do-nothing-passes", "tier": Tier.SIGNAL, "severity": Severity.MAY_AFFECT_SCORE}
    found = [
        finding(1, "t0", check="do-nothing-passes"),
        finding(2, "t1", **right),
        probe(3, DOES["nothing"], "t2"),
        probe(4, DOES["everything"], "t3"),
    ]
    tests = by_id(surveyed(found, "xxxx"))
    nothing = tests["nothing"]
    assert (nothing.failed.k, nothing.failed.n) == (3, 4)
    assert (nothing.confirmed, nothing.suspected, nothing.legitimate) == (2, 0, 1), "the policy may demand it"
    assert (tests["everything"].failed.k, tests["everything"].at_least) == (1, True)
    assert tests["refusal"].failed.k == 0 and tests["refusal"].failed.n == 4


def test_a_test_that_was_not_made_is_not_passed() -> None:
    tests = by_id(surveyed([], "x   "))
    assert tests["everything"].failed.n == 1
    assert [(each.reason, each.tasks) for each in tests["everything"].not_tested] == [(LEAVES_OUT, 3)]
    [never] = tests["wrong-answer-accepted"].not_tested
    assert never.reason == "the check was not asked to run" and never.tasks == 4
    assert tests["wrong-answer-accepted"].failed.n == 0


def test_answers_that_were_made_are_added_up() -> None:
    measures = {"constructed_answers": 512.0, "constructed_answers_scored_wrongly": 509.0}
    found = [
        finding(1, "t0", "t1", check="wrong-answer-accepted", level=Level.EVALUATOR, measures=measures),
        finding(2, "t1", check="wrong-answer-accepted", level=Level.EVALUATOR, measures=measures),
    ]
    test = by_id(surveyed(found, "xxxx"))["wrong-answer-accepted"]
    assert (test.failed.k, test.answers, test.answers_wrong) == (2, 1024, 1018)


@pytest.mark.parametrize("name", DOES)
def test_the_probe_of_a_finding_is_named_in_its_claim(name: str) -> None:
    assert probe_of(probe(1, DOES[name], "t0")) == name  # type: ignore[index]
    assert probe_of(probe(1, "says nothing that we know", "t0")) is None


def test_categories_of_the_users_own_come_last() -> None:
    own = finding(1, "t1", category="house-rule", check="house-check", severity=Severity.COSMETIC)
    rows = category_counts(surveyed([own], "xx  "), builtin_taxonomy())
    assert (rows[-1].category, rows[-1].component, rows[-1].flagged.k, rows[-1].flagged.n) == (
        "house-rule", "ground_truth", 1, 2,
    )  # fmt: skip
    assert rows[-1].confirmed == 0 and rows[-1].checks == 1, (
        "a cosmetic finding is flagged and not counted as confirmed"
    )


@pytest.mark.corpora
@pytest.mark.long
def test_tau_bench_passes_who_does_nothing_and_who_says_the_database(corpora: Path, tmp_path: Path) -> None:
    path = str(corpora / "tau-bench_59a200c")
    audit_by_steps(AuditSettings(source="tau-bench", path=path, domains=("airline",), out=str(tmp_path / "run")))
    tests = by_id(load_audit(tmp_path / "run"))
    assert tests["nothing"].failed.n == 50 and tests["nothing"].failed.k >= tests["nothing"].confirmed > 0
    assert tests["nothing"].legitimate > 0
    assert tests["everything"].failed.n == 50 and tests["everything"].failed.k >= 1
    assert tests["right-answer-rejected"].failed.k >= 10 and tests["right-answer-rejected"].answers
    assert tests["wrong-answer-accepted"].failed.n == 50 and tests["wrong-answer-accepted"].failed.k == 0
