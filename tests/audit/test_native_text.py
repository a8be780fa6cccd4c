"""The words of the benchmark's own files for quotes of our record."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import agenthard as ah
from agenthard.audit.evidence import quote
from agenthard.audit.native_spot import LONGEST
from agenthard.audit.native_text import NativeFiles, run_file
from agenthard.audit.sources.formats.files import open_binary
from agenthard.taxonomy import AgentTask, Evidence, GroundTruth, Origin, ToolCall
from agenthard.taxonomy.finding import NativeText
from agenthard.taxonomy.trajectory import Trajectory
from tests.builders import make_task

CALL = ToolCall(name="book", arguments={"seats": {"$any_of": [1, 2], "$optional": False}, "day": "Zoë\n2nd"})
LINE = {"id": 1, "gold": [{"book": {"seats": [1, 2], "day": "Zoë\n2nd"}}], "say": 'Book "two" seats.\nThanks'}


def task(origins: dict[str, Origin], **changes: Any) -> AgentTask:
    truth = GroundTruth(semantics="required", turns=((CALL,),))
    return make_task("t", ground_truth=truth, origins=origins, **changes)


def find(root: Path, of: AgentTask, pointer: str, words: str | None = None) -> NativeText | None:
    return NativeFiles(lambda name: root / name).find(of, quote(of, pointer, text=words))


def bytes_of(root: Path, native: NativeText) -> bytes:
    with open_binary(root / native.file) as stream:
        return stream.read()[native.start : native.end]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    rows = [json.dumps({"id": 0}), json.dumps(LINE), json.dumps({"id": 2})]
    (tmp_path / "gold.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


GOLD = {"/ground_truth/turns/0": Origin(file="gold.jsonl", line=2, pointer="/gold")}
ARGUMENTS = {"/ground_truth/turns/0/0/arguments": Origin(file="gold.jsonl", line=2, pointer="/gold/0/book")}


def test_accepted_values_are_shown_as_the_list_of_the_file(lines: Path) -> None:
    native = find(lines, task(ARGUMENTS), "/ground_truth/turns/0/0/arguments/seats")
    assert native is not None and native.text == '"seats": [1, 2]' and native.line == native.document_line == 2
    assert native.pointer == "/gold/0/book/seats" and bytes_of(lines, native) == b'"seats": [1, 2]'
    second = find(lines, task(ARGUMENTS), "/ground_truth/turns/0/0/arguments/seats/$any_of/1")
    assert second is not None and (second.pointer, second.text) == ("/gold/0/book/seats/1", "2")


def test_a_call_is_shown_as_the_file_writes_calls(lines: Path) -> None:
    native = find(lines, task(GOLD), "/ground_truth/turns/0/0")
    assert native is not None and native.text == json.dumps(LINE["gold"][0]) and native.pointer == "/gold/0"
    name = find(lines, task(GOLD), "/ground_truth/turns/0/0/name")
    assert name is not None and name.text.startswith('"book": {')


def test_a_part_of_a_string_is_its_characters_and_its_escaped_bytes(lines: Path) -> None:
    native = find(lines, task(ARGUMENTS), "/ground_truth/turns/0/0/arguments/day", "ë\n2")
    assert native is not None and native.text == "ë\n2" and bytes_of(lines, native) == b"\\u00eb\\n2"


def test_a_value_below_a_place_with_another_structure_is_found_by_its_words(lines: Path) -> None:
    origins = {"": Origin(file="gold.jsonl", line=2)}
    said = task(origins, metadata={"text": LINE["say"]})
    native = find(lines, said, "/metadata/text", '"two" seats.\nThanks')
    assert native is not None and native.pointer == "/say" and bytes_of(lines, native) == b'\\"two\\" seats.\\nThanks'


def test_what_the_file_does_not_say_has_no_native_text(lines: Path) -> None:
    origins = {"": Origin(file="gold.jsonl", line=2)}
    assert find(lines, task(origins, metadata={"made": "up by us"}), "/metadata/made") is None
    assert find(lines, task({}), "/ground_truth") is None


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("packed", [False, True])
def test_elements_of_an_array_with_and_without_line_breaks(tmp_path: Path, indent: int | None, packed: bool) -> None:
    text = json.dumps([{"id": 0}, LINE], indent=indent, ensure_ascii=False)
    name = "tasks.json.gz" if packed else "tasks.json"
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    origins = {"/ground_truth/turns/0/0/arguments": Origin(file=name, pointer="/1/gold/0/book")}
    native = find(tmp_path, task(origins), "/ground_truth/turns/0/0/arguments/day")
    assert native is not None and native.text == '"day": "Zoë\\n2nd"' and native.document_line is None
    assert bytes_of(tmp_path, native).decode() == native.text
    assert text.splitlines()[native.line - 1].find('"day"') >= 0


def test_a_text_file_is_searched_from_its_line_on_whatever_its_white_space(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        'def a():\n    """Fees are\n       due."""\ndef b():\n    """Fees are\n       due."""\n'
    )
    made = task({"/metadata": Origin(file="tools.py", line=4)}, metadata={"doc": "Fees are due."})
    native = find(tmp_path, made, "/metadata/doc")
    assert native is not None and native.line == 5 and bytes_of(tmp_path, native) == b"Fees are\n       due."


@pytest.mark.parametrize("file", ["../outside.json", "gone.json", "link.json", "cut.json", "binary.json"])
def test_odd_files_have_no_native_text(tmp_path: Path, file: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.json").write_text('{"doc": "secret words"}')
    (root / "link.json").symlink_to(tmp_path / "outside.json")
    (root / "cut.json").write_text('{"doc": "secret wor')
    (root / "binary.json").write_bytes(b"\xff\xfe\x00secret words")
    made = task({"/metadata": Origin(file=file)}, metadata={"doc": "secret words"})
    assert find(root, made, "/metadata/doc") is None


LOGGED = [{"role": "tool", "text": "The room\nis taken."}, {"role": "assistant", "text": "It is."}]
ASKED = {"id": "c1", "function": {"name": "book", "arguments": json.dumps({"room": "no. 7", "nights": 2})}}
RUN = {
    "id": 7,
    "traj": [*LOGGED, {"role": "user", "text": "and?"}, *LOGGED, {"role": "assistant", "tool_calls": [ASKED]}],
    "failure": "timed out",
}


@pytest.mark.parametrize("name", ["runs.jsonl", "runs.jsonl.gz", "runs.json"])
@pytest.mark.parametrize(("message", "place"), [(1, "/traj/0/text"), (3, "/traj/3/text")])
def test_a_quote_of_a_run_is_found_in_its_log_in_the_nearest_message(
    tmp_path: Path, name: str, message: int, place: str
) -> None:
    lines = name != "runs.json"
    text = f'{{"id": "Zoë"}}\n{json.dumps(RUN)}\n' if lines else json.dumps([{"id": "Zoë"}, RUN], indent=1)
    (tmp_path / name).write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    origin = Origin(file=name, line=2) if lines else Origin(file=name, pointer="/1")
    run = Trajectory(id="r", task_id="t", model="m", origin=origin)
    said = Evidence(task_id="t", trajectory_id="r", pointer=f"/messages/{message}/content", quote="room\nis taken")
    logs = NativeFiles(run_file([tmp_path / name]))
    logs.hold_lines(name, {2})
    native = logs.find_in_run(run, said)
    assert native is not None and native.text == "room\nis taken"
    assert native.pointer == (place if lines else f"/1{place}")
    assert bytes_of(tmp_path, native) == b"room\\nis taken"
    call = '{"arguments": {"nights": 2, "room": "no. 7"}, "name": "book"}'
    asked = Evidence(task_id="t", trajectory_id="r", pointer="/messages/5/tool_calls/0", quote=call)
    for evidence in (asked, asked.model_copy(update={"pointer": f"{asked.pointer}/arguments/room", "quote": "no. 7"})):
        found = logs.find_in_run(run, evidence)
        assert found is not None and found.pointer.startswith(
            f"{native.pointer.partition('/traj')[0]}/traj/5/tool_calls/0"
        )
    other = asked.model_copy(update={"quote": call.replace("book", "cancel")})
    assert logs.find_in_run(run, other) is None
    ours = Evidence(task_id="t", trajectory_id="r", pointer="/status_reason", quote="a reason of ours")
    assert logs.find_in_run(run, ours) is None


def test_a_line_of_a_large_file_is_read_alone(tmp_path: Path) -> None:
    mark = b"\xef\xbb\xbf"
    (tmp_path / "gold.jsonl").write_bytes(mark + b'{"id": "Zo\xc3\xab"}\n' + json.dumps(LINE).encode() + b"\n" * 3)
    files = NativeFiles(lambda name: tmp_path / name, most_bytes=10)
    native = files.find(task(ARGUMENTS), quote(task(ARGUMENTS), "/ground_truth/turns/0/0/arguments/seats"))
    assert native is not None and (native.line, native.text) == (2, '"seats": [1, 2]')
    whole = (tmp_path / "gold.jsonl").read_bytes()
    assert whole[native.start : native.end] == b'"seats": [1, 2]'


@pytest.mark.long
@pytest.mark.corpora
@pytest.mark.parametrize(
    ("source", "folder", "domain", "runs"),
    [
        ("tau-bench", "tau-bench_59a200c", "airline", "tau1_airline.jsonl.gz"),
        ("tau2", "tau2-bench_v0.1.3", "airline", "tau2_airline.jsonl.gz"),
    ],
)
def test_every_quote_of_a_run_is_in_the_bytes_of_its_log(
    corpora: Path, source: str, folder: str, domain: str, runs: str
) -> None:
    logs = corpora / "trajectories"
    opened = ah.open_source(source, corpora / folder, (domain,))
    findings = ah.audit(opened, runs=[logs / runs]).findings
    found = [item for finding in findings for item in finding.evidence if item.trajectory_id]
    assert len(found) > 20
    for item in found:
        if item.native is None:  # the verdict and the reason of a failure are words of our record
            assert item.pointer in ("/passed", "/status_reason"), item
        else:
            require_found(lambda name: logs / name, item)


@pytest.mark.long
@pytest.mark.corpora
@pytest.mark.parametrize(
    ("source", "folder", "least"),
    [
        ("bfcl", "bfcl_v3_2025-07-17", 300),
        ("tau-bench", "tau-bench_59a200c", 30),
        ("tau2", "tau2-bench_v0.1.3", 100),
        ("tau2", "tau2-bench_v1.0.1", 50),
        ("acebench", "acebench_2025-02-26", 100),
        ("acebench", "acebench_2025-10-29", 20),
        ("agencybench", "agencybench", 50),
        ("ace", "ace_reference/5x5_released", 5),
    ],
)
def test_every_quote_is_in_the_bytes_of_its_file(corpora: Path, source: str, folder: str, least: int) -> None:
    opened = ah.open_source(source, corpora / folder)
    found = [item for finding in ah.audit(opened).findings for item in finding.evidence if not item.trajectory_id]
    assert len(found) > least
    for item in found:
        require_found(opened.file_path, item)


def require_found(path_of: Any, item: Evidence) -> None:
    native = item.native
    if native is None:
        # A task that expects no call says so by the name of its file alone, and how runs are scored is in no file.
        assert item.quote.endswith('"turns": [[]]}') or item.pointer.startswith("/evaluation"), item
        return
    with open_binary(path_of(native.file)) as stream:
        data = stream.read()
    raw = data[native.start : native.end].decode("utf-8")
    assert data.count(b"\n", 0, native.start) + 1 == native.line
    assert raw == native.text or json.loads(f'"{raw}"') == native.text
    # Of a check the file shows what it is computed from; of a long text its beginning.
    if not item.pointer.startswith("/evaluation/checks/") and len(native.text) < LONGEST:
        said = {_letters(text) for text in _strings(_parsed(item.quote)) if text not in OUR_WORDS}
        parsed = (_parsed(native.text), _parsed(f"{{{native.text}}}"))
        there = "".join(map(_letters, [native.text, *_strings(parsed[0]), *_strings(parsed[1])]))
        assert not {text for text in said if text not in there}, item


OUR_WORDS = {
    "assistant",
    "user",
    "number",
    "object",
    "array",
    "exact",
    "required",
    "reference_path",
    "state",
    "any_order",
}
"""What our record says in words of its own: who makes a call, JSON types, and how a ground truth is meant."""


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict | list):
        return [text for item in (value.values() if isinstance(value, dict) else value) for text in _strings(item)]
    return [value] if isinstance(value, str) else []


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))
