from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.ground_truth import DuplicateTask
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import (
    AgentTask,
    EnvironmentSpec,
    Finding,
    GroundTruth,
    Message,
    Status,
    Tier,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from tests.builders import LEND, make_task


def find(*tasks: AgentTask) -> list[Finding]:
    ids = [task.id for task in tasks]
    detectors = [DuplicateTask()]
    return conclude("library", ids, [check_shard(tasks, {}, detectors)], detectors)[0]


def say(text: str) -> UserSpec:
    return UserSpec(kind="scripted", turns=((Message(role="user", content=text),),))


def test_equal_words_tools_and_state_are_one_task_twice() -> None:
    again = EnvironmentSpec(tools=(LEND.model_copy(),), policy="Lend at  most five books.")
    [finding] = find(
        make_task("a"), make_task("b", user=say("Lend  book 7\nto Ada."), environment=again), make_task("c")
    )
    assert finding.task_ids == ("a", "b", "c")
    assert [item.task_id for item in finding.evidence] == ["a", "b", "c"]
    assert finding.measures == {"copies": 3.0}


def test_tasks_of_which_only_the_words_are_known_may_begin_on_different_files() -> None:
    bare = {"environment": EnvironmentSpec(), "ground_truth": GroundTruth(semantics="none")}
    [finding] = find(make_task("a", **bare), make_task("b", **bare))
    assert finding.tier is Tier.SUSPECTED
    assert finding.claim == "a, b have equal words, and no file read here tells them apart."


def test_the_order_of_tools_and_the_gold_do_not_matter() -> None:
    other = ToolSpec(name="return_book")
    one = make_task("a", environment=EnvironmentSpec(tools=(LEND, other)))
    gold = GroundTruth(
        semantics="required", turns=((ToolCall(name="lend_book", arguments={"book_id": 7.0, "member": "ada"}),),)
    )
    assert len(find(one, make_task("b", environment=EnvironmentSpec(tools=(other, LEND)), ground_truth=gold))) == 1


def test_different_tasks_are_clean() -> None:
    def variants() -> list[dict[str, Any]]:
        renamed = LEND.model_copy(update={"description": "Lend a book to a member for a week."})
        return [
            {},
            {"user": say("Lend book 8 to Ada.")},
            {"environment": EnvironmentSpec(tools=(renamed,), policy="Lend at most five books.")},
            {"environment": EnvironmentSpec(tools=(LEND,), policy="Lend at most six books.")},
            {"environment": EnvironmentSpec(tools=(LEND,), policy="Lend at most five books.", state={"books": []})},
            {"initial_state": {"books": []}},
            {"user": UserSpec(kind="simulated", instruction="Lend book 7 to Ada.")},
            {"user": UserSpec(kind="simulated", instruction="Lend book 7 to Ada.", context={"persona": "old"})},
            {"hidden_tools": {"1": ("lend_book",)}},
        ]

    assert find(*(make_task(str(i), **changes) for i, changes in enumerate(variants()))) == []


def test_variants_of_a_base_task_are_alike_by_design() -> None:
    assert (
        find(make_task("a", cluster="base/1", subtask="short"), make_task("b", cluster="base/1", subtask="long")) == []
    )


def test_a_duplicate_among_base_tasks_is_found_once_for_all_variants() -> None:
    tasks = [
        make_task(f"{file}{i}", cluster=f"base/{i}", subtask=file, user=say(f"Lend book 7 to Ada, {file}."))
        for file in ("short", "long")
        for i in (1, 2)
    ]
    [finding] = find(*tasks)
    assert finding.task_ids == ("short1", "short2", "long1", "long2")


def test_two_base_tasks_with_equal_variants_in_several_files_are_one_group() -> None:
    tasks = [make_task(f"{file}{i}", cluster=f"base/{i}", subtask=file) for file in ("short", "long") for i in (1, 2)]
    assert [finding.task_ids for finding in find(*tasks)] == [("short1", "short2")]


def test_excluding_golds_are_left_to_the_other_check() -> None:
    none = GroundTruth(semantics="required", turns=((),))
    assert find(make_task("a"), make_task("b", ground_truth=none, traits=frozenset({"expects_no_call"}))) == []


def test_a_task_without_words_is_not_checked() -> None:
    silent = make_task("a", user=UserSpec(kind="scripted"))
    shard = check_shard([silent], {}, [DuplicateTask()])
    assert [(row.status, row.reason) for row in shard.coverage] == [(Status.NOT_CHECKED, "the user says nothing")]


@pytest.mark.parametrize(
    "text",
    [
        "Hi there! Lend book 7 to Ada. Thank you very much!",
        "lend the book 7 to ADA",
        "Could you please lend book 7 to Ada? I hope you are well.",
        "Lend book\u00a07 to Ada. That is all for now",
    ],
)
def test_words_that_carry_nothing_make_no_other_task(text: str) -> None:
    [finding] = find(make_task("a"), make_task("b", user=say(text)))
    assert (finding.task_ids, finding.tier) == (("a", "b"), Tier.SUSPECTED)


@pytest.mark.parametrize(
    "text", ["Do not lend book 7 to Ada.", "Lend book 17 to Ada.", "Lend Ada to book 7.", "Lend book 7 for Ada."]
)
def test_words_that_say_something_else(text: str) -> None:
    assert find(make_task("a"), make_task("b", user=say(text))) == []


def test_an_exact_copy_stands_for_all_of_its_kind() -> None:
    findings = find(make_task("a"), make_task("b", user=say("Hi! Lend book 7 to Ada.")), make_task("c"))
    assert {each.tier: each.task_ids for each in findings} == {
        Tier.CONFIRMED: ("a", "c"),
        Tier.SUSPECTED: ("a", "b"),
    }


def test_near_clones_with_another_gold_are_left_alone() -> None:
    other = GroundTruth(semantics="required", turns=((ToolCall(name="lend_book", arguments={"book_id": 7}),),))
    assert find(make_task("a"), make_task("b", user=say("Please lend book 7 to Ada."), ground_truth=other)) == []


def test_two_greetings_are_two_tasks() -> None:
    assert find(make_task("a", user=say("Hello!")), make_task("b", user=say("Thank you."))) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Please lned book 7 to Ada from the upper shelf", "'lend' and 'lned'"),
        ("lend book 7 to Ada frrom teh uper shelf.", "'from' and 'frrom', 'the' and 'teh', 'upper' and 'uper'"),
        ("lend bok 7 to Ada from the upper shelf, woudl you", "'book' and 'bok', 'would' and 'woudl'"),
        ("lend book 7 to Ada from the upper shelf, wojld you", "'would' and 'wojld'"),
    ],
)
def test_slips_of_the_keyboard_make_no_other_task(text: str, words: str) -> None:
    [finding] = find(
        make_task("a", user=say("lend book 7 to Ada from the upper shelf")), make_task("b", user=say(text))
    )
    assert finding.task_ids == ("a", "b") and finding.tier is Tier.SUSPECTED
    assert words in finding.claim


@pytest.mark.parametrize(
    "text",
    [
        "lend book 7 to Adda from the upper shelf",
        "lend book 77 to Ada from the upper shelf",
        "lend books 7 to Ada from the upper shelf",
        "lend book 7 to Ada from the upper shelf not",
        "send book 7 to Ada from the upper shelf",
        "lned bok 7 to Ada fromm teh uper shelf",
    ],
)
def test_other_differences_are_no_slips(text: str) -> None:
    assert (
        find(make_task("a", user=say("lend book 7 to Ada from the upper shelf")), make_task("b", user=say(text))) == []
    )


def test_where_nothing_is_to_be_done_a_slip_may_be_another_word() -> None:
    nothing = GroundTruth(semantics="required", turns=((),))
    one, other = (make_task(word, user=say(f"show my {word}"), ground_truth=nothing) for word in ("dairy", "diary"))
    assert find(one, other) == []
