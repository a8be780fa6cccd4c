from typing import Any

import pytest

from agenthard.audit.idleness import idle_sign
from agenthard.taxonomy import Message, ToolCall
from tests.builders import make_run


def said(*texts: str, **changes: Any) -> Any:
    return make_run(messages=tuple(Message(role="assistant", content=text) for text in texts), **changes)


def answered(text: str, *more: Message) -> Any:
    asked = (Message(role="user", content="Work."), Message(role="assistant", content=text))
    return make_run(messages=(*asked, Message(role="tool", content="Listed 5 item(s)."), *more))


@pytest.mark.parametrize(
    ("run", "kind", "pointer"),
    [
        (said(""), "has an empty reply", "/messages/0"),
        (said("  \n"), "has an empty reply", "/messages/0"),
        (said("Task completed"), "replies with a stock phrase", "/messages/0/content"),
        (said("", "**Done.**"), "replies with a stock phrase", "/messages/1/content"),
        (said("Error code: 500 - overloaded"), "replies with the text of an error", "/messages/0/content"),
        (said("Request failed: 429"), "replies with the text of an error", "/messages/0/content"),
        (said("I look.[TOOL CALL] read_file({})", "Hm."), "writes a call as text", "/messages/0/content"),
        (answered("[TOOL CALL] list_directory({})"), "makes one call, which only looks", "/messages/1/content"),
        (answered("[TOOL_CALL] read_many_files({})"), "makes one call, which only looks", "/messages/1/content"),
        (make_run(usage={"changed_lines": 0}), "changed nothing", "/usage/changed_lines"),
    ],
)
def test_nothing_was_done(run: Any, kind: str, pointer: str) -> None:
    sign = idle_sign(run)
    assert sign is not None
    assert sign.kind.startswith(kind) and sign.pointer == pointer


@pytest.mark.parametrize(
    "run",
    [
        make_run(),
        make_run(messages=(Message(role="user", content=""),)),
        said("The task is completed: the book is lent to Ada."),
        said("Task completed", "I lent the book."),
        said("Error handling: I wrapped the call. " + "x" * 600),
        said('<tool_call>{"name": "lend_book"}</tool_call>'),
        answered('[TOOL CALL] write_file({"content": ""})'),
        answered("[TOOL CALL] run_shell_command({})"),
        answered("[TOOL CALL] read_file({})[TOOL CALL] read_file({})"),
        answered("[TOOL CALL] read_file({})", Message(role="assistant", content="It says seven.")),
        answered("I read the file."),
        make_run(usage={"changed_lines": 3}, messages=(Message(role="assistant", content="fine"),)),
        make_run(
            messages=(
                Message(role="assistant", tool_calls=(ToolCall(name="lend_book"),)),
                Message(role="tool", content="ok"),
                Message(role="assistant", content="Done."),
            )
        ),
    ],
)
def test_something_was_done_or_the_log_does_not_tell(run: Any) -> None:
    assert idle_sign(run) is None
