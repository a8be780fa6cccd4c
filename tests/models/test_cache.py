import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from agenthard.models.cache import ReplyCache
from agenthard.models.errors import ConfigurationError, StorageError
from agenthard.models.request import ChatMessage, Image, OutputSchema, Reply, Sampling, Usage
from tests.models.scripted import ask, conversation, say

ROOT = Path(__file__).parents[2]


def count(cache: ReplyCache, table: str) -> int:
    return int(cache._database.read(f"SELECT COUNT(*) FROM {table}")[0][0])


def test_request_and_reply_come_back_as_they_were(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "new" / "cache.sqlite")
    requests = [
        ask("naïve ☃ \u2028 \x00"),
        conversation(3),
        ask(messages=(ChatMessage(role="user", images=(Image(media_type="image/png", data="AAAA"),)),)),
        ask(
            output=OutputSchema(name="x", json_schema={"type": "object"}), sampling=Sampling(seed=42, extra={"k": [1]})
        ),
    ]
    reply = Reply(
        message=ChatMessage(role="assistant", text="☃", reasoning="hm", provider_state="{}"),
        finish="refusal",
        usage=Usage(prompt_tokens=3),
        model_version="v",
    )
    for request in requests:
        assert cache.get(request.digest) is None and not cache.has(request.digest)
        cache.put(request, request.digest, reply)
    cache.close()
    again = ReplyCache(tmp_path / "new" / "cache.sqlite")
    for request in requests:
        assert again.get(request.digest) == reply and again.has(request.digest)
        assert again.request(request.digest) == request


def test_what_requests_share_is_kept_once(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "cache.sqlite")
    for turns in (3, 0, 50, 20):
        request = conversation(turns)
        cache.put(request, request.digest, say())
        assert cache.request(request.digest) == request
    # Settings, two opening messages and two messages for each of fifty turns.
    assert count(cache, "parts") == 103


def test_the_first_reply_stays(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "cache.sqlite")
    cache.put(ask(), ask().digest, None)
    assert cache.get(ask().digest) is None and cache.request(ask().digest) == ask()
    cache.put(ask(), ask().digest, say("first"))
    cache.put(ask(), ask().digest, say("second"))
    cache.put(ask(), ask().digest, None)
    assert cache.get(ask().digest) == say("first")
    assert cache._database.read("SELECT written_by FROM replies")[0][0].startswith("agenthard 0")


def test_what_is_no_reply_is_named(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "cache.sqlite")
    cache.put(ask(), ask().digest, say())
    with cache._database.write() as connection:
        connection.execute("UPDATE replies SET reply = x'00'")
    with pytest.raises(StorageError, match=f"cache.sqlite: the reply {ask().digest}.*written by agenthard"):
        cache.get(ask().digest)


def test_a_full_disk_damages_nothing(tmp_path: Path) -> None:
    cache = ReplyCache(tmp_path / "cache.sqlite")
    cache.put(ask(), ask().digest, say())
    cache._database.read("PRAGMA max_page_count = 20")
    with pytest.raises(StorageError, match="database or disk is full"):
        for n in range(1000):
            cache.put(ask(f"{n} " * 500), ask(f"{n} " * 500).digest, say())
    assert (count(cache, "replies"), count(cache, "requests")) == (n + 1, n + 1), "all of a write, or nothing"
    assert cache._database.read("PRAGMA integrity_check") == [("ok",)]
    cache._database.read("PRAGMA max_page_count = 100000")
    cache.put(ask("more"), ask("more").digest, say())
    assert cache.get(ask("more").digest) == say()


def test_a_full_disk_is_no_wrong_file(tmp_path: Path) -> None:
    code = """
import resource, sys
from agenthard.models.cache import ReplyCache
from agenthard.models.errors import StorageError
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
try:
    ReplyCache(sys.argv[1])
except StorageError as error:
    print(error)
"""
    arguments = [sys.executable, "-c", code, str(tmp_path / "cache.sqlite")]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert "cache.sqlite: disk I/O error" in done.stdout and "Free space" in done.stdout


def test_a_file_that_cannot_be_used_is_refused_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(ConfigurationError, match="cannot open .*file/cache.sqlite"):
        ReplyCache(tmp_path / "file" / "cache.sqlite")
    (tmp_path / "text.sqlite").write_text("this is no database " * 100)
    with pytest.raises(ConfigurationError, match="not a database"):
        ReplyCache(tmp_path / "text.sqlite")
    with sqlite3.connect(tmp_path / "later.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(ConfigurationError, match="has schema 99, and this version reads 1"):
        ReplyCache(tmp_path / "later.sqlite")


WRITER = """
import sys
from agenthard.models.cache import ReplyCache
from tests.models.scripted import ask, say
cache = ReplyCache(sys.argv[1])
for n in range(200):
    request = ask(f"{n if n % 2 else sys.argv[2] + str(n)}")
    cache.put(request, request.digest, say(request.digest))
"""


@pytest.mark.long
def test_several_processes_share_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "cache.sqlite")
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, path, name], cwd=ROOT, stderr=subprocess.PIPE, text=True)
        for name in "abcd"
    ]
    assert [(writer.communicate()[1], writer.returncode) for writer in writers] == [("", 0)] * 4
    cache = ReplyCache(path)
    assert count(cache, "replies") == 100 + 4 * 100
    request = ask("c42")
    assert cache.get(request.digest) == say(request.digest)
