"""Turns: what counts as repeated, and from which turn an agent's calls are different."""

from collections.abc import Callable

import pandas as pd

from agenthard.audit.statistics import Estimate
from agenthard.reports.evaluation import About
from agenthard.reports.evaluation.turns import COUNTS, TurnCounter, turn_spans
from agenthard.taxonomy.declared import Axis, Declared
from agenthard.taxonomy.task import Message, ToolCall, ToolEffect

SCAFFOLDS = Declared(axes=(Axis(name="scaffold", letter="scaffold", label="", condition="scaffold", first=("a",)),))


def turn(name: str, *changed: str, trouble: str | None = None) -> list[Message]:
    effect = ToolEffect(changed=changed, trouble=trouble)
    return [Message(role="assistant", tool_calls=(ToolCall(name=name),)), Message(role="tool", effect=effect)]


def table(share: Callable[[str, int], int], turns: int = 60) -> pd.DataFrame:
    """Ten calls at each turn, of which some are repeated."""
    rows = [
        {"agent": "x", "failure_rate": 0.0, "scaffold": scaffold, "turn": number, **dict.fromkeys(COUNTS, 0)}
        | {"replies": 10, "calls": 10, "repeated": share(scaffold, number)}
        for scaffold in ("b", "a")
        for number in range(1, turns + 1)
    ]
    return pd.DataFrame(rows)


def test_a_call_is_repeated_until_a_file_changes() -> None:
    counter = TurnCounter()
    counter.add(
        [*turn("look"), *turn("look"), *turn("write", "a"), *turn("look"), *turn("look", trouble="failed")], True
    )
    counter.add([*turn("look")], False)
    repeated = [counter.turns[number, "repeated"] for number in range(1, 7)]
    assert repeated == [0, 1, 0, 0, 1, 1]
    assert [counter.turns[number, "failed"] for number in range(1, 7)] == [0, 0, 0, 0, 1, 0]
    assert (counter.turns[5, "ended"], counter.turns[5, "passed"]) == (1, 1)
    assert (counter.turns[6, "ended"], counter.turns[6, "passed"]) == (1, 0)


def test_the_turn_of_a_change_is_found_under_the_condition_that_has_it() -> None:
    spans, changes = turn_spans(
        table(lambda scaffold, number: 8 if scaffold == "b" and number > 40 else 1), ["x"], About(title=""), SCAFFOLDS
    )
    (change,) = changes
    assert (change.agent, change.condition, change.what, change.turn) == ("x", "scaffold = b", "repeated", 41)
    assert isinstance(change.before, Estimate) and isinstance(change.after, Estimate)
    assert (change.before.value, change.after.value) == (0.1, 0.8)
    assert [(each.condition, each.first, each.calls) for each in spans[:4]] == [
        ("scaffold = a", 1, 100),
        ("scaffold = a", 11, 150),
        ("scaffold = a", 26, 250),
        ("scaffold = a", 51, 100),
    ]


def test_a_share_that_stays_or_falls_is_no_change() -> None:
    for share in (lambda _, number: number % 3, lambda _, number: 9 - number // 10):
        assert turn_spans(table(share), ["x"], About(title=""), SCAFFOLDS)[1] == ()
