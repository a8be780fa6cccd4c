"""The evidence of judges, counted by hand."""

from typing import Any

from agenthard.audit.judge.verdict import Change, CheckedIssue, CheckedQuote, CheckedVerdict, Issue
from agenthard.audit.statistics.intervals import clustered_wilson
from agenthard.reports.judge_evidence import evidence_tables, judge_evidence
from agenthard.taxonomy import Severity


def issue(category: str, standing: str, *found: str, reason: str = "", patched: bool = False) -> CheckedIssue:
    patch = (Change(op="remove", path="/user/turns/0", value=""),) if patched else ()
    said = Issue(
        category=category,
        claim="It is wrong.",
        reasoning_summary="",
        severity=Severity.AFFECTS_SCORE,
        confidence=0.5,
        evidence=(),
        fix="",
        patch=patch,
    )
    quotes = tuple(CheckedQuote.model_validate({"passage": "/id", "quote": "q", "found": f}) for f in found)
    made = ({"op": "remove", "path": "/user/turns/0"},) if patched and standing == "proved" else ()
    return CheckedIssue.model_validate(
        {"issue": said, "standing": standing, "quotes": quotes, "reason": reason, "patch": made}
    )


def verdict(judge: str, task: str, outcome: str, *issues: CheckedIssue, **more: Any) -> CheckedVerdict:
    return CheckedVerdict.model_validate(
        {"task_id": task, "judge": judge, "outcome": outcome, "issues": issues, **more}
    )


VERDICTS = [
    verdict(
        "a",
        "t1",
        "flawed",
        issue("too-strict", "verified", "exact", "normalised", patched=True),
        issue("too-strict", "unverified", "exact", "no", reason="the quote 'x' was found not in /id nor elsewhere"),
    ),
    verdict("a", "t2", "flawed", issue("redundant-tool-call", "proved", "elsewhere", patched=True)),
    verdict("a", "t3", "cannot_tell", issue("too-strict", "refuted", "exact")),
    verdict("a", "t4", "cannot_tell"),
    verdict("b", "t1", "not_flawed"),
    verdict("b", "t2", "error", reason="timeout: no answer"),
    verdict("b", "t3", "cannot_tell", issue("too-strict", "unverified", "exact", reason="it quotes nothing of it")),
]


def test_counts() -> None:
    evidence = judge_evidence(VERDICTS)
    a, b, everything = evidence.judges
    assert (a.name, b.name, everything.name) == ("a", "b", "all")
    # Of the four issues of judge a, one of two on t1 is unverified; refuted ones were found, and were wrong.
    assert (a.verified.k, a.verified.n) == (3, 4)
    assert (a.verified.low, a.verified.high) == clustered_wilson([(1, 2), (1, 1), (1, 1)])
    assert (a.exact, a.normalised, a.elsewhere, a.not_found) == (3, 1, 1, 1)
    assert (a.proved, a.refuted, a.patches, a.patches_accepted) == (1, 1, 2, 1)
    assert (b.verified.k, b.verified.n, everything.verified.k, everything.verified.n) == (0, 1, 3, 5)
    strict, redundant = evidence.categories
    assert (strict.name, strict.verified.k, strict.verified.n) == ("too-strict", 2, 4)
    assert (redundant.name, redundant.verified.k, redundant.verified.n) == ("redundant-tool-call", 1, 1)
    assert evidence.reasons == {"a quote was not found": 1, "it quotes nothing of it": 1}
    assert judge_evidence(VERDICTS[::-1]) == evidence


def test_verdicts() -> None:
    a, b, everything = judge_evidence(VERDICTS).verdicts
    assert (a.asked, a.answered, a.flawed, a.not_flawed, a.cannot_tell, a.demoted) == (4, 4, 2, 0, 1, 1)
    assert (b.asked, b.answered, b.flawed, b.not_flawed, b.cannot_tell, b.demoted) == (3, 2, 0, 1, 0, 1)
    assert (everything.asked, everything.answered) == (7, 6)


def test_tables() -> None:
    text = evidence_tables(judge_evidence(VERDICTS))
    assert "| b | 2 of 3 | 0 | 1 | 0 | 1 |" in text
    assert "| a | 3 of 4 = 0.750 [" in text
    assert "3 / 1 / 1 / 1 | 1 | 1 | 1 of 2 |" in text
    assert "a quote was not found 1; it quotes nothing of it 1." in text


def test_nothing_to_count() -> None:
    evidence = judge_evidence([verdict("a", "t1", "not_flawed")])
    assert [row.name for row in evidence.judges] == ["a"]
    assert evidence.judges[0].verified.value is None
    assert "| a | 0 of 0 |" in evidence_tables(evidence)
    assert judge_evidence([]).verdicts == ()
