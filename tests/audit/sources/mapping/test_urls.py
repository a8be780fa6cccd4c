"""A benchmark behind a URL: in memory, in a ZIP file, and on a web server of this machine."""

import io
import json
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import fsspec
import pytest
import yaml
from typer.testing import CliRunner

import agenthard as ah
from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats import remote
from agenthard.audit.sources.mapping import MappingSource
from agenthard.flows.cli import app
from tests.audit.sources.mapping.conftest import LEND

ROWS = [
    {"id": f"t{i}", "question": f"Lend me book {i}.", "gold": [{"name": "lend_book", "arguments": {"book_id": i}}]}
    for i in range(4)
]
LINES = "".join(json.dumps(row) + "\n" for row in ROWS)
TOOLS = json.dumps([LEND])


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Print nothing."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """A web server with the files of the benchmark; the URL of its folder."""
    folder = tmp_path / "served" / "library"
    folder.mkdir(parents=True)
    (folder / "tasks.jsonl").write_text(LINES)
    (folder / "tools.json").write_text(TOOLS)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder.parent)))
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/library"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def memory() -> Iterator[str]:
    """The same in fsspec's memory, and in a ZIP file there."""
    system = fsspec.filesystem("memory")
    system.pipe("/library/tasks.jsonl", LINES.encode())
    system.pipe("/library/tools.json", TOOLS.encode())
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("data/tasks.jsonl", LINES)
        archive.writestr("data/tools.json", TOOLS)
    system.pipe("/library.zip", packed.getvalue())
    remote.local_folder.cache_clear()
    yield "memory://library"
    system.rm("/library", recursive=True)
    system.rm("/library.zip")


def proposed(url: str, out: Path, code: int = 0) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["sources", "infer", url, "--out", str(out)])
    assert done.exit_code == code, (done.output, done.exception)
    mapping: dict[str, Any] = yaml.safe_load(out.read_text())
    return mapping


def assert_audited(mapping: Path, run: Path) -> None:
    done = CliRunner().invoke(app, ["audit", "mapping", str(mapping), "--out", str(run), "--workers", "1", "--json"])
    assert done.exit_code == 0, (done.output, done.exception)
    assert json.loads(done.stdout)["checked"] == 4
    split = MappingSource(run / "split" / "cleaned")
    assert [task.id for task in split.tasks(Quarantine())] == ["t0", "t1", "t2", "t3"]


def test_a_folder_in_memory(memory: str, tmp_path: Path) -> None:
    mapping = proposed(memory, tmp_path / "m.yaml")
    assert (mapping["benchmark"], mapping["folder"], mapping["files"]) == ("library", memory, ["tasks.jsonl"])
    assert mapping["environment"] == {"tools": {"file": "tools.json"}}
    assert_audited(tmp_path / "m.yaml", tmp_path / "run")


def test_a_file_in_a_zip_file(memory: str, tmp_path: Path) -> None:
    del memory
    mapping = proposed("zip://data/tasks.jsonl::memory://library.zip", tmp_path / "m.yaml", code=2)
    assert (mapping["folder"], mapping["files"]) == ("zip://data::memory://library.zip", ["tasks.jsonl"])
    (tmp_path / "m.yaml").write_text(yaml.safe_dump({**mapping, "environment": {"tools": {"file": "tools.json"}}}))
    assert_audited(tmp_path / "m.yaml", tmp_path / "run")


def test_a_web_server(server: str, tmp_path: Path) -> None:
    mapping = proposed(f"{server}/tasks.jsonl", tmp_path / "m.yaml", code=2)
    assert (mapping["folder"], mapping["files"]) == (server, ["tasks.jsonl"])
    mapping = {**mapping, "environment": {"tools": {"file": "tools.json"}}}
    (tmp_path / "m.yaml").write_text(yaml.safe_dump(mapping))
    assert_audited(tmp_path / "m.yaml", tmp_path / "run")
    result = ah.audit([{**row, "id": f"own/{row['id']}"} for row in ROWS], mapping=tmp_path / "m.yaml")
    assert [task.id for task in result.tasks][:1] == ["own/t0"] and result.tasks[0].environment.tools[
        0
    ].name == "lend_book"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("memory://library/absent.jsonl", "there is nothing at this URL"),
        ("memory://library/tasks.jsonl?raw=1", "give a URL without a query"),
        ("file:///etc/hosts.jsonl", "URLs of 'file' are not read; known are http"),
        ("simplecache::memory://library/tasks.jsonl", "URLs of 'simplecache' are not read"),
        ("gopher://host/tasks.jsonl", "URLs of 'gopher' are not read"),
        ("memory://empty", "names no file"),
    ],
)
def test_what_cannot_be_read(memory: str, url: str, said: str) -> None:
    del memory
    done = CliRunner().invoke(app, ["sources", "infer", url])
    assert isinstance(done.exception, SourceError) and said in str(done.exception), done.exception


def test_a_server_that_does_not_answer(server: str, tmp_path: Path) -> None:
    mapping = {"benchmark": "library", "folder": server, "files": "absent.jsonl", "user": {"turns": "question"}}
    (tmp_path / "m.yaml").write_text(yaml.safe_dump(mapping))
    with pytest.raises(SourceError, match="there is nothing at this URL"):
        MappingSource(tmp_path / "m.yaml")


def test_a_file_that_is_too_long(memory: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "MOST_BYTES", 10)
    with pytest.raises(SourceError, match="longer than"):
        remote.local_folder(memory, ("tasks.jsonl",))


def test_a_name_that_leads_out_of_its_folder(memory: str) -> None:
    with pytest.raises(SourceError, match="leads out of its folder"):
        remote.local_folder(memory, ("%2e%2e/library/tasks.jsonl",))


def test_a_promptfoo_configuration_with_the_files_that_it_names(server: str, tmp_path: Path) -> None:
    served = tmp_path / "served" / "library"
    (served / "promptfooconfig.yaml").write_text(
        "prompts: [file://clerk.txt, '{{question}}']\nproviders:\n  - id: echo\n    config: {tools: file://tools.json}\n"
        "tests: [file://cases.csv, file://gone.csv]\n"
    )
    (served / "clerk.txt").write_text("You are a clerk. {{question}}")
    (served / "cases.csv").write_text(
        "question,__expected\nWho wrote Emma?,Jane Austen\nWho wrote Dune?,Frank Herbert\n"
    )
    mapping = proposed(f"{server}/promptfooconfig.yaml", tmp_path / "m.yaml")
    assert (mapping["folder"], mapping["files"]) == (server, ["promptfooconfig.yaml"])
    source, quarantine = MappingSource(tmp_path / "m.yaml"), Quarantine()
    found = list(source.tasks(quarantine))
    assert [task.user.turns[0][0].content for task in found] == [
        "You are a clerk. Who wrote Emma?",
        "You are a clerk. Who wrote Dune?",
    ]
    assert [tool.name for tool in found[0].environment.tools] == ["lend_book"]
    assert [item.reason.partition(";")[0] for item in quarantine.items] == [
        "tests: 'file://gone.csv' names no file here"
    ]
