from agenthard.audit.decisions.priority import review_order
from agenthard.taxonomy import Evidence, Finding, Severity, Tier


def finding(check: str, tier: Tier, *tasks: str, severity: Severity = Severity.MAY_AFFECT_SCORE) -> Finding:
    return Finding(
        id=f"{check}-{'-'.join(tasks)}",
        check=check,
        check_version="1",
        category="suspicious-score-pattern",
        severity=severity,
        tier=tier,
        claim="claim",
        task_ids=tasks,
        evidence=(Evidence(task_id=tasks[0], pointer="/id", quote=tasks[0]),),
    )


def test_evidence_comes_first_and_signals_decide_among_equals() -> None:
    found = [
        finding("call-schema", Tier.CONFIRMED, "confirmed"),
        finding("call-schema", Tier.CONFIRMED, "worse", severity=Severity.AFFECTS_SCORE),
        finding("near-miss-value", Tier.SUSPECTED, "suspected", "suspected and signalled", "suspected twice"),
        finding("ungrounded-argument", Tier.SUSPECTED, "suspected twice"),
        finding("all-fail", Tier.SIGNAL, "suspected and signalled", "one signal", "two signals"),
        finding("flaky-trials", Tier.SIGNAL, "two signals"),
        finding("gold-redundant", Tier.CONFIRMED, "cosmetic", severity=Severity.COSMETIC),
        finding("all-pass", Tier.SIGNAL, "easy", severity=Severity.COSMETIC),
    ]
    ids = ["easy", "one signal", "two signals", "suspected", "suspected and signalled", "suspected twice"]
    ids += ["confirmed", "worse", "cosmetic", "clean"]
    order = review_order(ids, found)
    expected = ["worse", "confirmed", "suspected twice", "suspected and signalled", "suspected"]
    assert [item.task_id for item in order] == [*expected, "two signals", "one signal", "easy"]
    assert [item.place for item in order] == list(range(1, 9))
    assert (order[3].checks, order[3].signals) == (("near-miss-value",), ("all-fail",))
    assert order[3].tier is Tier.SUSPECTED


def test_ties_keep_the_order_of_the_benchmark_and_more_signals_never_beat_evidence() -> None:
    signals = [finding(f"signal-{i}", Tier.SIGNAL, "b", "a") for i in range(9)]
    order = review_order(["b", "a", "c"], [*signals, finding("call-schema", Tier.SUSPECTED, "c")])
    assert [item.task_id for item in order] == ["c", "b", "a"]


def test_the_severity_is_that_of_the_surest_tier() -> None:
    found = [
        finding("call-schema", Tier.CONFIRMED, "a"),
        finding("x", Tier.SUSPECTED, "a", severity=Severity.AFFECTS_SCORE),
    ]
    assert review_order(["a"], found)[0].severity is Severity.MAY_AFFECT_SCORE
