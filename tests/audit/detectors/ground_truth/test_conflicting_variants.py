from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.ground_truth import ConflictingVariants
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask, Finding, GroundTruth, Message, Severity, ToolCall, UserSpec
from tests.builders import make_task
from tests.corpora import tasks_of


def variant(task_id: str, *calls: tuple[str, dict[str, Any]], said: str = "Do it.", **changes: Any) -> AgentTask:
    golds = tuple(ToolCall(name=name, arguments=arguments) for name, arguments in calls)
    user = UserSpec(kind="scripted", turns=((Message(role="user", content=said),),))
    truth = GroundTruth(semantics="reference_path", turns=(golds,), call_matching="state")
    return make_task(task_id, **{"user": user, "ground_truth": truth, "cluster": "base/1", **changes})


def find(*tasks: AgentTask) -> list[Finding]:
    detectors = [ConflictingVariants()]
    return conclude("library", [task.id for task in tasks], [check_shard(tasks, {}, detectors)], detectors)[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("A note about seats", "A note about seat"),
        ("A note about seats.", "A note about seats"),
        ("The balance is $10.", "The balance is $10.00."),
    ],
)
def test_almost_the_same_text(one: str, other: str) -> None:
    [finding] = find(variant("a", ("post", {"text": one})), variant("b", ("post", {"text": other})))
    assert finding.task_ids == ("a", "b") and finding.severity is Severity.MAY_AFFECT_SCORE
    assert [item.pointer for item in finding.evidence] == ["/user/turns/0/0/content", "/ground_truth/turns/0/0"] * 2


def test_one_number_of_several_is_put_down_to_the_outvoted_variant() -> None:
    golds = {"a": [3, 16, 60], "b": [3, 16, 62], "c": [3, 16, 60]}
    [finding] = find(*(variant(key, ("mean", {"numbers": numbers})) for key, numbers in golds.items()))
    assert (finding.task_ids, finding.also_in) == (("b",), ("a", "c"))
    assert finding.severity is Severity.AFFECTS_SCORE


def test_altogether_different_tools() -> None:
    [finding] = find(variant("a", ("cancel", {})), variant("b", ("book", {}), ("pay", {})))
    assert finding.task_ids == ("a", "b") and "'cancel'" in finding.claim


@pytest.mark.parametrize(
    "other",
    [
        variant("b", ("post", {"text": "Something else altogether"})),
        variant("b", ("post", {"text": "A note about seats"}), ("log_out", {})),
        variant("b", ("post", {"text": "A note about seat"}), said="Do it otherwise."),
        variant("b", ("post", {"text": "A note about seat"}), initial_state={"more": 1}),
        variant("b", ("post", {"text": "A note about seat"}), cluster="base/2"),
        variant("b", ("post", {"text": "A note about seat"}), cluster=None),
        variant("b", ("post", {"text": "A note about seats", "to": ["Bob"]})),
    ],
)
def test_other_values_words_states_and_bases_are_clean(other: AgentTask) -> None:
    assert find(variant("a", ("post", {"text": "A note about seats"})), other) == []


def test_a_slip_against_the_words_is_left_to_near_miss_value() -> None:
    golds = ("A note about seats", "A note about seat")
    said = "Post 'A note about seats'."
    assert find(*(variant(text, ("post", {"text": text}), said=said) for text in golds)) == []


def test_two_numbers_and_short_texts_say_nothing() -> None:
    assert find(variant("a", ("mean", {"numbers": [3, 16]})), variant("b", ("mean", {"numbers": [3, 17]}))) == []
    assert find(variant("a", ("rate", {"stars": "four"})), variant("b", ("rate", {"stars": "fours"}))) == []


@pytest.mark.long
@pytest.mark.corpora
def test_bfcl(corpora: Path) -> None:
    tasks = [task for task in tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17") if task.cluster]
    sure = [finding.task_ids for finding in find(*tasks) if finding.severity is Severity.AFFECTS_SCORE]
    assert sure == [("multi_turn_miss_func_15",), ("multi_turn_miss_param_180",)]
