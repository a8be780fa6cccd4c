"""Hand-written verdicts on the demo benchmark: right and false ones, with garbled and invented quotes."""

from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.decisions.policy import decide, load_policy
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.judge.aggregate.findings import JudgeCheck, judge_results
from agenthard.audit.judge.aggregate.panel import combine
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.verdict import Issue
from agenthard.audit.judge.verify.verification import check_verdict
from agenthard.audit.shards import ShardResult, check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import Native
from agenthard.flows.demo import write_demo
from agenthard.reports.judge_evidence import judge_evidence
from agenthard.taxonomy import AgentTask, Finding, Tier
from tests.audit.judge.saying import call_at, flawed, judged, says
from tests.audit.judge.verdicts import panel

VERDICTS: dict[str, tuple[Issue, str, str]] = {
    "parcels/11": (  # a weight as text, which a check sees too; quoted with other space
        says("malformed-tool-call", "The weight is text.", (call_at(0), '"weight_grams" :\n"1250"')),
        "proved",
        "call-schema finds it too",
    ),
    "library/9": (  # states are compared and nothing executes them here, so no run shows the effect on the score
        says("malformed-tool-call", "notify_by is no parameter.", (call_at(1), '"notify_by": "post"')),
        "verified",
        "",
    ),
    "parcels/14": (  # an id that is not the user's; no curly quotation marks on the judge's keyboard
        says(
            "incorrect-tool-call",
            "The note goes to a parcel that is not the user's.",
            ("/user/turns/0/0/content", 'For KP-41938, leave the driver a note that says "Beware'),
            (call_at(0), "KP-41983"),
        ),
        "verified",
        "",
    ),
    "parcels/13": (  # the quote of the user is invented
        says(
            "incorrect-tool-call",
            "The reference is another.",
            ("/user/turns/0/0/content", "reference SF-20419"),
            (call_at(0), "SF-20418"),
        ),
        "unverified",
        "the quote 'reference SF-20419' was found not in",
    ),
    "parcels/2": (  # nothing is wrong with this call
        says("malformed-tool-call", "The id has the wrong type.", (call_at(0), '"tracking_id": "KP-41938"')),
        "refuted",
        "call-schema looked at the gold call of track_parcel",
    ),
    "library/3": (  # nothing executes the demo's tasks here
        says("redundant-tool-call", "The list is idle.", (call_at(0), "list_loans")),
        "verified",
        "not settled: no environment is registered for demo",
    ),
}


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, AgentTask]:
    folder: Path = tmp_path_factory.mktemp("demo")
    write_demo(folder)
    return {task.id: task for task in Native(folder).tasks(Quarantine())}


@pytest.fixture(scope="module")
def audit(tasks: dict[str, AgentTask]) -> tuple[ShardResult, list[Finding]]:
    shard = check_shard(list(tasks.values()), {}, detectors())
    return shard, conclude("demo", list(tasks), [shard], detectors())[0]


@pytest.mark.parametrize("task_id", VERDICTS)
def test_what_is_left_of_a_verdict(task_id: str, tasks: dict[str, AgentTask]) -> None:
    said, standing, reason = VERDICTS[task_id]
    task = tasks[task_id]
    [issue] = check_verdict(judged(task, flawed(said)), task, gather(task)).issues
    assert issue.standing == standing
    assert issue.reason.startswith(reason)


def test_only_what_the_audit_is_sure_of_proves_it(
    tasks: dict[str, AgentTask], audit: tuple[ShardResult, list[Finding]]
) -> None:
    task = tasks["parcels/14"]
    said = VERDICTS[task.id][0]
    found = [finding for finding in audit[1] if finding.check == "near-miss-value" and task.id in finding.task_ids]
    sure = [finding.model_copy(update={"tier": Tier.CONFIRMED}) for finding in found]
    [doubtful] = check_verdict(judged(task, flawed(said)), task, gather(task), findings=found).issues
    assert (found[0].tier, doubtful.standing) == (Tier.SUSPECTED, "verified")
    [issue] = check_verdict(judged(task, flawed(said)), task, gather(task), findings=sure).issues
    assert issue.standing == "proved"
    assert issue.reason.startswith("near-miss-value finds it too")
    other = says("incorrect-tool-call", "The note is another.", *[(q.passage, q.quote) for q in said.evidence[:1]])
    whole = said.evidence[0].model_copy(update={"passage": call_at(0), "quote": '"note": "Beware of the geese"'})
    other = other.model_copy(update={"evidence": (*other.evidence, whole)})
    [elsewhere] = check_verdict(judged(task, flawed(other)), task, gather(task), findings=sure).issues
    assert elsewhere.standing == "verified", "the same words of the user, and another argument of the call"


def test_from_words_to_decisions(tasks: dict[str, AgentTask], audit: tuple[ShardResult, list[Finding]]) -> None:
    checked = {
        task_id: check_verdict(judged(tasks[task_id], flawed(said)), tasks[task_id], gather(tasks[task_id]))
        for task_id, (said, _, _) in VERDICTS.items()
    }
    panels = {task_id: combine([verdict], panel("m")) for task_id, verdict in checked.items()}
    results = judge_results(list(tasks.values()), panels)
    findings, coverage = conclude("demo", list(tasks), [audit[0], results], [*detectors(), JudgeCheck()])
    own = {finding.task_ids[0]: finding.tier for finding in findings if finding.check == "judge"}
    assert own == {
        "parcels/11": Tier.CONFIRMED,
        "library/9": Tier.SUSPECTED,
        "parcels/14": Tier.SUSPECTED,
        "library/3": Tier.SUSPECTED,
    }
    rows = [row for row in coverage if row.check == "judge"]
    assert {row.status.value for row in rows if row.task_id not in VERDICTS} == {"not_checked"}
    assert {row.task_id: row.status.value for row in rows if row.task_id in VERDICTS} == {
        **dict.fromkeys(own, "flagged"),
        "parcels/13": "not_checked",
        "parcels/2": "not_checked",
    }
    decided = decide(load_policy(), list(tasks), findings, coverage, {"judge": "judge"})
    decisions = {d.task_id: d.action for d in decided}
    assert decisions["library/3"] == "review"
    everything = judge_evidence(checked.values()).judges[0]
    assert (everything.verified.k, everything.verified.n) == (5, 6)
    assert (everything.exact, everything.normalised, everything.not_found) == (5, 2, 1)
