"""OpenAI-style chat records: messages, tools, and what comes after the last message of the user."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.calls import read_call
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member
from agenthard.audit.sources.formats.row_source import RecordedSource, decoded, responses
from agenthard.audit.sources.formats.rows import Row
from agenthard.audit.sources.formats.tool_docs import EnvironmentBuilder
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, Check, EvaluationSpec, GroundTruth, Message, ToolCall, UserSpec

CALLS_NOTE = "the format names no evaluator: a right run is taken to make these calls"
NO_CALL_NOTE = "the format names no evaluator: tools are offered and the recorded reply calls none"
ANSWER_NOTE = "the format does not say how a reply is compared with the expected one"

_ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant", "tool": "tool"}
_ROLES["function"] = "tool"
_EXPECTED = ("expected", "ideal")
_IDS = ("id", "custom_id")
_DIALOGUES = ("messages", "input")
"""Names of the messages; samples of OpenAI evals have ``input`` and ``ideal``."""
_NESTED = (*_DIALOGUES, "tools", "functions")
_READ = frozenset({*_NESTED, *_EXPECTED, *_IDS})


class Chat(RecordedSource):
    """Reader of chat records as written for fine-tuning and evaluation. A domain is a file, without its suffix.

    Everything before the answer to the last message of the user is one turn, because the model answers once.
    """

    name = "chat"
    title = "OpenAI-style chat records"
    layout = "a JSON Lines file (or JSON array, Parquet, Arrow; or a folder of them)"
    columns = "messages (or input) of role and content, and tools"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a file, or a folder of files.

        Raises:
            SourceError: when no row has messages, or a domain is unknown.
        """
        self._environments = EnvironmentBuilder()
        super().__init__(root, domains)

    @classmethod
    def fits(cls, values: Mapping[str, Any]) -> bool:
        """Tell whether a row has a list of messages with roles."""
        nested = decoded(values, _NESTED)
        name = _dialogue(nested)
        if name != _DIALOGUES[0] and all(values.get(field) is None for field in _EXPECTED):
            return False
        messages = nested.get(name)
        return isinstance(messages, list) and bool(messages) and isinstance(messages[0], dict) and "role" in messages[0]

    def task_id(self, row: Row) -> str:
        """Return the ``id`` or ``custom_id`` of a row, else its file and number."""
        written = next((row.values[name] for name in _IDS if row.values.get(name) is not None), None)
        if written is None:
            return f"{row.file}:{row.number}"
        if isinstance(written, bool) or not isinstance(written, (str, int)) or written == "":
            raise MalformedRecordError(f"the id is neither text nor a number: {json.dumps(written)[:80]}", "/id")
        return str(written)

    def conversation(self, row: Row) -> tuple[Message, ...]:
        """Return all messages of a row."""
        return tuple(message for message, _ in _messages(decoded(row.values, _NESTED)))

    def build(self, row: Row) -> AgentTask:
        """Build the task of a row."""
        values = decoded(row.values, _NESTED)
        messages = list(_messages(values))
        last = max((i for i, (message, _) in enumerate(messages) if message.role == "user"), default=None)
        if last is None:
            raise MalformedRecordError("no message of the user", f"/{_dialogue(values)}")
        said = [message for message, _ in messages[: last + 1]]
        led = next(i for i, message in enumerate(said) if message.role != "system")
        policy = "\n\n".join(message.content for message in said[:led])
        field = "tools" if values.get("tools") is not None else "functions"
        tools = expect(values.get(field) or [], list, f"/{field}")
        environment = self._environments.environment(tools, row.origin(f"/{field}"), policy)
        after = [message for message, counts in messages[last + 1 :] if counts]
        truth, checks, source = _gold(values, after, offers_tools=bool(tools))
        answered = responses(after)
        task_id = self.task_id(row)
        return AgentTask(
            id=task_id,
            native_id=task_id,
            benchmark=self.name,
            subtask=Path(row.file.removesuffix(".gz")).with_suffix("").as_posix(),
            user=UserSpec(kind="scripted", turns=(tuple(said[led:]),)),
            environment=environment,
            initial_state={"responses": answered} if answered else None,
            evaluation=EvaluationSpec(checks=checks),
            ground_truth=truth,
            traits=frozenset({"expects_no_call"} if any(check.kind == "no_call" for check in checks) else ()),
            metadata=_metadata(values, after),
            origins={
                "": row.origin(),
                "/user/turns": row.origin(f"/{_dialogue(values)}"),
                "/environment/tools": row.origin(f"/{field}"),
                "/environment/policy": row.origin(f"/{_dialogue(values)}"),
                "/initial_state": row.origin(f"/{_dialogue(values)}"),
                "/ground_truth": row.origin(source),
            },
        )


