from pathlib import Path

import pytest

from audit.execution.environment import Attempt, ExecutionFailed, Unavailable
from audit.execution.tau.own_code import Tau2Checkout, TauBenchCheckout, TauCheckout
from taxonomy import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth, ToolCall, UserSpec

CEA = ToolCall(name="rename", arguments={"user_id": "u1", "name": "Cea"})
LOST = ToolCall(name="rename", arguments={"user_id": "u9", "name": "Cea"})


def task(benchmark: str, domain: str = "airline") -> AgentTask:
    return AgentTask(
        id=f"{domain}/0",
        native_id="0",
        benchmark=benchmark,
        subtask=domain,
        user=UserSpec(kind="simulated", instruction="Call me Cea."),
        environment=EnvironmentSpec(),
        evaluation=EvaluationSpec(
            checks=(
                Check(kind="final_state", scored=True),
                Check(kind="output_substring", scored=True, expected="Cea", pointer="/ground_truth/outputs/0"),
            )
        ),
        ground_truth=GroundTruth(semantics="reference_path", turns=((CEA,),), outputs=("Cea",), call_matching="state"),
    )


@pytest.fixture(params=["tau-bench", "tau2"])
def environment(request: pytest.FixtureRequest, tau_bench: Path, tau2: Path) -> TauCheckout:
    return TauBenchCheckout(tau_bench) if request.param == "tau-bench" else Tau2Checkout(tau2)


def test_calls_run_in_the_checkout(environment: TauCheckout) -> None:
    environment.reset(task(environment.benchmark))
    assert environment.snapshot() == {}
    assert environment.call(CEA).text == "renamed"
    assert environment.snapshot() == {"users": {"u1": {"name": "Cea"}}}
    assert environment.call(LOST).error
    assert environment.call(ToolCall(name="fly")).error
    environment.close()


def test_attempts_are_judged(environment: TauCheckout) -> None:
    said = Attempt(turns=((CEA,),), replies=("You are Cea now.",))
    silent = Attempt(turns=((CEA,),))
    lost = Attempt(turns=((LOST,),), replies=("Cea",))
    verdicts = environment.evaluate_many(task(environment.benchmark), [said, silent, lost])
    assert [not isinstance(v, ExecutionFailed) and v.passed for v in verdicts] == [True, False, False]
    assert [not isinstance(v, ExecutionFailed) and v.parts["database"] for v in verdicts] == [True, True, False]
    environment.close()


def test_a_domain_that_is_not_there_is_named(environment: TauCheckout) -> None:
    with pytest.raises(Unavailable, match="no domain 'retail'"):
        environment.reset(task(environment.benchmark, "retail"))


def test_states_of_their_own_are_left_to_the_benchmark(environment: TauCheckout) -> None:
    special = task(environment.benchmark).model_copy(update={"initial_state": {"actions": []}})
    assert "a state of its own" in (environment.supports(special) or "")
