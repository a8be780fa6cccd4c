"""Rooms that strangers wrote to do harm: each is refused or stopped soon, and set aside with its reason."""

import base64
import io
import json
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from time import process_time

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.escape.graph.skeleton import Edge, Skeleton
from agenthard.escape.narrative.tell import tell
from agenthard.escape.narrative.themes import THEMES
from agenthard.escape.proof import verify
from agenthard.escape.proof.verify import execution_problems
from agenthard.escape.room import Instance
from agenthard.escape.source import EscapeRooms
from agenthard.escape.storage import SUITES
from agenthard.escape.templates.library import find_template
from agenthard.escape.values import fill_graph
from tests.escape.made import changed, rooms, with_tool

SECONDS = 2


def _archive(name: str, data: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, data)
    return stream.getvalue()


def _room_with(template: str) -> tuple[Instance, str]:
    """A room with a tool of a template: one of the suite, or one made of it and an exit."""
    try:
        return with_tool(template)
    except StopIteration:
        found = find_template(template)
        assert found is not None
        type = found.outputs[0].type
        exit = "exit_keypad" if type == "Text_Generic" else "exit_vault"
        target = next(port.name for port in find_template(exit).inputs if port.type == type)  # type: ignore[union-attr]
        skeleton = Skeleton((exit, template), (Edge(1, found.outputs[0].name, 0, target),))
        instance = Instance(*tell(skeleton, fill_graph(skeleton, "hostile", 1), "hostile", THEMES[0], Random(0)))
        return instance, next(id for id, m in instance.secret.mechanisms.items() if m.template == template)


def _given(template: str, **values: str) -> Instance:
    """A room whose tool has other inputs."""
    room, part = _room_with(template)
    return changed(room, part, inputs={**room.secret.mechanisms[part].inputs, **values})


def _holding(template: str, port: str, content: bytes, **values: str) -> Instance:
    """A room whose tool reads another file."""
    room = _given(template, **{port: "file_00000000"}, **values)
    files = {**room.secret.files, "file_00000000": base64.b64encode(content).decode()}
    return replace(room, secret=replace(room.secret, files=files))


def _program(body: str) -> Instance:
    return _given("python_exec", code=f"def run(n):\n    {body}")


HOSTILE: dict[str, Callable[[], Instance]] = {
    "regex bomb": lambda: _given("regex_search", text="a" * 4000, pattern="(a+)+$b"),
    "nested regex bomb": lambda: _given("regex_search", text="a" * 4000 + "!", pattern="(a|aa)+(b)$"),
    "zip bomb": lambda: _holding("zip_extract", "archive", _archive("a.txt", b"0" * 10**8), member="a.txt"),
    "file that is too large": lambda: _holding("zip_extract", "archive", Random(0).randbytes(2 << 20), member="a.txt"),
    "zip slip": lambda: _holding("zip_extract", "archive", _archive("../x", b"x"), member="../x"),
    "absolute member": lambda: _holding("zip_extract", "archive", _archive("/etc/passwd", b"x"), member="/etc/passwd"),
    "packed bomb": lambda: _given("zlib_decompress", hex=zlib.compress(b"0" * 10**6).hex()),
    "number of a million digits": lambda: _given("bigint_multiply", a="9" * 10**6),
    "number as large as allowed": lambda: _given("mod_exp", base="9" * 4000, exponent="9" * 4000, modulus="9" * 4000),
    "program that forks": lambda: _program("return __import__('os').fork()"),
    "program that sleeps": lambda: _program("return __import__('time').sleep(9)"),
    "program that reads a file": lambda: _program("return open('/etc/passwd')"),
    "program that opens a socket": lambda: _program("return __import__('socket').create_connection(('127.0.0.1', 9))"),
    "program that imports": lambda: _given("python_exec", code="import os\ndef run(n):\n    return 1"),
    "program without end": lambda: _program("for k in range(10000000000):\n        n = n\n    return n"),
    "program with a huge number": lambda: _program("for k in range(99):\n        n = n * n + 7\n    return n"),
    "program with deep brackets": lambda: _program(f"return {'(' * 900}1{')' * 900}"),
    "document with deep brackets": lambda: _holding("json_path_query", "file", b"[" * 100_000, path="a"),
    "path that multiplies": lambda: _holding(
        "json_path_query", "file", json.dumps([0] * 200_000).encode(), path="[*].[@,@,@,@][].[@,@,@,@][]|[0]"
    ),
    "catalogue of long names": lambda: _holding(
        "fuzzy_lookup", "file", json.dumps({"a" * 300 + str(k): "x" for k in range(1000)}).encode(), query="ab" * 2000
    ),
    "file that is not base 64": lambda: replace(
        rooms()[0], secret=replace(rooms()[0].secret, files={"file_1": "A"}), certificate=None
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", HOSTILE)
def test_it_is_stopped_soon_and_set_aside_with_its_reason(kind: str, tmp_path: Path) -> None:
    hostile = HOSTILE[kind]()
    honest = next(each for each in rooms() if each.id != hostile.id)
    SUITES.write(tmp_path / "suite", [hostile, honest], {}, count=2)
    quarantine, start = Quarantine(), process_time()
    kept = [room.id for _, room in EscapeRooms(tmp_path / "suite").instances(quarantine)]
    report = verify(hostile)
    assert process_time() - start < 2 * SECONDS, "reading the suite and proving the room, each within its time"
    assert kept == [honest.id] and not report.ok
    (item,) = quarantine.items
    assert item.task_id == hostile.id and len(item.reason) < 300


def test_many_slow_parts_are_stopped_together() -> None:
    room, part = _room_with("regex_search")
    slow = replace(_given("regex_search", text="a" * 4000, pattern="(a+)+$b").secret.mechanisms[part])
    copies = {f"part-{900 + k}": slow for k in range(60)}
    twin = next(each for each in room.room.parts if each.id == part)
    parts = (*room.room.parts, *(replace(twin, id=id) for id in copies))
    many = replace(
        room,
        room=replace(room.room, parts=parts, nodes=len(parts), visible=(*room.room.visible, *copies)),
        secret=replace(room.secret, mechanisms={**room.secret.mechanisms, **copies}),
        certificate=None,
    )
    start = process_time()
    problems = [each.message for each in execution_problems(many)]
    assert process_time() - start < SECONDS
    assert any("seconds of CPU time together" in message for message in problems)