def _metadata(values: Mapping[str, Any], after: Sequence[Message]) -> dict[str, Any]:
    kept = {key: value for key, value in values.items() if key not in _READ}
    replies = [message.content for message in after if message.role == "assistant" and message.content]
    return {**kept, **({"replies": replies} if replies else {})}


def _gold(
    values: Mapping[str, Any], after: Sequence[Message], *, offers_tools: bool
) -> tuple[GroundTruth, tuple[Check, ...], str]:
    """Return the ground truth, what is compared, and where it is in the row."""
    name = next((name for name in _EXPECTED if values.get(name) is not None), None)
    calls, answers = _expected(values[name], f"/{name}") if name else ((), ())
    checks: list[Check] = []
    source = f"/{name or _dialogue(values)}"
    if answers:
        pointer = "/ground_truth/answers"
        checks.append(Check(kind="judge", scored=True, expected=list(answers), pointer=pointer, note=ANSWER_NOTE))
    by_message = [message.tool_calls for message in after if message.tool_calls]
    if not calls and by_message:
        calls = tuple(call for made in by_message for call in made)
    if calls:
        checks.insert(0, Check(kind="tool_calls", scored=True, pointer="/ground_truth/turns/0", note=CALLS_NOTE))
        matching = "any_order" if len(by_message) < 2 else "exact"
        truth = GroundTruth.model_validate(
            {"semantics": "required", "turns": (calls,), "answers": answers, "call_matching": matching}
        )
        return truth, tuple(checks), source
    if offers_tools and not answers and any(message.role == "assistant" for message in after):
        return (
            GroundTruth(semantics="required", turns=((),)),
            (Check(kind="no_call", scored=True, note=NO_CALL_NOTE),),
            source,
        )
    return GroundTruth(semantics="none", answers=answers, call_matching="none"), tuple(checks), source


def _expected(value: Any, pointer: str) -> tuple[tuple[ToolCall, ...], tuple[str, ...]]:
    """Read an expected answer: a text, a list of accepted texts, one call, a list of calls, or an assistant message."""
    if isinstance(value, (str, int, float)):
        return (), (str(value),)
    if isinstance(value, dict) and "name" not in value and "function" not in value:
        content = value.get("content")
        inner = join(pointer, "tool_calls")
        made = [
            read_call(call, join(inner, i)) for i, call in enumerate(expect(value.get("tool_calls") or [], list, inner))
        ]
        return tuple(made), (content,) if isinstance(content, str) and content else ()
    if isinstance(value, dict):
        return (read_call(value, pointer),), ()
    items = expect(value, list, pointer)
    if items and all(isinstance(item, str) for item in items):
        return (), tuple(items)
    return tuple(read_call(item, join(pointer, i)) for i, item in enumerate(items)), ()


def _dialogue(values: Mapping[str, Any]) -> str:
    """Return the name of the messages in a row; "messages" where it has none."""
    return next((name for name in _DIALOGUES if isinstance(values.get(name), list)), _DIALOGUES[0])


def _messages(values: Mapping[str, Any]) -> Iterator[tuple[Message, bool]]:
    """Yield the messages, each with whether it counts: ``"weight": 0`` marks a reply that is not an example."""
    names: dict[str, str] = {}
    field = _dialogue(values)
    for index, item in enumerate(member(values, field, list)):
        place = join(f"/{field}", index)
        fields = expect(item, dict, place)
        role = member(fields, "role", str, place)
        if role not in _ROLES:
            raise MalformedRecordError(f"unknown role {role!r}; known: {', '.join(_ROLES)}", join(place, "role"))
        calls = [
            read_call(call, join(place, "tool_calls", j))
            for j, call in enumerate(expect(fields.get("tool_calls") or [], list, join(place, "tool_calls")))
        ]
        if fields.get("function_call"):
            calls.append(read_call(fields["function_call"], join(place, "function_call")))
        names.update({call.id: call.name for call in calls if call.id})
        answers = fields.get("tool_call_id") if isinstance(fields.get("tool_call_id"), str) else None
        named = fields.get("name") if isinstance(fields.get("name"), str) else None
        is_tool = _ROLES[role] == "tool"
        message = Message.model_validate(
            {
                "role": _ROLES[role],
                "content": _text(fields.get("content"), join(place, "content")),
                "tool_calls": tuple(calls),
                "tool_call_id": answers if is_tool else None,
                "tool_name": (named or names.get(answers or "") or None) if is_tool else None,
            }
        )
        yield message, fields.get("weight") != 0


def _text(content: Any, pointer: str) -> str:
    """Return the text of a content; other parts are named by their type in brackets."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = []
    for index, part in enumerate(expect(content, list, pointer)):
        fields = expect(part, dict, join(pointer, index))
        text = fields.get("text")
        parts.append(text if isinstance(text, str) else f"[{fields.get('type', 'part')}]")
    return "\n".join(parts)
