import json
import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from typing import Any

import pytest

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.audit.execution import registry
from agenthard.audit.execution.context import Execution, current_execution
from agenthard.audit.execution.environment import Attempt, Environment, ToolResponse, Verdict
from agenthard.audit.execution.gold import gold_replay
from agenthard.audit.execution.tau import Tau2Environment
from agenthard.audit.execution.worker_environment import WorkerBackedEnvironment
from agenthard.audit.execution.workers import WorkerPool
from agenthard.audit.shards import ShardResult, check_shard
from agenthard.containment.isolation import OFF_VARIABLE
from agenthard.taxonomy import AgentTask, GroundTruth, Severity, Status, Tier, ToolCall
from tests.builders import make_task

SCRIPT = """
def setup(name=""):
    def serve(request):
        yield {"passed": name == "right", "reason": name}
    return serve
"""


class _Counter(WorkerBackedEnvironment):
    """A benchmark whose own evaluator passes attempts only in the checkout named "right"."""

    name = "counter"

    def __init__(self, checkout: Path | None = None) -> None:
        super().__init__()
        self._checkout = checkout

    def version(self) -> str:
        return self._checkout.name if self._checkout else "built-in"

    def supports(self, task: AgentTask) -> str | None:
        return self._why_not_contained()

    def _pool_for(self, task: AgentTask) -> WorkerPool:
        assert self._checkout is not None
        script = self._checkout / "script.py"
        return self._execution.worker_pool(Path(sys.executable), script, arguments=(self._checkout.name,))

    def _reset_request(self, task: AgentTask) -> dict[str, Any]:
        return {}

    def _judge_request(self, task: AgentTask) -> dict[str, Any]:
        return {}

    def _encode(self, task: AgentTask, attempt: Attempt) -> Any:
        return len(attempt.turns)

    def _call_request(self, call: ToolCall) -> dict[str, Any]:
        return {}


class _GoldPasses(TaskDetector):
    """Flags a task whose evaluator passes an empty attempt, after all audits have started."""

    id = "empty-passes"
    title = "Empty attempt passes"
    version = "1"
    category = "too-lenient"
    severity = Severity.COSMETIC
    tier = Tier.SUSPECTED
    why = "It should not."

    def __init__(self, together: Barrier) -> None:
        self._together = together

    def inspect(self, task: AgentTask) -> list[Hit]:
        self._together.wait(timeout=60)
        environment = current_execution().environment_of(task)
        verdict = environment.evaluate(task, Attempt())
        self._together.wait(timeout=60)
        return [Hit(claim=f"scored by {verdict.reason}", evidence=(quote(task, "/id"),))] if verdict.passed else []


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Path]:
    monkeypatch.setattr(registry, "new_environment", lambda benchmark, checkout=None: _Counter(checkout))
    folders = {}
    for name in ("right", "wrong"):
        folders[name] = tmp_path / name
        folders[name].mkdir()
        folders[name].joinpath("script.py").write_text(SCRIPT)
        folders[name].chmod(0o755)
    tmp_path.chmod(0o755)
    return folders


def audit(task: AgentTask, execution: Execution, together: Barrier) -> ShardResult:
    with execution:
        return check_shard([task], {}, [_GoldPasses(together)], execution)


def test_audits_in_two_threads_have_their_own_checkout(counter: dict[str, Path]) -> None:
    task, together = make_task(), Barrier(2)
    with ThreadPoolExecutor(2) as threads:
        right = threads.submit(audit, task, Execution(counter["right"]), together)
        wrong = threads.submit(audit, task, Execution(counter["wrong"]), together)
        assert [hit.hit.claim for hit in right.result().hits] == ["scored by right"], right.result().coverage
        assert [row.status for row in wrong.result().coverage] == [Status.CLEAN], wrong.result().coverage
    assert current_execution().checkout is None


