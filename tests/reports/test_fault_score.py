"""Recall of planted faults and false alarms, by hand."""

import pytest

from agenthard.audit.faults.answer_key import PlantedFault
from agenthard.audit.statistics.intervals import wilson
from agenthard.reports.fault_score import score_faults
from agenthard.reports.fault_table import fault_table
from agenthard.taxonomy import Evidence, Finding, Severity, Tier


def fault(task_id: str, category: str, operator: str = "op", **changes: object) -> PlantedFault:
    values: dict[str, object] = {
        "task_ids": (task_id,),
        "category": category,
        "operator": operator,
        "decided_by": "rules",
        "because": "it stands there",
        "rule_known": True,
        "pointer": "/environment/policy",
        "says": "it is wrong",
    }
    return PlantedFault.model_validate({**values, **changes})


def finding(task_id: str, category: str, check: str, pointer: str, tier: Tier = Tier.CONFIRMED) -> Finding:
    return Finding(
        id=f"{task_id}{category}{check}",
        check=check,
        check_version="1",
        category=category,
        severity=Severity.AFFECTS_SCORE,
        tier=tier,
        claim="It is wrong.",
        task_ids=(task_id,),
        evidence=(Evidence(task_id=task_id, pointer=pointer, quote="x"),),
    )


KEY = [
    fault("a", "incorrect-system-prompt"),
    fault("b", "incorrect-system-prompt", operator="other", rule_known=False),
    fault("c", "insufficient-toolset", also=("malformed-tool-call",), pointer="/environment/tools"),
    fault("d", "too-strict"),
    fault("e", "too-strict", decided_by="judge", because="it needs reading"),
    fault("gone", "too-strict"),
]
FINDINGS = [
    finding("a", "incorrect-system-prompt", "prompts", "/environment/policy"),
    finding("b", "incorrect-system-prompt", "prompts", "/user/instruction"),
    finding("c", "malformed-tool-call", "schema", "/ground_truth/turns/0/0"),
    finding("d", "too-lenient", "lenient", "/evaluation"),
    finding("sound-1", "too-lenient", "lenient", "/evaluation"),
    finding("sound-2", "suspicious-score-pattern", "all-pass", "/id", Tier.SIGNAL),
]
TASKS = ["a", "b", "c", "d", "e", *(f"sound-{i}" for i in range(20))]
SCORE = score_faults(KEY, TASKS, FINDINGS, {}, {"too-strict": ["strict"]})


def test_recall_by_category() -> None:
    rows = {(row.name, row.decided_by): row for row in SCORE.categories}
    prompts = rows["incorrect-system-prompt", "rules"]
    assert (prompts.found.k, prompts.found.n, prompts.at_place) == (2, 2, 1)  # b is quoted in another place
    assert (prompts.found.low, prompts.found.high) == wilson(2, 2)
    assert prompts.checks == {"prompts": 2} and not prompts.rule_known
    assert rows["insufficient-toolset", "rules"].found.k == 1  # named as malformed, which is the same fact
    strict = rows["too-strict", "rules"]
    assert (strict.found.k, strict.found.n, strict.elsewhere) == (0, 1, 1)
    assert rows["too-strict", "judge"].found.n == 1


def test_totals_and_what_was_not_read() -> None:
    assert (SCORE.overall["rules"].k, SCORE.overall["rules"].n) == (3, 4)
    assert (SCORE.overall["judge"].k, SCORE.overall["judge"].n) == (0, 1)
    assert (SCORE.rule_unknown.k, SCORE.rule_unknown.n) == (1, 1)
    assert SCORE.not_in_run == 1


def test_headline_recall_leaves_experimental_checks_out() -> None:
    tried = [*FINDINGS, finding("d", "too-strict", "tried", "/environment/policy")]
    tried.append(finding("sound-5", "too-strict", "tried", "/environment/policy"))
    score = score_faults(KEY, TASKS, tried, {}, {}, ["tried"])
    assert (score.overall["rules"].k, score.overall_with_experimental["rules"].k) == (3, 4)
    strict = next(row for row in score.categories if (row.name, row.decided_by) == ("too-strict", "rules"))
    assert (strict.found.k, strict.with_experimental, strict.at_place, strict.elsewhere) == (0, 1, 0, 0)
    assert (score.false_alarms.k, score.false_alarms_with_experimental.k) == (1, 2)
    missed = next(miss for miss in score.misses if miss.fault.task_ids == ("d",))
    assert missed.reason == "found by experimental checks only: tried"
    assert r"| too-strict | 0 of 1 = 0.000 [0.000, 0.793] | 0 | 1 | tried\* 1 |" in fault_table(score)


def test_a_signal_is_no_false_alarm() -> None:
    assert (SCORE.false_alarms.k, SCORE.false_alarms.n) == (1, 20)
    assert SCORE.false_alarms_by_check == {"lenient": 1} and SCORE.signals == {"all-pass": 1}


@pytest.mark.parametrize(("in_a_run", "found", "alarms"), [("run-1", 1, 1), (None, 0, 0)])
def test_tasks_beside_a_finding_count_where_it_was_seen_in_their_runs(
    in_a_run: str | None, found: int, alarms: int
) -> None:
    seen = finding("b", "too-strict", "tally", "/messages/0/content")
    evidence = (seen.evidence[0].model_copy(update={"trajectory_id": in_a_run}),)
    beside = seen.model_copy(update={"task_ids": (), "also_in": ("d", "sound-3"), "evidence": evidence})
    score = score_faults([fault("d", "too-strict")], TASKS, [beside], {}, {})
    assert (score.overall["rules"].k, score.false_alarms.k) == (found, alarms)


def test_misses_say_why() -> None:
    reasons = {miss.fault.task_ids[0]: miss.reason for miss in SCORE.misses}
    assert reasons == {
        "d": "reported under another category only: lenient (too-lenient)",
        "e": "needs a judge: it needs reading",
    }
    nobody = score_faults([fault("d", "too-strict")], TASKS, [], {}, {})
    assert nobody.misses[0].reason == "no check looks for too-strict"
    skipped = score_faults([fault("d", "too-strict")], TASKS, [], {("d", "s"): "no turns"}, {"too-strict": ["s"]})
    assert skipped.misses[0].reason == "not checked: no turns"
    silent = score_faults([fault("d", "too-strict")], TASKS, [], {}, {"too-strict": ["s"]})
    assert silent.misses[0].reason == "no finding from s"


def test_the_table_has_every_category_once_per_kind() -> None:
    table = fault_table(SCORE)
    assert table.count("| too-strict |") == 2 and table.count("| incorrect-system-prompt |") == 1
    assert "3 of 4 = 0.750" in table and "1 of 20 = 0.050" in table
