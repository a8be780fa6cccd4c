"""What is not an event is refused, with the field and the reason."""

from typing import Any

import pytest

from agenthard.flows.review.events import ReviewError, VerdictData, as_data, read_event
from tests.flows.review.build_events import verdict


def event(**changes: Any) -> dict[str, Any]:
    return verdict("lib/1").model_dump(mode="json") | changes


def test_an_event_survives_json() -> None:
    one = verdict("lib/1", "no", reason="the gold is right; “é”", confidence="high", seconds=4.5)
    assert read_event(one.model_dump(mode="json"), "here") == one
    assert one.details == VerdictData(flaw="no", reason="the gold is right; “é”", confidence="high", seconds=4.5)
    assert as_data(one.details) == one.data


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"data": {"flaw": "maybe"}}, "flaw: Input should be 'yes', 'no' or 'cannot_tell'"),
        ({"data": {"flaw": "yes", "colour": "red"}}, "colour: Extra inputs"),
        ({"data": {"flaw": "yes", "seconds": float("nan")}}, "Out of range float values"),
        ({"data": {"flaw": "yes", "reason": "a\0b"}}, "null character"),
        ({"data": {"flaw": "yes", "reason": "\ud83d"}}, "unable to parse raw data as a unicode string"),
        ({"data": {"flaw": "yes", "reason": "x" * 20_001}}, "at most 20000 characters"),
        ({"by": "  "}, "by: must not be blank"),
        ({"by": "a\0"}, "by: a null character"),
        ({"at": "2026-05-04T09:30:00"}, "at: has no time zone"),
        ({"id": "7"}, "id: Input should be a valid UUID"),
        ({"kind": "vote"}, "kind: Input should be"),
        ({"target": "finding"}, "a verdict is about a task"),
        ({"kind": "adjudication", "data": {"answer": "true"}}, "an adjudication of a task needs `flaw`"),
        ({"kind": "undo", "data": {}}, "event: Field required"),
        ({"surname": "x"}, "surname: Extra inputs"),
    ],
)
def test_what_is_not_an_event_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ReviewError, match="verdicts.jsonl:3: ") as caught:
        read_event(event(**changes), "verdicts.jsonl:3")
    assert words in str(caught.value)
