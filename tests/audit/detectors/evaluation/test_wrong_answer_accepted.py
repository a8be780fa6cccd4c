"""What an evaluator cannot see is one finding, with what it did to recorded runs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.decisions.policy import decide, load_policy
from agenthard.audit.decisions.tickets import tickets
from agenthard.audit.detectors.base import Conclusion, Observation
from agenthard.audit.detectors.environment import PromptUnknownTool
from agenthard.audit.detectors.evaluation import RightAnswerRejected, WrongAnswerAccepted
from agenthard.audit.detectors.support.sharing import ANSWERS, ANSWERS_WRONG, RUNS, RUNS_DECIDED
from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.counterfactual import CORRECTIONS, decided_runs
from agenthard.audit.execution.mutation.root_causes import wrong_values
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.acebench import AceBench
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import AgentTask, EnvironmentSpec, EvaluationSpec, GroundTruth, Message, ToolCall, UserSpec
from agenthard.taxonomy.accepted import any_of
from agenthard.taxonomy.finding import Evidence, Level
from agenthard.taxonomy.trajectory import Trajectory
from tests.corpora import tasks_of


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(name=name, arguments=arguments)


def shelf(*gold: ToolCall) -> AgentTask:
    return AgentTask(
        id="t0",
        native_id="t0",
        benchmark="shelf",
        subtask="s",
        user=UserSpec(kind="scripted", turns=((Message(role="user", content="Two, please."),),)),
        environment=EnvironmentSpec(),
        evaluation=EvaluationSpec(),
        ground_truth=GroundTruth(semantics="required", turns=(gold,), call_matching="any_order"),
    )


def run(*calls: ToolCall, passed: bool = True) -> Trajectory:
    message = Message(role="assistant", content="", tool_calls=calls)
    return Trajectory(id="r", task_id="t0", model="m", messages=(message,), passed=passed)


def test_a_run_that_differs_in_values_alone() -> None:
    task = shelf(call("take", n=2, box={"size": 3}), call("take", n=any_of([5, 6]), box={"size": 1}))
    same = [call("take", n=6, box={"size": 1}), call("take", n=2, box={"size": 3})]
    assert wrong_values(task, run(*same)) == ()
    found = wrong_values(task, run(call("take", n=2, box={"size": 30}), same[0]))
    assert found is not None
    assert [(kind.type, kind.place, kind.relation) for kind in found] == [("integer", "object", "longer")]
    assert wrong_values(task, run(same[0])) is None
    assert wrong_values(task, run(same[0], call("put", n=2))) is None
    assert wrong_values(task, run(same[0], call("take", n=2, box=3))) is None
    assert wrong_values(task, run(same[0], call("take", n=2))) is None


def noted(task: str, operator: str, kind: dict[str, str], passed: int, rejected: int) -> Observation:
    value = {
        "passed": passed,
        "rejected": rejected,
        "cluster": task,
        "kind": kind,
        "operator": operator,
        "where": "",
        "field": "take.n",
        "change": "2 → 3",
        "why": "it is another number",
        "command": f"agenthard replay shelf PATH {task}",
    }
    evidence = (Evidence(task_id=task, pointer="/ground_truth/turns/0/0/arguments/n", quote="2"),)
    return Observation(task_id=task, key=f"change {operator} {kind}", value=value, evidence=evidence if passed else ())


def concluded() -> Iterator[Conclusion]:
    number = {"type": "integer", "place": "argument", "relation": "other"}
    text = {"type": "string", "place": "argument", "relation": "other"}
    seen = [noted(f"t{i}", operator, number, 1, 0) for i in range(4) for operator in ("off-by-one", "far-below")]
    seen += [noted(f"t{i}", "other-choice", text, i == 0, 1) for i in range(4)]
    wrong = [{"type": "integer", "place": "argument", "relation": "other"}]
    seen += [
        Observation(task_id="t1", key="recorded runs", value={"runs": 5, "passed": [wrong, [*wrong, text]]}),
        Observation(task_id="t2", key="recorded runs", value={"runs": 3, "passed": []}),
    ]
    for result in WrongAnswerAccepted().conclude(seen):
        assert isinstance(result, Conclusion)
        yield result


def test_operators_of_one_root_are_one_finding_and_runs_say_what_it_decides() -> None:
    root, left = concluded()
    assert root.hit.claim == (
        "No integer argument is ever compared; 4 tasks pass with wrong values (8 of 8 that were tried are accepted)"
    )
    assert root.task_ids == ("t0", "t1", "t2", "t3")
    assert root.hit.level is Level.EVALUATOR
    assert len(root.hit.evidence) == 3 and root.hit.command.startswith("agenthard replay shelf")
    assert root.hit.decides == ("t1",), "its second run has a wrong text too, which the root does not cover"
    measures = root.hit.measures
    assert (measures[RUNS], measures[RUNS_DECIDED]) == (8, 1)
    assert (measures[ANSWERS], measures[ANSWERS_WRONG]) == (8, 8)
    assert left.task_ids == ("t0",) and left.hit.cause == "other string"


@pytest.mark.corpora
def test_acebench_compares_no_number_and_no_boolean(corpora: Path) -> None:
    folder = corpora / "acebench_2025-02-26"
    tasks = [t for t in AceBench(folder).tasks(Quarantine()) if t.subtask in ("normal_atom_bool", "normal_atom_number")]
    with Execution(folder) as execution:
        detector = WrongAnswerAccepted()
        ids = [task.id for task in tasks]
        findings, coverage = conclude("acebench", ids, [check_shard(tasks, {}, [detector], execution)], [detector])
    numbers = next(finding for finding in findings if "ever compared" in finding.claim)
    assert numbers.claim.startswith("No integer, float or boolean argument is ever compared; 74 tasks pass")
    assert numbers.level is Level.EVALUATOR and "--checkout" in numbers.command
    assert {len(numbers.evidence), len({item.task_id for item in numbers.evidence})} == {3}
    policy = load_policy()
    decisions = list(decide(policy, ids, findings, coverage, {detector.id: "execution"}))
    assert {decision.action for decision in decisions} == {"keep"}
    assert tickets(policy, findings)[0].finding_id == numbers.id


@pytest.mark.corpora
@pytest.mark.parametrize("release", ["tau2-bench_v0.1.3", "tau2-bench_v1.0.1"])
def test_a_prompt_that_misspells_a_tool_is_one_ticket(corpora: Path, release: str) -> None:
    tasks = tasks_of(Tau2Bench, corpora / release, ("telecom",))
    detector, ids = PromptUnknownTool(), [task.id for task in tasks]
    findings, coverage = conclude("tau2", ids, [check_shard(tasks, {}, [detector])], [detector])
    [finding] = findings
    assert (finding.level, len(finding.task_ids)) == (Level.ENVIRONMENT, 114)
    decisions = list(decide(load_policy(), ids, findings, coverage, {detector.id: "schema"}))
    assert {decision.action for decision in decisions} == {"keep"}


@pytest.mark.corpora
def test_a_run_that_fails_for_a_fraction_alone_is_decided_by_it(corpora: Path) -> None:
    source = TauBench(corpora / "tau-bench_59a200c", ("airline",))
    task = next(task for task in source.tasks(Quarantine()) if task.id == "airline/0")
    gold = [call for _, call in task.gold_calls()]

    def paid(number: type) -> Trajectory:
        def written(value: Any) -> Any:
            if isinstance(value, dict):
                return {key: written(item) for key, item in value.items()}
            if isinstance(value, list):
                return [written(item) for item in value]
            return number(value) if isinstance(value, int) and value > 40 else value

        calls = tuple(each.model_copy(update={"arguments": written(each.arguments), "text": None}) for each in gold)
        said = (
            Message(role="assistant", content="", tool_calls=calls),
            *(Message(role="tool", content="", tool_call_id=each.id) for each in calls),
            Message(role="assistant", content="Done."),
            Message(role="user", content="###STOP###"),
        )
        return Trajectory(id=number.__name__, task_id=task.id, model="m", messages=said, passed=number is int)

    correction = CORRECTIONS["whole-number-as-fraction"]
    assert decided_runs(task, [paid(float), paid(int)], correction) == (2, 1)
    detector = RightAnswerRejected()
    shard = check_shard([task], {task.id: [paid(float), paid(int)]}, [detector])
    [finding], _ = conclude("tau-bench", [task.id], [shard], [detector])
    assert (finding.level, finding.decides) == (Level.EVALUATOR, ("airline/0",))
    assert (finding.measures[RUNS], finding.measures[RUNS_DECIDED]) == (2, 1)