def test_audits_in_two_threads_have_their_own_isolation(
    counter: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A missing layer, accepted by one user, stops the audit of the other."""
    monkeypatch.setenv(OFF_VARIABLE, "seccomp")
    strict, weak = Execution(counter["right"]), Execution(counter["right"], weak_isolation=True)
    task = make_task()

    def reason(execution: Execution) -> str | None:
        with execution.active():
            together.wait(timeout=60)
            environment = execution.environment_for(task)
            assert environment is not None
            found = environment.supports(task)
            if found is None:
                assert environment.evaluate(task, Attempt()).passed
            together.wait(timeout=60)
            return found

    together = Barrier(2)
    with strict, weak, ThreadPoolExecutor(2) as threads:
        refused, accepted = threads.map(reason, (strict, weak))
        assert "a filter on system calls (switched off)" in str(refused) and accepted is None
        assert strict.isolations_used() == ()
        assert any("without seccomp" in used for used in weak.isolations_used())
        assert weak.isolations_used() == (), "they are told once"


class _Named(Environment):
    """An environment whose responses name the checkout."""

    name = "named"

    def __init__(self, checkout: Path | None = None) -> None:
        self.text = checkout.name if checkout else "built in"

    def version(self) -> str:
        return self.text

    def supports(self, task: AgentTask) -> str | None:
        return None

    def reset(self, task: AgentTask) -> None:
        pass

    def call(self, call: ToolCall) -> ToolResponse:
        return ToolResponse(text=self.text)

    def snapshot(self) -> Any:
        return {}

    def evaluate(self, task: AgentTask, attempt: Attempt) -> Verdict:
        return Verdict(passed=True)


def test_a_replay_is_kept_per_execution(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(registry, "new_environment", lambda benchmark, checkout=None: _Named(checkout))
    gold = GroundTruth(semantics="reference_path", turns=((ToolCall(name="f"),),), call_matching="state")
    task = make_task(ground_truth=gold)
    one, two = Execution(tmp_path / "one"), Execution(tmp_path / "two")
    for execution in (one, two, one):
        with execution.active():
            replay = gold_replay(task)
            assert execution.checkout is not None
            assert replay.steps[0].observation.text == execution.checkout.name
            assert gold_replay(task) is replay


def test_an_environment_belongs_to_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "new_environment", lambda benchmark, checkout=None: _Named(checkout))
    execution, task = Execution(), make_task()
    here = execution.environment_for(task)
    assert execution.environment_for(task) is here
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(execution.environment_for, task).result() is not here
    execution.release()
    assert execution.environment_for(task) is not here


def test_an_execution_is_a_value(tmp_path: Path) -> None:
    execution = Execution(tmp_path / "a" / ".." / "b", weak_isolation=True)
    assert execution == Execution(tmp_path / "b", weak_isolation=True)
    assert execution != Execution(tmp_path / "b") and len({execution, Execution()}) == 2
    copy = pickle.loads(pickle.dumps(execution))
    assert copy == execution and json.dumps(str(copy.checkout)) == json.dumps(str(tmp_path / "b"))
    with pytest.raises(AttributeError):
        execution.weak_isolation = False  # type: ignore[misc]


def test_an_execution_is_current_while_it_is_active(tmp_path: Path) -> None:
    outer, inner = Execution(tmp_path), Execution(weak_isolation=True)
    with outer.active():
        with inner.active():
            assert current_execution() is inner
        assert current_execution() is outer
    assert current_execution() == Execution()


class _Deaf(Tau2Environment):
    reads_runs = False

    def supports(self, task: AgentTask) -> str | None:
        return None


class _Listening(_Deaf):
    reads_runs = True


def test_runs_are_judged_again_where_the_environment_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    for kind, found in ((_Deaf, False), (_Listening, True)):
        monkeypatch.setattr(registry, "new_environment", lambda benchmark, checkout, kind=kind: kind())
        assert (Execution().environment_for_runs(make_task()) is not None) is found
