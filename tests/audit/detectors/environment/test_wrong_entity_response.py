import json

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.environment.wrong_entity_response import WrongEntityResponse
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import (
    AgentTask,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    Status,
    ToolCall,
    ToolSpec,
    Trajectory,
    UserSpec,
)

ENVIRONMENT = EnvironmentSpec(
    tools=(
        ToolSpec(name="get_order", effect="read"),
        ToolSpec(name="find_similar_product", effect="read"),
        ToolSpec(name="reissue_ticket", effect="write"),
        ToolSpec(name="lookup", effect="unknown"),
    )
)


def task(name: str) -> AgentTask:
    return AgentTask(
        id=name,
        native_id=name,
        benchmark="tiny",
        subtask="shop",
        user=UserSpec(kind="simulated", instruction="Where is my order?"),
        environment=ENVIRONMENT,
        evaluation=EvaluationSpec(),
        ground_truth=GroundTruth(semantics="none"),
    )


def call(name, call_id, **arguments) -> Message:
    return Message(role="assistant", tool_calls=(ToolCall(name=name, arguments=arguments, id=call_id),))


def answer(call_id, content) -> Message:
    text = content if isinstance(content, str) else json.dumps(content)
    return Message(role="tool", content=text, tool_call_id=call_id)


def run(*messages, task_id="a", trial=0) -> Trajectory:
    return Trajectory(id=f"{task_id}{trial}", task_id=task_id, model="m", trial=trial, passed=False, messages=messages)


def audit(*runs):
    names = sorted({item.task_id for item in runs})
    detector = WrongEntityResponse()
    by_task = {name: [item for item in runs if item.task_id == name] for name in names}
    shards = [check_shard([task(name)], by_task, [detector]) for name in names]
    findings, coverage = conclude("tiny", names, shards, [detector])
    return findings, [row.status for row in coverage]


def one(name, response, **arguments):
    return audit(run(call(name, "c1", **arguments), answer("c1", response)))


def test_a_response_about_another_order_is_flagged_with_both_places():
    findings, statuses = one("get_order", {"order_id": "#W2", "status": "delivered"}, order_id="#W1")
    (finding,) = findings
    assert statuses == [Status.FLAGGED]
    assert [(item.pointer, item.quote) for item in finding.evidence] == [
        ("/messages/0/tool_calls/0/arguments/order_id", "#W1"),
        ("/messages/1/content", '"order_id": "#W2"'),
    ]
    assert (finding.measures["wrong"], finding.measures["responses"]) == (1, 1)
    assert "shop/get_order" in finding.claim


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"order_id": "W123456"}, {"order_id": "#W123456"}),
        ({"order_id": "w-123456"}, {"order_id": "W123456"}),
        ({"phone_number": "555-123-2002"}, {"phone_number": "+1 555 123 2002"}),
        ({"order_id": 7}, {"order_id": 7}),
    ],
)
def test_the_same_entity_written_differently_agrees(asked, told):
    assert one("get_order", told, **asked) == ([], [Status.CLEAN])


@pytest.mark.parametrize(
    ("asked", "response"),
    [
        ({"order_id": "W1"}, [{"order_id": "W2"}]),
        ({"order_id": "W1"}, "Error: order not found"),
        ({"order_id": "W1"}, '{"order_id": "W2", "items": ['),
        ({"order_id": "W1"}, {"error": "no such order", "order_id": "W2"}),
        ({"order_id": "7"}, {"order_id": 8}),
        ({"order_id": ""}, {"order_id": "W2"}),
        ({"status": "pending"}, {"status": "delivered"}),
        ({"page_number": 4}, {"page_number": 2}),
        ({"order_id": "W1"}, {"items": [{"order_id": "W2"}]}),
        ({"order_id": "W1"}, {"status": "ok", "replacement": {"order_id": "W2"}}),
        ({"order_id": "W1"}, {"order": {"order_id": "W2"}, "user": {"user_id": "U1"}}),
        ({"order_id": "W1"}, {"user_id": "U1", "latest": {"order_id": "W2"}}),
        ({"order_id": "W1"}, {"error": "gone", "data": {"order_id": "W2"}}),
        ({"order_id": "W1"}, "[" * 50_000),
    ],
)
def test_what_cannot_be_compared_is_not_checked(asked, response):
    assert one("get_order", response, **asked) == ([], [Status.NOT_CHECKED])


def test_one_agreeing_identifier_clears_a_response_that_names_another_owner():
    response = {"order_id": "W1", "user_id": "owner"}
    assert one("get_order", response, order_id="W1", user_id="caller") == ([], [Status.CLEAN])


def test_a_tool_that_looks_for_something_else_by_design_is_passed_over():
    assert one("find_similar_product", {"product_id": "P2"}, product_id="P1") == ([], [Status.NOT_CHECKED])


def test_a_response_about_another_argument_of_the_call_is_passed_over():
    assert one("get_order", {"order_id": "W2"}, order_id="W1", merge_into="W2") == ([], [Status.NOT_CHECKED])


@pytest.mark.parametrize("tool", ["reissue_ticket", "lookup", "undocumented"])
def test_a_tool_that_may_create_is_flagged_only_for_an_entity_seen_before(tool):
    asking = call(tool, "c1", ticket_id="T1")
    created = run(asking, answer("c1", {"ticket_id": "T2"}))
    assert audit(created) == ([], [Status.NOT_CHECKED])
    known = run(Message(role="user", content="I have T1 and T2."), asking, answer("c1", {"ticket_id": "T2"}))
    findings, _ = audit(known)
    assert len(findings) == 1


