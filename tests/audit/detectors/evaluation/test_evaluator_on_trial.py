"""The checks that give attempts to a task's own evaluator."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.base import Detector
from agenthard.audit.detectors.evaluation import GoldRejected, ProbePasses, RightAnswerRejected, WrongAnswerAccepted
from agenthard.audit.detectors.evaluation.probe_passes import does_as_the_gold
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.gold import environment_of, why_not_evaluated
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import AgentTask, Check, EvaluationSpec, Finding, Severity, Status, Tier
from tests.corpora import tasks_of
from tests.library import DESK, TEXT, Desk, call, desk_task, lend, library_desk, tool

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def findings(detector: Detector, *tasks: AgentTask) -> list[Finding]:
    """What an audit in one shard per task concludes; shards as an interrupted audit leaves them."""
    shards = [check_shard([task], {}, [detector]) for task in tasks]
    found, rows = conclude("library", [task.id for task in tasks], shards, [detector])
    assert [row.reason for row in rows if row.status is Status.ERROR] == []
    return found


def test_an_evaluator_that_rejects_its_ground_truth() -> None:
    assert findings(GoldRejected(), desk_task(lend(), outputs=("12",))) == []
    [finding] = findings(GoldRejected(), desk_task(lend(), call("draw_ticket")))
    assert finding.category == "unreachable-score"
    assert "rejects the ground truth: state" in finding.claim


def test_repeating_the_user() -> None:
    order = desk_task(call("find_book", book="b7"), outputs=("12",), says="What of order 12?")
    [finding] = findings(ProbePasses(), order)
    assert "repeats what the user wants" in finding.claim
    assert finding.severity is Severity.AFFECTS_SCORE
    assert any(item.quote == "What of order 12?" for item in finding.evidence)


def test_handing_over_is_right_where_the_ground_truth_does() -> None:
    """A state assertion is not known before it is tried, so that doing nothing may fail where handing over passes."""
    requires = Check(kind="tool_calls", scored=True, expected={"name": "transfer_to_human_agents"})
    evaluation = EvaluationSpec(checks=(requires,))
    over = call("transfer_to_human_agents", summary="I cannot do it.")
    changed = desk_task(over, lend("b9", "bea"), evaluation=evaluation)
    other = desk_task(call("leave_note", text="gone"), evaluation=evaluation)
    assert findings(ProbePasses(), desk_task(call("find_book", book="b7"), over, evaluation=evaluation)) == []
    for task in (changed, other):
        assert not does_as_the_gold(task, Attempt(turns=((over,),)))
    assert does_as_the_gold(desk_task(call("find_book", book="b7"), over), Attempt(turns=((over,),)))
    queue = call("transfer_to_human_agents", queue="loans")
    assert not does_as_the_gold(desk_task(queue), Attempt(turns=((over,),))), "a queue is a choice, no prose"


def test_saying_everything_is_one_finding() -> None:
    asked = [desk_task(call("find_book", book="b7"), outputs=("bea",), id=f"lib/{i}") for i in range(2)]
    [finding] = findings(ProbePasses(), *asked)
    assert finding.task_ids == ("lib/0", "lib/1")
    assert finding.severity is Severity.MAY_AFFECT_SCORE


def test_what_other_checks_report_is_not_reported_again() -> None:
    assert findings(ProbePasses(), desk_task(call("find_book", book="b7"))) == []
    assert findings(ProbePasses(), desk_task(lend("b9", "bea"))) == []
    assert findings(ProbePasses(), desk_task(lend())) == []


def test_an_argument_that_makes_no_difference() -> None:
    tasks = [desk_task(lend("b7"), id="lib/0"), desk_task(lend("b8", kind="long"), id="lib/1")]
    [finding] = findings(WrongAnswerAccepted(), *tasks)
    assert "lend_book.kind" in finding.claim
    assert finding.task_ids == ("lib/0", "lib/1")
    assert "--mutant other-choice:/ground_truth/turns/0/0/arguments/kind" in finding.command
    variants = [task.model_copy(update={"cluster": "one base task"}) for task in tasks]
    assert findings(WrongAnswerAccepted(), *variants) == []


def test_an_argument_of_the_same_name_in_another_domain_is_another() -> None:
    desks = [DESK.model_copy(update={"state_name": name}) for name in ("north.json", "south.json")]
    tasks = [desk_task(lend(f"b{7 + i % 2}"), id=f"lib/{i}", environment=desks[i // 2]) for i in range(4)]
    north, south = findings(WrongAnswerAccepted(), *tasks)
    assert (north.task_ids, south.task_ids) == (("lib/0", "lib/1"), ("lib/2", "lib/3"))
    for finding in (north, south):
        assert {item.task_id for item in finding.evidence} <= set(finding.task_ids)


def test_a_call_that_is_passed_on_is_told_apart_by_its_tool(monkeypatch: pytest.MonkeyPatch) -> None:
    def pass_on(self: Desk, tool_name: str, kind: str) -> str:
        self.state.setdefault("passed", []).append(tool_name)
        return "passed on"

    monkeypatch.setattr(Desk, "_pass_on", pass_on, raising=False)
    wrapper = tool("pass_on", "write", tool_name=TEXT, kind={"type": "string", "enum": ["short", "long"]})
    environment = DESK.model_copy(update={"tools": (*DESK.tools, wrapper)})
    names = ("lend_book", "lend_book", "pay_fee", "pay_fee", "leave_note")
    tasks = [
        desk_task(call("pass_on", tool_name=name, kind="short"), id=f"lib/{i}", environment=environment)
        for i, name in enumerate(names)
    ]
    found = {finding.task_ids: finding.claim for finding in findings(WrongAnswerAccepted(), *tasks)}
    assert found.keys() == {("lib/0", "lib/1"), ("lib/2", "lib/3")}, "a single task is no habit"
    assert "pass_on.kind of lend_book" in found["lib/0", "lib/1"]


def test_a_right_answer_written_otherwise() -> None:
    paid = [desk_task(call("pay_fee", member="ada", amount=amount), id=f"lib/{amount}") for amount in (5, 6)]
    [finding] = findings(RightAnswerRejected(), *paid)
    assert "5 → 5.0" in finding.claim
    assert (finding.severity, finding.tier) == (Severity.MAY_AFFECT_SCORE, Tier.CONFIRMED)
    assert len(finding.task_ids) == 2
    [words] = findings(RightAnswerRejected(), desk_task(lend(), outputs=("3",)))
    assert words.tier is Tier.SUSPECTED


def test_a_rejected_ground_truth_says_nothing_of_right_answers() -> None:
    task = desk_task(call("pay_fee", member="ada", amount=5), call("draw_ticket"))
    assert findings(RightAnswerRejected(), task) == []


@pytest.mark.parametrize("detector", [GoldRejected(), ProbePasses(), RightAnswerRejected(), WrongAnswerAccepted()])
def test_errors_and_what_is_not_checked(detector: Any) -> None:
    tasks = [
        desk_task(call("break_down")),
        desk_task(lend(), benchmark="museum", id="lib/2"),
        desk_task(lend(), evaluation=EvaluationSpec(), id="lib/3"),
    ]
    broken, foreign, unscored = check_shard(tasks, {}, [detector]).coverage
    assert broken.status is Status.ERROR and "broke down" in broken.reason
    assert foreign.status is Status.NOT_CHECKED and "museum" in foreign.reason
    assert unscored.status is Status.NOT_CHECKED and "no check is scored" in unscored.reason


@pytest.mark.long
@pytest.mark.corpora
def test_tau(corpora: Path) -> None:
    for source, rejected in (
        (TauBench(corpora / "tau-bench_59a200c"), 15),
        (Tau2Bench(corpora / "tau2-bench_v0.1.3"), 7),
    ):
        tasks = [task for task in source.tasks(Quarantine()) if why_not_evaluated(task) is None]
        assert findings(GoldRejected(), *tasks) == []
        assert findings(WrongAnswerAccepted(), *tasks) == []
        [probe] = findings(ProbePasses(), *tasks)
        assert len(probe.task_ids) == 3
        assert len({task for each in findings(RightAnswerRejected(), *tasks) for task in each.task_ids}) == rejected


@pytest.mark.corpora
def test_doing_nothing_passes_the_database_check_of_twenty_airline_tasks(corpora: Path) -> None:
    tasks = tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3")
    airline = [task for task in tasks if task.subtask == "airline"]
    verdicts = [environment_of(task).evaluate(task, Attempt()) for task in airline]
    assert len(airline) == 50
    assert sum(verdict.parts["database"] for verdict in verdicts) == 20
