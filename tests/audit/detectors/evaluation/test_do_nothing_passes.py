from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.evaluation import DoNothingPasses
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Severity,
    Status,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from tests.builders import make_task
from tests.corpora import tasks_of

POLICY = """# Library
Books can be renewed once.
- Loans: a loan can be extended once. Loans of journals cannot be changed.
- Fees can only be refunded within a week. The agent should not use a tool to refund them.
"""
ENVIRONMENT = EnvironmentSpec(
    tools=(
        ToolSpec(name="lend_book", effect="write"),
        ToolSpec(name="find_member", effect="read"),
        ToolSpec(name="transfer_to_human_agents", effect="read"),
        ToolSpec(name="ring_bell"),
    ),
    policy=POLICY,
)
STATE = Check(kind="final_state", scored=True, pointer="/ground_truth/turns/0")


def task(*calls: str, instruction: str = "", checks: tuple[Check, ...] = (STATE,), **changes: Any) -> AgentTask:
    values: dict[str, Any] = {
        "environment": ENVIRONMENT,
        "user": UserSpec(kind="simulated", instruction=instruction),
        "evaluation": EvaluationSpec(checks=checks),
        "ground_truth": GroundTruth(
            semantics="reference_path", turns=(tuple(ToolCall(name=name) for name in calls),), call_matching="state"
        ),
    }
    return make_task(**{**values, **changes})


def result(subject: AgentTask) -> tuple[Status, str, Severity | None]:
    shard = check_shard([subject], {}, [DoNothingPasses()])
    [row] = shard.coverage
    assert row.status is not Status.ERROR, row.reason
    hit = shard.hits[0].hit if shard.hits else None
    return row.status, hit.claim if hit else row.reason, hit.severity if hit else None


def test_reads_alone_leave_the_state_as_it_is() -> None:
    status, claim, _ = result(task("find_member"))
    assert status is Status.FLAGGED
    assert "no call of the ground truth changes the state" in claim


@pytest.mark.parametrize(
    "subject",
    [
        task("find_member", "lend_book"),
        task(checks=(STATE, Check(kind="output_substring", scored=True, expected="12"))),
        task("find_member", checks=(Check(kind="tool_calls", scored=True, pointer="/ground_truth/turns/0"),)),
        task("find_member", traits=frozenset({"unchecked_turns"})),
        task(checks=(Check(kind="tool_calls", scored=True),), traits=frozenset({"expects_any_call"})),
        task("lend_book", checks=(STATE, Check(kind="state_assertion", scored=True, expected={"lent": 7}))),
    ],
    ids=["a write", "a text", "a call", "what a call returns", "some call", "a write beside an assertion"],
)
def test_what_doing_nothing_does_not_reach(subject: AgentTask) -> None:
    assert result(subject)[0] is Status.CLEAN


@pytest.mark.parametrize(
    ("subject", "reason"),
    [
        (task(checks=(Check(kind="no_call", scored=True),), traits=frozenset({"expects_no_call"})), "right answer"),
        (task(checks=()), "nothing is known"),
        (task("ring_bell"), "not known whether ring_bell"),
        (task("no_such_tool"), "not known whether no_such_tool"),
        (task(checks=(STATE, Check(kind="state_assertion", scored=True))), "running the environment"),
        (task(checks=(STATE, Check(kind="judge", scored=True, expected="Polite."))), "running the environment"),
    ],
)
def test_what_is_not_checked(subject: AgentTask, reason: str) -> None:
    status, text, _ = result(subject)
    assert status is Status.NOT_CHECKED
    assert reason in text


def test_a_task_none_of_whose_checks_is_scored() -> None:
    status, claim, _ = result(task("lend_book", checks=(Check(kind="judge", scored=False, expected="Polite."),)))
    assert status is Status.FLAGGED
    assert "no check is scored" in claim


def test_an_empty_required_text_is_part_of_an_empty_reply() -> None:
    empty = Check(kind="output_substring", scored=True, expected=" ")
    one_of = Check(kind="output_substring", scored=True, expected=["12", ""])
    assert result(task(checks=(empty,)))[0] is Status.FLAGGED
    assert result(task(checks=(one_of,)))[0] is Status.FLAGGED


