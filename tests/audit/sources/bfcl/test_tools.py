import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask

Read = Callable[[Path], dict[str, AgentTask]]

CODE = '''raise SystemExit("this file must never be run")

class Other:
    def send_message(self):
        pass

class MessageAPI:
    def __init__(self):
        pass

    def send_message(
        self, receiver_id: str, message: str = "hello", *, urgent: bool, copies=1
    ) -> dict[str, str]:
        # a remark

        """Send."""

    def delete_message(self, receiver_id: str, **rest): return {}

    @staticmethod
    def add(a, b):
        pass
'''


def add_code(root: Path, text: str = CODE) -> Path:
    folder = root / "eval_checker/multi_turn_eval/func_source_code"
    folder.mkdir(parents=True)
    (folder / "message_api.py").write_text(text)
    return folder


def test_signatures_are_read_beside_the_data(v3_copy: Path, read: Read) -> None:
    add_code(v3_copy)
    send, delete, add, _ = read(v3_copy)["multi_turn_base_0"].environment.tools
    assert send.implementation is not None and delete.implementation is not None
    assert send.implementation.parameters == ("receiver_id", "message", "urgent", "copies")
    assert send.implementation.required == ("receiver_id", "urgent")
    assert not send.implementation.extra_keywords
    assert send.implementation.source.startswith("def send_message(\n")
    assert send.implementation.source.endswith("-> dict[str, str]:")
    assert send.implementation.origin.file == "eval_checker/multi_turn_eval/func_source_code/message_api.py"
    assert send.implementation.origin.line == 11
    assert delete.implementation.parameters == ("receiver_id",)
    assert delete.implementation.extra_keywords
    assert delete.implementation.source == "def delete_message(self, receiver_id: str, **rest): return {}"
    assert add.implementation is None


def test_the_file_is_named_from_the_package_when_the_data_folder_was_given(v3_copy: Path, read: Read) -> None:
    add_code(v3_copy)
    send = read(v3_copy / "data")["multi_turn_base_0"].environment.tools[0]
    assert send.implementation is not None
    assert send.implementation.origin.file == "v3/eval_checker/multi_turn_eval/func_source_code/message_api.py"


@pytest.mark.parametrize("text", ["def (", "x = '\x00'", "(" * 10_000])
def test_code_that_cannot_be_parsed_gives_no_signatures(v3_copy: Path, read: Read, text: str) -> None:
    add_code(v3_copy, text)
    assert all(tool.implementation is None for tool in read(v3_copy)["multi_turn_base_0"].environment.tools)


def test_a_fetched_environment_serves_only_its_own_release(v3: Path, v3_copy: Path, tmp_path: Path, read: Read) -> None:
    package = tmp_path / "home/environments/bfcl/2025.7.17/lib/python3.11/site-packages/bfcl_eval"
    shutil.copytree(v3_copy / "data", package / "data")
    add_code(package)
    assert read(v3)["multi_turn_base_0"].environment.tools[0].implementation is not None
    assert BFCL(v3).version().label == "v3, code of bfcl-eval 2025.7.17"
    assert BFCL(v3).version().content_hash == BFCL(package).version().content_hash
    docs = package / "data/multi_turn_func_doc/message_api.json"
    docs.write_bytes(docs.read_bytes().replace(b"Send a message", b"Send one message"))
    assert read(v3)["multi_turn_base_0"].environment.tools[0].implementation is None
    assert BFCL(v3).version().label == "v3"
