from pathlib import Path

import pytest

from agenthard.audit.detectors.runs.replayed_verdict import ReplayedVerdict
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, Message, Status, Tier, ToolCall, ToolSpec, Trajectory
from tests.audit.detectors.runs.conversations import agent, audit, called, played, shop_task, user
from tests.audit.execution.tau.conftest import make_task

GIVE = ToolCall(name="send_certificate", arguments={"user_id": "ada_1", "amount": 50})
GIVEN = called(
    "send_certificate", "Certificate certificate_3221322 added to user ada_1 with amount 50.", **GIVE.arguments
)
BYE = (agent("Done."), user("Bye. ###STOP###"))
TOOLS = (ToolSpec(name="send_certificate", effect="write"), ToolSpec(name="think", effect="read"))


def flight_task(number: int, *gold: ToolCall) -> AgentTask:
    task = make_task("tau-bench", "airline", list(gold))
    environment = task.environment.model_copy(update={"tools": TOOLS})
    return task.model_copy(update={"id": f"airline/{number}", "native_id": str(number), "environment": environment})


def run(number: int, *messages: Message, model: str = "m1", passed: bool = True, closed: bool = True) -> Trajectory:
    said = (user("Hello."), *messages, *(BYE if closed else ()))
    return played(*said, task_id=f"airline/{number}", model=model, passed=passed)


def test_a_log_that_was_scored_in_another_way_is_one_finding() -> None:
    tasks = [flight_task(i, GIVE) for i in range(4)]
    runs = [run(i, *(GIVEN if i == 3 else ()), model="idle") for i in range(4)]
    runs += [run(i, *GIVEN, model="sound") for i in range(4)]
    (finding,), coverage = audit(ReplayedVerdict(), tasks, runs)
    assert (finding.task_ids, finding.also_in) == ((), ("airline/0", "airline/1", "airline/2"))
    assert "3 of the 4 runs that can be compared in the log of idle are scored otherwise" in finding.claim
    assert "3 were logged as passed and fail (3 of them change nothing), 0 were logged as failed" in finding.claim
    assert finding.tier is Tier.SUSPECTED and finding.measures["rate"] == 0.75
    assert [row.status for row in coverage] == [Status.FLAGGED] * 3 + [Status.CLEAN]


@pytest.mark.parametrize(("models", "tier"), [(("a",), Tier.SIGNAL), (("a", "b"), Tier.SUSPECTED)])
def test_what_differs_on_one_task_in_sound_logs_points_at_the_task(models: tuple[str, ...], tier: Tier) -> None:
    tasks = [flight_task(i, GIVE) for i in range(12)]
    runs = [run(i, *GIVEN, model=model, passed=i > 0) for i in range(12) for model in models]
    (finding,), _ = audit(ReplayedVerdict(), tasks, runs)
    assert (finding.task_ids, finding.also_in, finding.tier) == (("airline/0",), (), tier)
    assert f"{len(models)} were logged as failed and pass" in finding.claim
    assert finding.evidence[0].quote == "false" and "send_certificate" in finding.evidence[1].quote


def test_runs_that_cannot_be_compared() -> None:
    other = called("send_certificate", "Certificate certificate_7 added.", **GIVE.arguments)
    runs = [run(0, closed=False), run(1, *other, passed=False), run(2, *GIVEN)]
    findings, coverage = audit(ReplayedVerdict(), [flight_task(i, GIVE) for i in range(3)], runs)
    assert findings == []
    assert [row.status for row in coverage] == [Status.NOT_CHECKED, Status.NOT_CHECKED, Status.CLEAN]
    reason = "no environment of our own can carry its runs out again"
    assert ReplayedVerdict().not_applicable(shop_task()) == reason


@pytest.mark.long
@pytest.mark.corpora
def test_two_logs_of_tau_bench_count_runs_that_change_nothing_as_passed(corpora: Path) -> None:
    source = open_source("tau-bench", corpora / "tau-bench_59a200c", ("airline",))
    runs = list(source.runs(corpora / "trajectories" / "tau1_airline.jsonl.gz", Quarantine()))
    findings, _ = audit(ReplayedVerdict(), list(source.tasks(Quarantine())), runs)
    assert [(f.task_ids, f.measures["logged_as_passed"], f.measures["idle"]) for f in findings] == [
        ((), 25, 25),
        ((), 16, 16),
    ]
