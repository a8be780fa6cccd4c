"""The fold: last verdict of a reviewer, undo of undo, disagreement, adjudication, stale verdicts."""

from hypothesis import given
from hypothesis import strategies as st

from agenthard.flows.review.events import Event
from agenthard.flows.review.state import NOTHING, ReviewState, fold
from tests.flows.review.build_events import finding_verdict, made, numbered, undo, verdict

TASK = ("task", "lib/1")


def test_the_last_verdict_of_a_reviewer_counts() -> None:
    state = fold(numbered(verdict("lib/1", "yes"), verdict("lib/1", "no", by="bob"), verdict("lib/1", "no")))
    assert state.item(TASK).answers == {"ann": "no", "bob": "no"}
    assert state.item(TASK).answer == "no" and not state.item(TASK).split
    assert state.reviewers == ("ann", "bob") and state.seq == 3
    assert state.item(("task", "lib/2")) is NOTHING


def test_undo_brings_the_earlier_verdict_back_and_undo_of_undo_the_later() -> None:
    first, second = verdict("lib/1", "yes"), verdict("lib/1", "no")
    back = undo(second)
    events = [first, second, back]
    assert fold(numbered(*events)).item(TASK).answers == {"ann": "yes"}
    again = undo(back)
    events.append(again)
    assert fold(numbered(*events)).item(TASK).answers == {"ann": "no"}
    events.append(undo(again))
    assert fold(numbered(*events)).item(TASK).answers == {"ann": "yes"}
    assert len(fold(numbered(*events)).history(TASK)) == 5


def test_disagreement_lasts_until_it_is_adjudicated() -> None:
    events = [verdict("lib/1", "yes"), verdict("lib/1", "cannot_tell", by="bob")]
    item = fold(numbered(*events)).item(TASK)
    assert item.split and item.answer is None and item.reviewed
    final = made("adjudication", "lib/1", "cem", flaw="no")
    item = fold(numbered(*events, final)).item(TASK)
    assert not item.split and item.answer == "no" and item.adjudication is not None
    assert fold(numbered(*events, final, undo(final, "cem"))).item(TASK).split


def test_a_verdict_about_other_content_is_stale() -> None:
    events = [verdict("lib/1", "yes", content="old"), verdict("lib/1", "no", by="bob"), verdict("gone", "yes")]
    state = fold(numbered(*events), {TASK: "c1"})
    assert state.item(TASK).answers == {"bob": "no"} and not state.item(TASK).split
    assert [event.by for event in state.item(TASK).stale] == ["ann"]
    assert [event.target_id for event in state.item(("task", "gone")).stale] == ["gone"]
    assert state.item(("task", "gone")).answer is None


def test_assignments_reveals_skips_and_repairs() -> None:
    given_to = made("assignment", "lib/1", "cem", reviewer="ann")
    seen, passed = made("reveal", "lib/1"), made("skip", "lib/1")
    state = fold(numbered(given_to, seen, passed, made("repair", "lib/1", outcome="rejected")))
    item = state.item(TASK)
    assert (item.assigned, item.revealed, item.skipped) == ({"ann"}, {"ann"}, {"ann"})
    assert item.repairs[""].data["outcome"] == "rejected"
    assert not fold(numbered(passed, verdict("lib/1"))).item(TASK).skipped
    assert not fold(numbered(given_to, undo(given_to, "cem"))).item(TASK).assigned


def test_a_finding_has_answers_of_its_own() -> None:
    state = fold(numbered(finding_verdict("abc", "false"), finding_verdict("abc", "arguable", by="bob")))
    assert state.item(("finding", "abc")).answers == {"ann": "false", "bob": "arguable"}
    assert state.item(("finding", "abc")).split


@given(st.lists(st.tuples(st.sampled_from("vu"), st.integers(0, 9), st.sampled_from(["yes", "no"])), max_size=12))
def test_adding_one_by_one_gives_the_state_of_all_at_once(steps: list[tuple[str, int, str]]) -> None:
    events: list[Event] = []
    for kind, place, flaw in steps:
        events.append(undo(events[place % len(events)]) if kind == "u" and events else verdict("lib/1", flaw))
    events = numbered(*events)
    live = ReviewState()
    for event in events:
        live.add([event])
        live.item(TASK)
    live.add(events)
    assert live.item(TASK) == fold(events).item(TASK)
