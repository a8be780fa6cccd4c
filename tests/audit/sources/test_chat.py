import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.chat import Chat
from agenthard.audit.sources.formats.runs import read_runs
from agenthard.audit.sources.registry import sources
from agenthard.taxonomy import AgentTask
from tests.audit.sources.audited import findings, quarantined, read, write

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a town.",
        "parameters": {
            "type": "object",
            "properties": {"town": {"type": "string"}, "days": {"type": ["integer", "null"]}},
            "required": ["town"],
        },
    },
}
SYSTEM = {"role": "system", "content": "You tell the weather."}
ASK = {"role": "user", "content": "How is the weather in Oldham?"}


def called(arguments: Any, call_id: str = "c1", name: str = "get_weather") -> dict[str, Any]:
    function = {"name": name, "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function}],
    }


def answered(content: str, call_id: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


SUNNY = [SYSTEM, ASK, called({"town": "Oldham"}), answered("sunny"), {"role": "assistant", "content": "It is sunny."}]


def one(tmp_path: Path, **record: Any) -> AgentTask:
    [task] = read(Chat(write(tmp_path / "train.jsonl", json.dumps(record) + "\n"))).values()
    return task


def test_it_is_registered_and_recognises_records(tmp_path: Path) -> None:
    assert sources()["chat"] is Chat
    assert Chat.recognises(write(tmp_path / "a" / "x.jsonl", json.dumps({"messages": SUNNY}) + "\n"))
    other = write(tmp_path / "b" / "x.jsonl", '{"messages": "none"}\n')
    assert not Chat.recognises(other)
    with pytest.raises(SourceError, match="looked for rows with messages"):
        Chat(other)


def test_what_follows_the_last_message_of_the_user_is_the_gold(tmp_path: Path) -> None:
    task = one(tmp_path, messages=SUNNY, tools=[WEATHER], id="w", parallel_tool_calls=False)
    assert task.id == "w" and task.subtask == "train"
    assert task.environment.policy == "You tell the weather."
    assert [(m.role, m.content) for m in task.user.turns[0]] == [("user", "How is the weather in Oldham?")]
    assert [(call.name, call.arguments, call.id) for _, call in task.gold_calls()] == [
        ("get_weather", {"town": "Oldham"}, "c1")
    ]
    assert task.ground_truth.call_matching == "any_order"
    assert task.initial_state == {"responses": [{"tool": "get_weather", "response": "sunny"}]}
    assert task.metadata == {"parallel_tool_calls": False, "replies": ["It is sunny."]}


def test_an_earlier_exchange_is_part_of_the_turn(tmp_path: Path) -> None:
    again = {"role": "user", "content": [{"type": "text", "text": "And in Bury?"}, {"type": "image_url"}]}
    task = one(tmp_path, messages=[*SUNNY, again, called({"town": "Bury"}, "c2")], tools=[WEATHER])
    assert task.id == "train.jsonl:1"
    assert [m.role for m in task.user.turns[0]] == ["user", "assistant", "tool", "assistant", "user"]
    assert task.user.turns[0][-1].content == "And in Bury?\n[image_url]"
    assert [call.arguments for _, call in task.gold_calls()] == [{"town": "Bury"}]


def test_calls_of_several_messages_are_in_order(tmp_path: Path) -> None:
    messages = [ASK, called({"town": "Oldham"}), answered("sunny"), called({"town": "Bury"}, "c2")]
    assert one(tmp_path, messages=messages, tools=[WEATHER]).ground_truth.call_matching == "exact"


def test_a_reply_without_a_call_means_no_call_where_tools_are_offered(tmp_path: Path) -> None:
    reply = [ASK, {"role": "assistant", "content": "I cannot see outside."}]
    assert one(tmp_path, messages=reply, tools=[WEATHER]).traits == {"expects_no_call"}
    for record in ({"messages": reply}, {"messages": [ASK], "tools": [WEATHER]}):
        task = one(tmp_path, **record)
        assert task.traits == frozenset() and task.ground_truth.semantics == "none" and task.evaluation.checks == ()


@pytest.mark.parametrize(
    ("expected", "calls", "answers"),
    [
        ("sunny", [], ("sunny",)),
        (["sunny", "bright"], [], ("sunny", "bright")),
        (21, [], ("21",)),
        ([{"name": "get_weather", "arguments": {"town": "Bury"}}], [{"town": "Bury"}], ()),
        (called({"town": "Bury"}), [{"town": "Bury"}], ()),
        ({"name": "get_weather", "arguments": '{"town": "Bury"}'}, [{"town": "Bury"}], ()),
    ],
)
@pytest.mark.parametrize("field", ["expected", "ideal"])
def test_an_expected_answer_counts(
    tmp_path: Path, field: str, expected: Any, calls: list[Any], answers: tuple[str, ...]
) -> None:
    task = one(tmp_path, messages=[SYSTEM, ASK], tools=[WEATHER], **{field: expected})
    assert [call.arguments for _, call in task.gold_calls()] == calls
    assert task.ground_truth.answers == answers
    assert task.origins["/ground_truth"].pointer == f"/{field}"


def test_the_older_spelling_and_weights_are_read(tmp_path: Path) -> None:
    old = {"role": "assistant", "function_call": {"name": "get_weather", "arguments": '{"town": "Bury"}'}}
    response = {"role": "function", "name": "get_weather", "content": "rain"}
    draft = {**called({"town": "Hull"}), "weight": 0}
    task = one(tmp_path, messages=[ASK, draft, old, response], functions=[WEATHER["function"]])
    assert [call.arguments for _, call in task.gold_calls()] == [{"town": "Bury"}]
    assert task.initial_state == {"responses": [{"tool": "get_weather", "response": "rain"}]}


def test_planted_flaws_are_found_and_the_rest_is_clean(tmp_path: Path) -> None:
    gold = {
        "right": called({"town": "Oldham", "days": None}),
        "broken": called('{"town": "Oldham"'),
        "wrong-type": called({"town": 7}),
        "unknown": called({"town": "Oldham"}, name="get_wether"),
    }
    lines = [json.dumps({"id": key, "messages": [SYSTEM, ASK, call], "tools": [WEATHER]}) for key, call in gold.items()]
    source = Chat(write(tmp_path / "x.jsonl", "\n".join(lines)))
    unsaid = {("wrong-type", "ungrounded-argument")}  # and 7 occurs nowhere
    assert findings(source) == {(key, "call-schema") for key in gold if key != "right"} | unsaid


def test_conversations_are_runs_without_a_verdict(tmp_path: Path) -> None:
    file = write(tmp_path / "x.jsonl", json.dumps({"id": "w", "messages": SUNNY, "tools": [WEATHER]}) + "\n")
    quarantine = Quarantine()
    [run] = read_runs(Chat(file), file, quarantine)
    assert quarantine.items == [] and run.task_id == "w" and run.passed is None
    assert [m.role for m in run.messages] == ["system", "user", "assistant", "tool", "assistant"]
    assert run.messages[3].tool_name == "get_weather"


@pytest.mark.parametrize(
    ("record", "pointer", "reason"),
    [
        ({"messages": []}, "/messages", "no message of the user"),
        ({"messages": [{"role": "bot", "content": "x"}]}, "/messages/0/role", "unknown role 'bot'"),
        (
            {"messages": [ASK, {"role": "assistant", "tool_calls": {"a": 1}}]},
            "/messages/1/tool_calls",
            "expected an array",
        ),
        ({"messages": [{"role": "user", "content": 3}]}, "/messages/0/content", "expected an array"),
        ({"messages": [ASK], "tools": [{"function": {}}]}, "/tools/0/function", "the field 'name' is missing"),
        ({"messages": [ASK], "id": True}, "/id", "neither text nor a number"),
        ({"other": 1}, "", "the field 'messages' is missing"),
    ],
)
def test_a_bad_record_is_quarantined_alone(tmp_path: Path, record: Any, pointer: str, reason: str) -> None:
    good = json.dumps({"messages": SUNNY, "tools": [WEATHER]})
    file = write(tmp_path / "x.jsonl", f"{good}\n{json.dumps(record)}\n{good}\n")
    [item] = quarantined(Chat(file))
    assert (item.file, item.line, item.pointer) == ("x.jsonl", 2, pointer) and reason in item.reason


def test_a_split_is_byte_identical_and_a_domain_is_a_file(tmp_path: Path) -> None:
    lines = [json.dumps({"messages": [ASK], "id": i}) + "\n" for i in range(3)]
    root = tmp_path / "data"
    write(root / "train.jsonl", "".join(lines))
    write(root / "test.jsonl", json.dumps({"messages": [ASK], "id": "t"}) + "\n")
    source = Chat(root)
    [written] = source.write_split(["0", "2"], tmp_path / "out")
    assert written.name == "train.jsonl" and written.read_text("utf-8") == lines[0] + lines[2]
    assert list(read(Chat(root, ["test"]))) == ["t"]
    assert source.version().files == 2


def test_samples_of_openai_evals(tmp_path: Path) -> None:
    task = one(tmp_path, input=[SYSTEM, ASK], ideal=["sunny", "It is sunny."])
    assert (task.environment.policy, task.ground_truth.answers) == ("You tell the weather.", ("sunny", "It is sunny."))
    assert [message.content for message in task.user.turns[0]] == ["How is the weather in Oldham?"]
    assert (task.origins["/user/turns"].pointer, task.origins["/ground_truth"].pointer) == ("/input", "/ideal")
    unknown = write(tmp_path / "b" / "x.jsonl", json.dumps({"input": [ASK]}) + "\n")
    assert not Chat.recognises(unknown), "input alone is a log of anything"
    [reason] = quarantined(
        Chat(write(tmp_path / "c" / "x.jsonl", json.dumps({"input": [SYSTEM], "ideal": "7"}) + "\n"))
    )
    assert "no message of the user" in reason.reason and reason.pointer == "/input"
