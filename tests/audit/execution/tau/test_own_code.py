from pathlib import Path

import pytest

from agenthard.audit.execution.context import Execution
from agenthard.audit.execution.environment import Attempt, ExecutionError, UnavailableError
from agenthard.audit.execution.tau import packages
from agenthard.audit.execution.tau.own_code import Tau2Checkout, TauBenchCheckout, TauCheckout
from agenthard.taxonomy import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth, ToolCall, UserSpec

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
    assert [not isinstance(v, ExecutionError) and v.passed for v in verdicts] == [True, False, False]
    assert [not isinstance(v, ExecutionError) and v.parts["database"] for v in verdicts] == [True, True, False]
    environment.close()


def test_a_domain_that_is_not_there_is_named(environment: TauCheckout) -> None:
    with pytest.raises(UnavailableError, match="no domain 'retail'"):
        environment.reset(task(environment.benchmark, "retail"))


def test_tau_bench_has_no_states_of_their_own(tau_bench: Path) -> None:
    special = task("tau-bench").model_copy(update={"initial_state": {"actions": []}})
    assert "no state of their own" in (TauBenchCheckout(tau_bench).supports(special) or "")


def test_large_numbers_of_attempts_meet_the_same_database(environment: TauCheckout) -> None:
    bob = ToolCall(name="rename", arguments={"user_id": "u1", "name": "Bob"})
    tries = [Attempt(turns=((call,),), replies=("Cea",)) for call in (CEA, bob, CEA, LOST, CEA)]
    verdicts = environment.evaluate_many(task(environment.benchmark), tries)
    passed = [not isinstance(verdict, ExecutionError) and verdict.passed for verdict in verdicts]
    assert passed == [True, False, True, False, True]
    environment.close()


def test_another_database_than_the_checkouts_is_not_executed(tau2: Path) -> None:
    folder = tau2 / "data/tau2/domains/airline"
    folder.mkdir(parents=True)
    (folder / "tasks.json").write_text("[]")
    (folder / "policy.md").write_text("Help.")
    (folder / "db.json").write_text('{"users": {"u1": {"name": "Ann"}}}')
    ours, other = {"users": {"u1": {"name": "Ann"}}}, {"users": {"u1": {"name": "Zoe"}}}
    for state, reason in ((ours, None), (other, "is not that of the tasks")):
        made = task("tau2").model_copy(update={"environment": EnvironmentSpec(state=state)})
        said = Tau2Checkout(tau2).supports(made)
        assert said is None if reason is None else reason in str(said)


def test_a_models_judgement_is_not_made(tau2: Path) -> None:
    judged = EvaluationSpec(checks=(Check(kind="judge", scored=True, expected="Be kind."),))
    with pytest.raises(UnavailableError, match="scored by a model"):
        Tau2Checkout(tau2).evaluate(task("tau2").model_copy(update={"evaluation": judged}), Attempt())


def test_missing_packages_are_named_with_the_command(
    tau2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTHARD_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(packages, "_MODULES", ("json", "surely_not_installed"))
    (tau2 / "src/tau2/utils.py").write_text("x = 1")
    assert packages.lacking(tau2) == ()
    (tau2 / "src/tau2/domains/airline/tools.py").write_text("from surely_not_installed import x\n")
    packages.lacking.cache_clear()
    assert "agenthard env create tau2" in (Tau2Checkout(tau2).supports(task("tau2")) or "")
    packages.lacking.cache_clear()


def test_the_package_itself_is_not_run(tau2: Path) -> None:
    (tau2 / "src/tau2/__init__.py").write_text("raise RuntimeError('agents and model clients are imported here')")
    environment = Tau2Checkout(tau2)
    environment.reset(task("tau2"))
    assert environment.call(CEA).text == "renamed"
    environment.close()


def test_tasks_over_another_database_are_left_to_the_built_in_tools(tau2: Path) -> None:
    folder = tau2 / "data/tau2/domains/airline"
    folder.mkdir(parents=True)
    (folder / "tasks.json").write_text("[]")
    (folder / "policy.md").write_text("Help.")
    (folder / "db.json").write_text('{"users": {"u1": {"name": "Ann"}}}')
    state = {"users": {"u1": {"name": "Zoe"}}, "reservations": {}, "flights": {}}
    read = GroundTruth(semantics="reference_path", turns=((),), call_matching="state")
    made = task("tau2").model_copy(update={"environment": EnvironmentSpec(state=state), "ground_truth": read})
    with Execution(checkout=tau2) as execution:
        assert execution.environment_of(made).name == "τ²-bench, own implementation"
        told = [note for note in execution.isolations_used() if note.startswith("airline: AgentHard's own tools")]
        assert len(told) == 1 and "is not that of the tasks" in told[0]