def test_an_envelope_is_opened():
    findings, _ = one("get_order", {"status": True, "data": {"order_id": "W2"}}, order_id="W1")
    assert [item.quote for item in findings[0].evidence] == ["W1", '"order_id": "W2"']
    assert one("get_order", {"status": True, "data": {"order_id": "W1"}}, order_id="W1") == ([], [Status.CLEAN])


@pytest.mark.parametrize(
    ("tickets", "flagged"),
    [
        ({"T1": {"seat": 1}, "T2": {"seat": 2}}, True),
        ([{"ticket_id": "T1"}, {"ticket_id": "T2"}], True),
        ({"T1": {"seat": 1}, "T3": {"seat": 2}}, False),
        ([{"ticket_id": "T1", "seller": "T2"}, {"ticket_id": "T3"}], False),
        ("T1, T2", False),
        (None, False),
    ],
)
def test_a_write_that_answers_about_another_record_of_the_data_is_flagged(tickets, flagged):
    changed = run(call("reissue_ticket", "c1", ticket_id="T1"), answer("c1", {"ticket_id": "T2"}))
    environment = ENVIRONMENT.model_copy(update={"state": {"desk": {"tickets": tickets}, "open": True}})
    shared = task("a").model_copy(update={"environment": environment})
    own = task("a").model_copy(update={"initial_state": {"tickets": tickets}})
    for item in (shared, own):
        (observed,) = WrongEntityResponse().observe(item, iter([changed]))
        assert bool(observed.evidence) == flagged


def test_parallel_calls_are_paired_by_id_whatever_their_order():
    both = Message(
        role="assistant",
        tool_calls=(
            ToolCall(name="get_order", arguments={"order_id": "W1"}, id="c1"),
            ToolCall(name="get_order", arguments={"order_id": "W2"}, id="c2"),
        ),
    )
    messages = (both, answer("c2", {"order_id": "W2"}), answer("c1", {"order_id": "W1"}))
    assert audit(run(*messages)) == ([], [Status.CLEAN])


def test_calls_without_ids_are_paired_only_when_one_is_open():
    open_calls = (call("get_order", None, order_id="W1"), call("get_order", None, order_id="W2"))
    ambiguous = run(*open_calls, answer(None, {"order_id": "W2"}))
    assert audit(ambiguous) == ([], [Status.NOT_CHECKED])
    findings, _ = audit(run(open_calls[0], answer(None, {"order_id": "W2"})))
    assert len(findings) == 1


def test_an_id_that_is_used_again_belongs_to_the_open_call():
    messages = (
        call("get_order", "c", order_id="W1"),
        answer("c", {"order_id": "W1"}),
        call("get_order", "c", order_id="W2"),
        answer("c", {"order_id": "W2"}),
    )
    assert audit(run(*messages)) == ([], [Status.CLEAN])


def test_one_finding_per_tool_over_all_tasks():
    wrong = (call("get_order", "c", order_id="W1"), answer("c", {"order_id": "W9"}))
    right = (call("get_order", "c", order_id="W1"), answer("c", {"order_id": "W1"}))
    findings, statuses = audit(run(*wrong, task_id="a"), run(*right, task_id="b"), run(*wrong, task_id="c"))
    (finding,) = findings
    assert finding.task_ids == ("a", "c")
    assert statuses == [Status.FLAGGED, Status.CLEAN, Status.FLAGGED]
    assert finding.measures["rate"] == pytest.approx(2 / 3)


@pytest.mark.corpora
def test_real_runs_have_none_until_responses_are_swapped(corpora):
    from agenthard.audit.sources.base import Quarantine
    from agenthard.audit.sources.tau.tau_bench import TauBench

    source, quarantine = TauBench(corpora / "tau-bench_59a200c", ["airline"]), Quarantine()
    tasks = {item.id: item for item in source.tasks(quarantine)}
    detector = WrongEntityResponse()
    compared = wrong = swapped = found = 0
    for item in source.runs(corpora / "trajectories" / "tau1_airline.jsonl.gz", quarantine):
        for note in detector.observe(tasks[item.task_id], iter([item])):
            compared += (note.value or {"compared": 0})["compared"]
            wrong += (note.value or {"wrong": 0})["wrong"]
        broken = swap_reservations(item)
        if broken is not None:
            swapped += 1
            found += any(note.evidence for note in detector.observe(tasks[item.task_id], iter([broken])))
            if swapped == 50:
                break
    assert compared > 100
    assert (wrong, found) == (0, 50)


def swap_reservations(item: Trajectory) -> Trajectory | None:
    """Exchange the first two responses about different reservations, as a faulty environment would."""
    first: dict[str, int] = {}
    for i, message in enumerate(item.messages):
        if message.tool_name == "get_reservation_details" and message.content.startswith('{"reservation_id"'):
            first.setdefault(json.loads(message.content)["reservation_id"], i)
    if len(first) < 2:
        return None
    i, j = list(first.values())[:2]
    messages = list(item.messages)
    messages[i] = item.messages[i].model_copy(update={"content": item.messages[j].content})
    messages[j] = item.messages[j].model_copy(update={"content": item.messages[i].content})
    return item.model_copy(update={"messages": tuple(messages)})