REFUSED = Check(kind="judge", scored=False, expected="Agent should not lend the book.")


@pytest.mark.parametrize(
    ("subject", "says", "severity"),
    [
        (task("transfer_to_human_agents", instruction="Renew it."), "handing the user over", Severity.AFFECTS_SCORE),
        (task(instruction="You want to know how much you owe."), "told a figure", Severity.AFFECTS_SCORE),
        (
            task(instruction="Lend me 7.", checks=(STATE, REFUSED)),
            "legitimate refusal: the task",
            Severity.MAY_AFFECT_SCORE,
        ),
        (
            task(instruction="Lend me 7.", metadata={"purpose": "Test that the agent refuses."}),
            "legitimate refusal: the task",
            Severity.MAY_AFFECT_SCORE,
        ),
        (
            task(instruction="You want to change the loan. You pay up to $10."),
            "the user's own condition",
            Severity.MAY_AFFECT_SCORE,
        ),
        (
            task(instruction="Change the loan. If the agent says you cannot, you want to return the journal."),
            "cannot be told: the user names something else",
            Severity.MAY_AFFECT_SCORE,
        ),
        (
            task(instruction="You want to change the loan, even if the agent says you cannot, you want it."),
            "legitimate refusal: the policy",
            Severity.MAY_AFFECT_SCORE,
        ),
        (task(instruction="You want to sing."), "cannot be told from the task's texts", Severity.MAY_AFFECT_SCORE),
    ],
)
def test_what_the_texts_make_of_it(subject: AgentTask, says: str, severity: Severity) -> None:
    status, claim, found = result(subject)
    assert (status, found) == (Status.FLAGGED, severity)
    assert says in claim


def test_a_refusal_quotes_the_request_and_the_nearest_rule_that_is_not_about_tools() -> None:
    subject = task(instruction="You are Ada. You want to change the loans of two journals. Be brief.")
    [hit] = DoNothingPasses().inspect(subject)
    assert [item.quote for item in hit.evidence] == [
        "You want to change the loans of two journals.",
        "- Loans: a loan can be extended once. Loans of journals cannot be changed.",
        "[[]]",
    ]
    [other] = DoNothingPasses().inspect(task(instruction="You want your fee refunded."))
    assert "cannot be told" in other.claim


def test_each_gold_call_is_quoted_once() -> None:
    [hit] = DoNothingPasses().inspect(task("find_member", "find_member", "transfer_to_human_agents"))
    assert [item.pointer for item in hit.evidence] == ["/ground_truth/turns/0/2/name", "/ground_truth/turns/0/0/name"]


@pytest.mark.corpora
def test_tau(corpora: Path) -> None:
    first = tasks_of(TauBench, corpora / "tau-bench_59a200c")
    hits = [(hit.task_ids[0], hit.hit) for hit in check_shard(first, {}, [DoNothingPasses()]).hits]
    airline = {task_id: hit.claim for task_id, hit in hits if task_id.startswith("airline/")}
    assert len(airline) == 19
    assert sum("legitimate refusal" in claim for claim in airline.values()) == 11
    assert [task_id for task_id, claim in airline.items() if "handing the user over" in claim] == [
        f"airline/{i}" for i in (13, 35, 36, 38)
    ]
    second = tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3")
    shard = check_shard(second, {}, [DoNothingPasses()])
    assert sum(hit.task_ids[0].startswith("airline/") for hit in shard.hits) == 19
    telecom = [row.status for row in shard.coverage if row.task_id.startswith("telecom/")]
    assert set(telecom) == {Status.NOT_CHECKED, Status.CLEAN}


@pytest.mark.long
@pytest.mark.corpora
def test_bfcl(corpora: Path) -> None:
    tasks = tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17")
    shard = check_shard(tasks, {}, [DoNothingPasses()])
    assert shard.hits == ()
    unchecked = {row.task_id for row in shard.coverage if row.status is Status.NOT_CHECKED}
    assert unchecked == {task.id for task in tasks if task.subtask in ("irrelevance", "live_irrelevance")}
