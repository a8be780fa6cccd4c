import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.user import UserRoleConfusion
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import (
    AgentTask,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    Status,
    Trajectory,
    UserSpec,
)

CUSTOMER = "I want to cancel my order, please."
CONFUSED = "I found your order. Would you like to proceed with the cancellation?"


def task(name: str, kind: str = "simulated") -> AgentTask:
    return AgentTask(
        id=name,
        native_id=name,
        benchmark="tiny",
        user=UserSpec(kind=kind, instruction="You want to cancel your order."),
        environment=EnvironmentSpec(),
        evaluation=EvaluationSpec(),
        ground_truth=GroundTruth(semantics="none"),
    )


def run(task_id, *said, model="m", simulator="sim", protocol=None, trial=0) -> Trajectory:
    messages = [message for text in said for message in (Message(role="assistant", content="Hello."), user(text))]
    return Trajectory(
        id=f"{task_id}/{model}/{simulator}/{trial}",
        task_id=task_id,
        model=model,
        trial=trial,
        passed=True,
        messages=tuple(messages),
        user_model=simulator,
        protocol=protocol,
    )


def user(text: str) -> Message:
    return Message(role="user", content=text)


def audit(tasks, runs):
    by_task = {t.id: [r for r in runs if r.task_id == t.id] for t in tasks}
    detector = UserRoleConfusion()
    shards = [check_shard([t], by_task, [detector]) for t in tasks]
    return conclude("tiny", [t.id for t in tasks], shards, [detector])


def test_one_finding_per_simulator_with_rates_and_the_tasks_touched():
    runs = [run("a", CUSTOMER, CONFUSED), run("b", CUSTOMER), run("b", CUSTOMER, trial=1), run("c", CUSTOMER, CUSTOMER)]
    runs.append(run("c", CUSTOMER, simulator="other"))
    findings, coverage = audit([task("a"), task("b"), task("c")], runs)
    (finding,) = findings
    assert (finding.task_ids, finding.also_in) == ((), ("a",))
    assert finding.claim.startswith("The simulated user sim leaves its role in 1 of 4 runs (25.0%")
    # Wilson, 1 of 4: (1/4 + z²/8 ± z·sqrt(3/64 + z²/64)) / (1 + z²/4)
    assert finding.measures["low"] == pytest.approx(0.04559, abs=1e-5)
    assert finding.measures["high"] == pytest.approx(0.69936, abs=1e-5)
    assert (finding.measures["turns_affected"], finding.measures["turns"]) == (1, 6)
    assert [item.quote for item in finding.evidence] == ["I found your order."]
    assert finding.evidence[0].pointer == "/messages/3/content"
    assert {row.task_id: row.status for row in coverage} == {
        "a": Status.FLAGGED,
        "b": Status.CLEAN,
        "c": Status.CLEAN,
    }


def test_the_same_simulator_in_two_experiments_is_told_apart():
    runs = [run("a", CONFUSED, protocol="trial"), run("a", CUSTOMER, protocol="main", trial=1)]
    (finding,), _ = audit([task("a")], runs)
    assert "sim (trial) leaves its role in 1 of 1 runs" in finding.claim


def test_at_most_five_exemplars_spread_over_the_tasks():
    tasks = [task(f"t{i}") for i in range(9)]
    (finding,), _ = audit(tasks, [run(t.id, CONFUSED) for t in tasks])
    assert [item.task_id for item in finding.evidence] == ["t0", "t2", "t4", "t6", "t8"]
    assert len(finding.also_in) == 9


def test_a_task_that_stands_out_gets_a_finding_of_its_own():
    agents = [f"m{i}" for i in range(6)]
    tasks = [task(f"t{i}") for i in range(20)]
    runs = [run(t.id, CONFUSED if t.id == "t3" else CUSTOMER, model=m) for t in tasks for m in agents]
    findings, _ = audit(tasks, runs)
    own = next(finding for finding in findings if "On task t3" in finding.claim)
    assert own.task_ids == ("t3",)
    # elsewhere 0 of 114 cells, smoothed to 0.5/115; six of six has the probability (0.5/115)^6
    assert own.measures["p"] == pytest.approx((0.5 / 115) ** 6)
    assert own.measures["expected"] == pytest.approx(6 * 0.5 / 115)
    assert len(findings) == 2


def test_a_task_does_not_stand_out_where_the_simulator_is_always_confused():
    agents = [f"m{i}" for i in range(6)]
    tasks = [task(f"t{i}") for i in range(20)]
    findings, _ = audit(tasks, [run(t.id, CONFUSED, model=m) for t in tasks for m in agents])
    assert [len(finding.also_in) for finding in findings] == [20]


def test_repetitions_of_one_agent_do_not_make_a_task_stand_out():
    tasks = [task(f"t{i}") for i in range(20)]
    runs = [run(t.id, CONFUSED if t.id == "t3" else CUSTOMER, trial=k) for t in tasks for k in range(30)]
    findings, _ = audit(tasks, runs)
    assert ["On task" in finding.claim for finding in findings] == [False]


def test_what_cannot_be_checked_is_not_called_clean():
    silent = Trajectory(id="s", task_id="silent", model="m", passed=False)
    tasks = [task("silent"), task("fixed", "scripted"), task("none")]
    findings, coverage = audit(tasks, [silent, run("fixed", CONFUSED)])
    assert findings == []
    assert [(row.status, row.reason) for row in coverage] == [
        (Status.NOT_CHECKED, "no run of this task holds a turn of a simulated user"),
        (Status.NOT_CHECKED, "the user's turns are fixed; no simulator speaks"),
        (Status.NOT_CHECKED, "no runs of this task were given (--runs)"),
    ]


@pytest.mark.long
@pytest.mark.corpora
def test_real_simulators(corpora):
    from agenthard.audit.sources.base import Quarantine
    from agenthard.audit.sources.tau.tau_bench import TauBench

    source, quarantine = TauBench(corpora / "tau-bench_59a200c", ["airline"]), Quarantine()
    tasks = list(source.tasks(quarantine))
    runs = list(source.runs(corpora / "trajectories" / "tau1_airline.jsonl.gz", quarantine))
    findings, _ = audit(tasks, runs)
    rates = {finding.claim.split(" leaves")[0].rsplit("user ", 1)[1]: finding.measures["rate"] for finding in findings}
    # A 7-billion-parameter simulator loses its role in most runs; a frontier model in few.
    assert rates["Qwen2.5-7B-Instruct (third_party)"] > 0.8
    assert rates["gpt-4o-20240806 (paper_run)"] < 0.05
