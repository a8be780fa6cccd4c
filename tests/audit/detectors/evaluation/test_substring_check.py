from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.detectors.evaluation import SubstringCheck
from agenthard.audit.shards import check_shard
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
    Tier,
    ToolCall,
    UserSpec,
)
from tests.builders import make_task
from tests.corpora import tasks_of

STATE = {
    "members": {"ada_1": {"loans": ["L9"], "fee": 144}, "bob_2": {"fee": 9944}},
    "loans": {"L9": {"book": "B3", "price": "2,105.5"}, "L8": {"price": 7705}},
    "books": {"B3": {"shelf": 365}, "B4": {"shelf": 8888}},
}


def task(
    expected: Any, *, instruction: str = "You are ada_1.", policy: str = "", note: str = "commas removed"
) -> AgentTask:
    check = Check(kind="output_substring", scored=True, expected=expected, note=note)
    call = ToolCall(name="lend_book", arguments={"member": "ada_1", "weight": 731})
    return make_task(
        user=UserSpec(kind="simulated", instruction=instruction),
        environment=EnvironmentSpec(state=STATE, policy=policy),
        evaluation=EvaluationSpec(checks=(check,)),
        ground_truth=GroundTruth(semantics="reference_path", turns=((call,),), call_matching="state"),
    )


def hits(subject: AgentTask) -> list[Any]:
    shard = check_shard([subject], {}, [SubstringCheck()])
    assert shard.coverage[0].status is not Status.ERROR, shard.coverage[0].reason
    return [item.hit for item in shard.hits]


@pytest.mark.parametrize(
    ("expected", "pointer"),
    [
        ("31", "/ground_truth/turns/0/0/arguments/weight"),
        ("44", "/environment/state/members/ada_1/fee"),
        ("21", "/environment/state/loans/L9/price"),
        ("65", "/environment/state/books/B3/shelf"),
    ],
    ids=["gold argument", "own record", "only without the comma", "record of a record"],
)
def test_a_number_that_another_number_of_the_task_contains(expected: str, pointer: str) -> None:
    subject = task(expected, instruction="You are ada_1. Extend loan L9.")
    [hit] = hits(subject)
    assert (hit.tier, hit.severity) == (Tier.SUSPECTED, Severity.MAY_AFFECT_SCORE)
    assert hit.evidence[1].pointer == pointer


def test_commas_count_where_the_evaluator_keeps_them() -> None:
    [hit] = hits(task("21", instruction="You pay 2,105.", note=""))
    assert hit.tier is Tier.SUSPECTED


def test_the_nearest_text_comes_first_and_the_policy_last() -> None:
    [hit] = hits(task("44", instruction="You are ada_1 and pay 1,144 or 442.", policy="At most 44000."))
    assert (hit.evidence[1].pointer, hit.evidence[1].note) == ("/user/instruction", "442 contains it")
    [other] = hits(task("99", policy="The fee is 199."))
    assert other.evidence[1].pointer == "/environment/policy"


def test_a_longer_number_that_is_contained_may_affect_the_score() -> None:
    [hit] = hits(task("144", instruction="You pay 5144."))
    assert hit.severity is Severity.MAY_AFFECT_SCORE


def test_a_short_number_that_nothing_contains_is_suspected() -> None:
    [hit] = hits(task("8"))
    assert hit.tier is Tier.SUSPECTED


@pytest.mark.parametrize("expected", ["144", "144.0", "302.67", "cotton", "20 hours", "943 Maple Drive"])
def test_texts_that_nothing_else_contains(expected: str) -> None:
    assert hits(task(expected, instruction="You are ada_1. Pay 0302.670 for 9.5.")) == []


def test_ids_and_the_policy_do_not_count_for_longer_numbers() -> None:
    assert hits(task("327", instruction="Order 1234327890.", policy="At most 3270.")) == []


def test_letters_within_words() -> None:
    [hit] = hits(task("IL", instruction="You are ada_1, still waiting."))
    assert "'still'" in hit.claim
    [other] = hits(task("XQ", instruction="You are ada_1."))
    assert other.tier is Tier.SUSPECTED


@pytest.mark.parametrize(
    "subject",
    [
        task("4", note="as whole words"),
        task(["4"]),
        make_task(),
        make_task(evaluation=EvaluationSpec(checks=(Check(kind="output_substring", scored=False, expected="4"),))),
    ],
    ids=["whole words", "one of several", "no text", "not scored"],
)
def test_what_is_not_checked(subject: AgentTask) -> None:
    [row] = check_shard([subject], {}, [SubstringCheck()]).coverage
    assert row.status is Status.NOT_CHECKED


def test_an_empty_text_is_left_to_another_check() -> None:
    assert hits(task("")) == []


def records(*fees: object) -> AgentTask:
    state = {"members": {f"ada_{i}": {"fee": fee, "age": 30 + i} for i, fee in enumerate(fees)}}
    check = Check(kind="output_substring", scored=True, expected="44", note="in lower case without commas")
    return make_task(
        user=UserSpec(kind="simulated", instruction="You are ada_0 or ada_1 and ask for your fee."),
        environment=EnvironmentSpec(state=state),
        evaluation=EvaluationSpec(checks=(check,)),
        ground_truth=GroundTruth(semantics="none", outputs=("44",), call_matching="none"),
    )


def with_state(subject: AgentTask, **members: dict[str, int]) -> AgentTask:
    return subject.model_copy(update={"environment": EnvironmentSpec(state={"members": members})})


def test_the_same_field_of_another_record_is_another_answer_to_the_question() -> None:
    [hit] = hits(records(44, 448))
    assert (hit.tier, hit.severity) == (None, None)
    assert hit.proof and hit.proof.replies == ("448",)
    assert (hit.proof.passes, hit.proof.should_pass) == (True, False)
    assert [item.pointer for item in hit.evidence[1:]] == [
        "/environment/state/members/ada_0/fee",
        "/environment/state/members/ada_1/fee",
    ]


@pytest.mark.parametrize(
    "subject",
    [
        records(43, 448),
        with_state(records(44), ada_0={"fee": 44}, ada_1={"age": 448}),
        with_state(records(44), ada_0={"fee": 44, "age": 44}, ada_1={"fee": 448}),
    ],
    ids=["no record has it", "another field", "two fields have it: by chance"],
)
def test_a_number_that_answers_another_question_is_only_suspected(subject: AgentTask) -> None:
    assert {hit.tier for hit in hits(subject)} == {Tier.SUSPECTED}


@pytest.mark.corpora
def test_tau(corpora: Path) -> None:
    tasks = tasks_of(TauBench, corpora / "tau-bench_59a200c")
    found = {hit.task_ids[0]: hit.hit.tier for hit in check_shard(tasks, {}, [SubstringCheck()]).hits}
    # "10" in the price of an unrelated product is no proof: no reply to these tasks speaks of it.
    assert list(found) == ["airline/44", "retail/2", "retail/3", "retail/4", "retail/40", "retail/43"]
    assert set(found.values()) == {Tier.SUSPECTED}
    second = tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3")
    assert "airline/14" in {hit.task_ids[0] for hit in check_shard(second, {}, [SubstringCheck()]).hits}
