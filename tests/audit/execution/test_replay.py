"""The values that a ground truth is replayed with."""

import json
from pathlib import Path

import pytest

from agenthard.audit.execution.replay import concrete, gold_turns
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import ToolCall
from agenthard.taxonomy.accepted import ANY_OF, OPTIONAL, any_of, nearest_value
from tests.corpora import tasks_of

NOTHING = any_of([])


def test_what_accepts_nothing_is_left_out_and_the_rest_stays() -> None:
    call = ToolCall(
        name="pour",
        arguments={
            "cup": any_of([3, 4]),
            "tea": NOTHING,
            "milk": any_of([], optional=True),
            "order": any_of([{"kind": any_of(["oat"]), "size": NOTHING, "sugar": any_of([1], optional=True)}]),
            "names": [NOTHING, "Ada"],
        },
    )
    assert concrete(call).arguments == {"cup": 3, "order": {"kind": "oat", "sugar": 1}, "names": ["Ada"]}


def test_a_value_that_is_accepted_is_preferred_to_a_nearer_looking_one() -> None:
    assert nearest_value(any_of([{"a": NOTHING}, 5])) == 5
    assert nearest_value(NOTHING) is None


@pytest.mark.corpora
def test_no_marker_of_ours_is_in_the_calls_of_a_real_ground_truth(corpora: Path) -> None:
    count = 0
    for task in tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17"):
        for call in (call for turn in gold_turns(task) for call in turn):
            count += 1
            text = json.dumps(call.arguments)
            assert ANY_OF not in text and OPTIONAL not in text, task.id
    assert count == 8001
