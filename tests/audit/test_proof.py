"""The proof gate: what is confirmed and affects the score names a run that is scored wrongly, scored once more."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.base import (
    Conclusion,
    Detector,
    Hit,
    Observation,
    SuiteDetector,
    TaskDetector,
    ToolDetector,
)
from agenthard.audit.detectors.ground_truth import CallSchema, ConflictingGold, NearMissValue, TurnCount
from agenthard.audit.evidence import quote
from agenthard.audit.execution.attempts import attempt_of, gold_attempt
from agenthard.audit.execution.declared_evaluation import DECLARED_EVALUATION
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.proof import recorded, wrongly_fails, wrongly_passes
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import (
    AgentTask,
    Check,
    EvaluationSpec,
    Evidence,
    Finding,
    GroundTruth,
    Message,
    Proof,
    Severity,
    Status,
    Tier,
    ToolCall,
    ToolSpec,
    Trajectory,
    UserSpec,
)
from tests.builders import LEND, make_run, make_task
from tests.library import Desk, call, desk_task, lend, library_desk


class _Sure(Detector):
    title = "test"
    version = "1"
    category = "too-lenient"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    why = "It matters."


class Claims(_Sure, TaskDetector):
    id: ClassVar[str] = "claims"

    def __init__(self, proof: Proof | None, **changes: Any) -> None:
        self.proof, self.changes = proof, changes

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        yield Hit(claim="c", evidence=(quote(task, "/id"),), proof=self.proof, **self.changes)


class Recalls(_Sure, SuiteDetector):
    """Claims that every passed run should have failed."""

    id: ClassVar[str] = "recalls"
    needs_runs = True

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        proofs = tuple(recorded(run, should_pass=False) for run in runs)
        yield Observation(task_id=task.id, key="k", evidence=(quote(task, "/id"),), proofs=proofs)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion]:
        for item in observations:
            proof = next(iter(item.proofs), None)
            hit = Hit(claim="c", evidence=item.evidence, proof=proof)
            yield Conclusion(task_ids=(item.task_id,), hit=hit)


def found(detector: Detector, *tasks: AgentTask, runs: Sequence[Trajectory] = ()) -> list[Finding]:
    by_task = {task.id: [run for run in runs if run.task_id == task.id] for task in tasks}
    shard = check_shard(tasks, by_task, [detector])
    findings, coverage = conclude("library", [task.id for task in tasks], [shard], [detector])
    assert [row for row in coverage if row.status is Status.ERROR] == []
    return findings


@pytest.mark.usefixtures(library_desk.__name__)
class TestConstructed:
    def test_a_proof_that_holds_keeps_the_finding_and_names_its_evaluator(self) -> None:
        task = desk_task(call("find_book", book="b7"))
        [finding] = found(Claims(wrongly_passes(task, Attempt())), task)
        assert finding.tier is Tier.CONFIRMED and finding.proof
        assert (finding.proof.passes, finding.proof.should_pass) == (True, False)
        assert finding.proof.evaluator == "library desk 1"

    def test_one_that_does_not_hold_makes_it_suspected_and_says_so(self) -> None:
        task = desk_task(lend())
        [finding] = found(Claims(wrongly_passes(task, Attempt())), task)
        assert (finding.tier, finding.proof) == (Tier.SUSPECTED, None)
        assert finding.why == "It matters. Suspected, not confirmed: the run that it names is scored rightly."

    def test_one_about_another_task_or_without_an_error_proves_nothing(self) -> None:
        task, other = desk_task(lend()), desk_task(lend(), id="lib/2")
        assert found(Claims(wrongly_fails(other, Attempt())), task)[0].tier is Tier.SUSPECTED
        right = wrongly_fails(task, Attempt()).model_copy(update={"should_pass": False})
        assert found(Claims(right), task)[0].tier is Tier.SUSPECTED

    def test_without_a_proof_only_what_does_not_affect_the_score_is_confirmed(self) -> None:
        task = desk_task(lend())
        assert found(Claims(None), task)[0].tier is Tier.SUSPECTED
        assert found(Claims(None, severity=Severity.MAY_AFFECT_SCORE), task)[0].tier is Tier.CONFIRMED
        assert found(Claims(None, tier=Tier.SIGNAL), task)[0].tier is Tier.SIGNAL

    def test_an_environment_that_breaks_is_an_error_of_this_check_and_task(self) -> None:
        task = desk_task(call("break_down"))
        shard = check_shard([task], {}, [Claims(wrongly_fails(task, gold_attempt(task)))])
        assert (shard.coverage[0].status, shard.hits) == (Status.ERROR, ())
        assert shard.coverage[0].reason == "ExecutionError: the desk broke down"

    def test_what_the_environment_cannot_execute_is_suspected(self) -> None:
        task = desk_task(lend(), subtask="returns")
        [finding] = found(Claims(wrongly_fails(task, Attempt())), task)
        assert finding.tier is Tier.SUSPECTED
        assert "cannot be carried out here: only lending is known here" in finding.why

    def test_what_code_of_another_release_executes_is_suspected(self, monkeypatch: pytest.MonkeyPatch) -> None:
        task = desk_task(call("find_book", book="b7"))
        monkeypatch.setattr(Desk, "reservation", lambda self, task: "it may be other code")
        [finding] = found(Claims(wrongly_passes(task, Attempt())), task)
        assert (finding.tier, finding.proof) == (Tier.SUSPECTED, None)
        assert "cannot be carried out here: it may be other code" in finding.why

    def test_one_cause_is_confirmed_only_in_the_tasks_where_it_is_shown(self) -> None:
        class Idle(_Sure, TaskDetector):
            id: ClassVar[str] = "idle"

            def inspect(self, task: AgentTask) -> Iterable[Hit]:
                proof = wrongly_passes(task, Attempt())
                yield Hit(claim="c", evidence=(quote(task, "/id"),), proof=proof, cause="same")

        reads, writes = desk_task(call("find_book", book="b7"), id="a"), desk_task(lend(), id="b")
        findings = [(finding.tier, finding.task_ids) for finding in found(Idle(), writes, reads)]
        assert findings == [(Tier.SUSPECTED, ("b",)), (Tier.CONFIRMED, ("a",))]

    def test_a_gold_value_that_is_never_compared_is_cosmetic(self) -> None:
        task = desk_task(lend(kind="forever"))
        [finding] = found(CallSchema(), task)
        assert finding.severity is Severity.COSMETIC
        assert finding.why == (
            "The evaluator never looks at this value (library desk 1 passes 2 other values there as well), so no score "
            "depends on it."
        )

    def test_one_that_is_compared_keeps_its_severity(self) -> None:
        task = desk_task(call("pay_fee", member="ada", amount="5"))
        [finding] = found(CallSchema(), task)
        assert finding.severity is Severity.AFFECTS_SCORE

    def test_of_a_call_that_fails_nothing_is_said(self) -> None:
        task = desk_task(lend("b77"), says="Lend 'b77' and b7.")
        assert [f.severity for f in found(_Values(), task)] == [Severity.AFFECTS_SCORE]


class _Values(_Sure, TaskDetector):
    id: ClassVar[str] = "values"
    about_values = True
    tier = Tier.SUSPECTED

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        yield Hit(claim="c", evidence=(quote(task, "/ground_truth/turns/0/0/arguments/book"),))


def test_recorded_runs_count_with_the_verdict_that_the_log_has() -> None:
    task = make_task()
    passed, failed = make_run(model="m1"), make_run(model="m2", passed=False)
    [finding] = found(Recalls(), task, runs=[passed])
    assert finding.tier is Tier.CONFIRMED and finding.proof
    assert (finding.proof.trajectory_id, finding.proof.evaluator) == (passed.id, "the recorded verdict")
    assert found(Recalls(), task, runs=[failed])[0].tier is Tier.SUSPECTED


def test_a_suite_check_cannot_smuggle_a_proof_past_the_gate() -> None:
    class Forges(Recalls):
        def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion]:
            [item] = observations
            forged = recorded(make_run(model="m2", passed=True), should_pass=False)
            yield Conclusion(task_ids=(item.task_id,), hit=Hit(claim="c", evidence=item.evidence, proof=forged))

    assert found(Forges(), make_task(), runs=[make_run(passed=False)])[0].tier is Tier.SUSPECTED


def test_tool_checks_have_no_run_to_show() -> None:
    class Short(_Sure, ToolDetector):
        id: ClassVar[str] = "short"

        def inspect_tool(self, tool: ToolSpec) -> Iterable[Hit]:
            yield Hit(claim="c", evidence=(Evidence(task_id="", pointer="/name", quote=tool.name),))

    [finding] = found(Short(), make_task())
    assert finding.tier is Tier.SUSPECTED


def gold(*calls: ToolCall, matching: Any = "exact", **changes: Any) -> AgentTask:
    truth = GroundTruth(semantics="required", turns=(calls,), call_matching=matching)
    return make_task(**{"ground_truth": truth, **changes})


def test_a_documented_value_that_the_declared_evaluation_rejects() -> None:
    [finding] = found(CallSchema(), gold(call("lend_book", book_id="7", member="Ada")))
    assert finding.tier is Tier.CONFIRMED and finding.proof
    assert finding.proof.turns[0][0].arguments == {"book_id": 7, "member": "Ada"}
    assert (finding.proof.passes, finding.proof.evaluator) == (False, DECLARED_EVALUATION)


@pytest.mark.parametrize(
    ("wrong", "made"),
    [
        (call("lend_book", book_id=7, member="Ada", fee=1), [{"book_id": 7, "member": "Ada"}]),
        (call("lend_book", book_id=7, membr="Ada"), [{"book_id": 7, "member": "Ada"}]),
        (call("sell_book", book_id=7), []),
        (ToolCall(name="", text="lend book 7"), []),
    ],
    ids=["undocumented", "misspelt name of an argument", "unknown tool", "unreadable"],
)
def test_the_best_run_that_the_documentation_allows_fails(wrong: ToolCall, made: list[dict[str, Any]]) -> None:
    proofs = [finding.proof for finding in found(CallSchema(), gold(wrong)) if finding.proof]
    assert [call.arguments for call in proofs[0].turns[0]] == made
    assert not proofs[0].passes


def test_a_tool_that_comes_too_late_is_called_as_soon_as_it_is_there() -> None:
    turns = tuple((Message(role="user", content=text),) for text in ("Lend book 7 to Ada.", "Now you can."))
    truth = GroundTruth(semantics="required", turns=((call("lend_book", book_id=7, member="Ada"),), ()))
    user = UserSpec(kind="scripted", turns=turns)
    task = make_task(ground_truth=truth, user=user, hidden_tools={"1": ("lend_book",)})
    [finding] = found(CallSchema(), task)
    assert finding.proof and [len(turn) for turn in finding.proof.turns] == [0, 1]


def test_a_benchmark_with_conventions_of_its_own_is_only_suspected() -> None:
    noted = EvaluationSpec(checks=(Check(kind="tool_calls", scored=True, note="strings match loosely"),))
    task = gold(call("lend_book", book_id="7", member="Ada"), evaluation=noted)
    [finding] = found(CallSchema(), task)
    assert finding.tier is Tier.SUSPECTED
    assert "what a scored tool calls check says is not declared" in finding.why


def test_a_benchmark_with_code_that_is_not_here_is_only_suspected() -> None:
    task = gold(call("lend_book", book_id="7", member="Ada"), benchmark="acebench")
    [finding] = found(CallSchema(), task)
    assert finding.tier is Tier.SUSPECTED and "--checkout PATH" in finding.why


def test_a_file_name_copied_wrongly() -> None:
    said = UserSpec(kind="scripted", turns=((Message(role="user", content="Lend 'notes.md' to Ada."),),))
    task = gold(call("lend_book", member="note.md"), user=said)
    [finding] = found(NearMissValue(), task)
    assert finding.tier is Tier.CONFIRMED and finding.proof
    assert finding.proof.turns[0][0].arguments == {"member": "notes.md"}


def test_turns_that_do_not_pair_up() -> None:
    lending = call("lend_book", book_id=7, member="Ada")
    truth = GroundTruth(semantics="required", turns=((lending,), (lending,)))
    [too_many] = found(TurnCount(), make_task(ground_truth=truth, traits=frozenset({"unchecked_turns"})))
    assert too_many.proof and [len(turn) for turn in too_many.proof.turns] == [2]
    turns = tuple((Message(role="user", content=text),) for text in ("Lend it.", "And the other."))
    truth = GroundTruth(semantics="required", turns=((lending,),))
    task = make_task(
        ground_truth=truth, user=UserSpec(kind="scripted", turns=turns), traits=frozenset({"unchecked_turns"})
    )
    [too_few] = found(TurnCount(), task)
    assert too_few.proof and too_few.proof.passes


def test_twins_with_ground_truths_that_exclude_each_other() -> None:
    one = gold(call("lend_book", book_id=7, member="Ada"), id="a")
    other = gold(call("lend_book", book_id=8, member="Ada"), id="b")
    [finding] = found(ConflictingGold(), one, other)
    assert finding.tier is Tier.CONFIRMED and finding.proof
    assert (finding.proof.task_id, finding.proof.turns) == ("b", one.ground_truth.turns)
    assert finding.proof.evaluator == DECLARED_EVALUATION


def test_records_of_proofs_survive_json() -> None:
    task = make_task()
    proof = wrongly_fails(task, attempt_of(task, ((LEND and call("lend_book", book_id=7),),)))
    assert Proof.model_validate_json(proof.model_dump_json()) == proof
