"""Who may enter a review: tokens, sessions, a users file, a reverse proxy."""

import os
from pathlib import Path

import pytest

from agenthard.flows.errors import CommandError
from agenthard.flows.review.web.access import SESSION_DAYS, Access, User, own_token, read_key, read_users

ANA, BEN = User("ana", "admin"), User("ben", "reader")
TOKENS = {"ana": "a-token-of-ana-1234", "ben": "a-token-of-ben-1234"}


def access(**changes: object) -> Access:
    values = {"users": {"ana": ANA, "ben": BEN}, "tokens": TOKENS, "key": b"k" * 32, "port": 8420, **changes}
    return Access(**values)  # type: ignore[arg-type]


def test_a_token_belongs_to_its_user() -> None:
    assert access().enter(TOKENS["ben"]) == BEN
    assert access().enter("a-token-of-nobody-1") is None
    assert access().enter("\ud800") is None and access().enter("") is None


def test_a_session_is_of_its_user_until_it_is_old_or_the_token_changes() -> None:
    session = access().session(ANA, now=1000.0)
    assert access().user_of_session(session, now=1000.0) == ANA
    assert access().user_of_session(session, now=1000.0 + SESSION_DAYS * 86_400 + 1) is None
    changed = access(tokens={**TOKENS, "ana": "another-token-of-ana"})
    assert changed.user_of_session(session, now=1000.0) is None
    assert access(users={"ben": BEN}).user_of_session(session, now=1000.0) is None
    assert access(key=b"x" * 32).user_of_session(session, now=1000.0) is None


@pytest.mark.parametrize("value", ["", "a.b", "a.b.c", "YW5h.1000.00", "\u00e4.1.2", "YW5h.x.00"])
def test_a_made_up_session_is_refused(value: str) -> None:
    assert access().user_of_session(value, now=1000.0) is None


def test_a_session_of_another_user_cannot_be_made_from_ones_own() -> None:
    _, issued, signature = access().session(BEN, now=1000.0).split(".")
    name = access().session(ANA, now=1000.0).split(".")[0]
    assert access().user_of_session(f"{name}.{issued}.{signature}", now=1000.0) is None


def test_only_a_proxy_on_this_machine_is_believed() -> None:
    proxied = access(proxy_header="X-Forwarded-User")
    assert proxied.user_of_proxy({"x-forwarded-user": "ana"}, "127.0.0.1") == ANA
    assert proxied.user_of_proxy({"x-forwarded-user": "ana"}, "10.0.0.7") is None
    assert proxied.user_of_proxy({"x-forwarded-user": "zoe"}, "127.0.0.1") is None
    assert access().user_of_proxy({"x-forwarded-user": "ana"}, "127.0.0.1") is None


def test_cross_site_tokens_differ_by_user_and_token() -> None:
    changed = access(tokens={**TOKENS, "ana": "another-token-of-ana"})
    assert len({access().csrf(ANA), access().csrf(BEN), changed.csrf(ANA)}) == 3


def test_the_key_is_made_once_for_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "data" / "review.key"
    key = read_key(file)
    assert len(key) == 32 and read_key(file) == key and own_token(key) == own_token(key)
    assert os.name != "posix" or file.stat().st_mode & 0o777 == 0o600


def users_file(folder: Path, text: str, mode: int = 0o600) -> Path:
    file = folder / "users.txt"
    file.write_text(text, encoding="utf-8")
    file.chmod(mode)
    return file


def test_a_users_file(tmp_path: Path) -> None:
    text = "# people\nana admin a-token-of-ana-1234\n\nben reader a-token-of-ben-1234\nproxied reviewer -\n"
    users, tokens = read_users(users_file(tmp_path, text))
    assert users == {"ana": ANA, "ben": BEN, "proxied": User("proxied", "reviewer")} and tokens == TOKENS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ana admin", "users.txt:1: write NAME ROLE TOKEN"),
        ("ana owner a-token-of-ana-1234", "with reader, reviewer, admin as role"),
        ("ana admin short", "users.txt:1: the token has fewer than 16 characters"),
        ("ana admin a-token-of-ana-1234\nana reader another-token-1234", "users.txt:2: the user 'ana' is there twice"),
        ("ana admin a-token-of-ana-1234\nben reader a-token-of-ana-1234", "two users have the same token"),
        ("# nobody yet", "names no user"),
    ],
)
def test_a_users_file_that_cannot_be_used(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(CommandError, match=message):
        read_users(users_file(tmp_path, text))


@pytest.mark.skipif(os.name != "posix", reason="permissions of files are those of POSIX")
def test_a_users_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="others can read it; run: chmod 600"):
        read_users(users_file(tmp_path, "ana admin a-token-of-ana-1234", 0o644))
