"""Who may review: users with tokens and roles, sessions in a cookie, and a user that a reverse proxy names."""

import base64
import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, get_args

from platformdirs import user_data_path

from agenthard.audit.sources.fetch import HOME_VARIABLE
from agenthard.flows.errors import CommandError
from agenthard.taxonomy.files import read_text

Role = Literal["reader", "reviewer", "admin"]
"""reader: sees everything and decides nothing; reviewer: gives verdicts; admin: assigns and adjudicates too."""
SESSION_DAYS: Final = 30
"""After this time a person enters the token again."""
SHORTEST_TOKEN: Final = 16
"""Characters of the shortest token that a users file may hold."""
LOOPBACK: Final = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class User:
    """A person who is signed in."""

    name: str
    """Name, as events and reports show it."""
    role: Role
    """What the person may do."""

    @property
    def reviews(self) -> bool:
        """Whether the person may give verdicts."""
        return self.role != "reader"

    @property
    def administers(self) -> bool:
        """Whether the person may assign and adjudicate."""
        return self.role == "admin"


@dataclass(frozen=True)
class Access:
    """The rules by which a request belongs to a user."""

    users: Mapping[str, User]
    """Users by name."""
    tokens: Mapping[str, str]
    """Token of each user who has one, by name."""
    key: bytes
    """Secret that sessions are signed with."""
    port: int
    """Port of the server: cookies are shared by all ports of a host, so the name of ours has it."""
    hosts: frozenset[str] = field(default_factory=lambda: frozenset(LOOPBACK))
    """Names under which the server is addressed; another Host header is refused (DNS rebinding)."""
    secure: bool = False
    """Whether browsers reach the server by HTTPS, so that the cookie is sent by HTTPS only."""
    proxy_header: str = ""
    """Header in which a reverse proxy on this machine names the user; empty = none is trusted."""

    @property
    def cookie(self) -> str:
        """Name of the cookie."""
        return f"{'__Host-' if self.secure else ''}agenthard-review-{self.port}"

    def enter(self, token: str) -> User | None:
        """Return the user who has a token; None when the token is unknown."""
        found = None
        for name, known in self.tokens.items():
            if hmac.compare_digest(_hash(token), _hash(known)):
                found = self.users[name]
        return found

    def session(self, user: User, now: float | None = None) -> str:
        """Return the value of the cookie of a user who has just entered."""
        issued = str(int(time.time() if now is None else now))
        name = base64.urlsafe_b64encode(user.name.encode()).decode()
        return f"{name}.{issued}.{self._sign('session', user.name, issued, self.tokens.get(user.name, ''))}"

    def user_of_session(self, value: str, now: float | None = None) -> User | None:
        """Return the user of a cookie; None when it is not ours, too old, or the user's token has changed since."""
        try:
            encoded, issued, signature = value.split(".")
            name = base64.urlsafe_b64decode(encoded.encode("ascii")).decode()
            age = (time.time() if now is None else now) - int(issued)
        except ValueError:
            return None
        right = self._sign("session", name, issued, self.tokens.get(name, ""))
        if not hmac.compare_digest(signature.encode(), right.encode()) or age > SESSION_DAYS * 86_400:
            return None
        return self.users.get(name)

    def user_of_proxy(self, headers: Mapping[str, str], client: str) -> User | None:
        """Return the user whom the reverse proxy names; only a proxy on this machine is believed."""
        name = headers.get(self.proxy_header.lower(), "") if self.proxy_header and client in LOOPBACK else ""
        return self.users.get(name)

    def csrf(self, user: User) -> str:
        """Return what a request that changes anything has to repeat in the header ``X-CSRF-Token``."""
        return self._sign("csrf", user.name, self.tokens.get(user.name, ""))

    def _sign(self, *parts: str) -> str:
        return hmac.new(self.key, "\x1f".join(parts).encode(), hashlib.sha256).hexdigest()


def own_token(key: bytes) -> str:
    """Return the token of the only user of a server without a users file; the same after a restart."""
    return hmac.new(key, b"own token", hashlib.sha256).hexdigest()[:32]


def read_key(path: Path | None = None) -> bytes:
    """Read the secret of this user of the machine; it is made when there is none yet.

    Args:
        path: its file; default: ``review.key`` in ``$AGENTHARD_HOME``, else in the user's data folder.
    """
    home = os.environ.get(HOME_VARIABLE)
    file = path or (Path(home) if home else user_data_path("agenthard")) / "review.key"
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    except FileExistsError:
        return bytes.fromhex(read_text(file).strip())
    with os.fdopen(descriptor, "w", encoding="ascii") as made:
        made.write(secrets.token_hex(32))
    return bytes.fromhex(read_text(file).strip())


def read_users(path: Path) -> tuple[dict[str, User], dict[str, str]]:
    """Read a users file: one user per line, ``NAME ROLE TOKEN``; ``-`` instead of a token for users of a proxy.

    Args:
        path: the file. Only its owner may be able to read it.

    Returns:
        Users and tokens by name.

    Raises:
        CommandError: a line is not of this form, a token is short or used twice, or others can read the file.
    """
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise CommandError(f"{path}: holds tokens, and others can read it; run: chmod 600 {path}")
    users, tokens = dict[str, User](), dict[str, str]()
    for number, line in enumerate(read_text(path).splitlines(), 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 3 or words[1] not in get_args(Role):
            raise CommandError(f"{path}:{number}: write NAME ROLE TOKEN, with {', '.join(get_args(Role))} as role")
        name, role, token = words
        if name in users:
            raise CommandError(f"{path}:{number}: the user {name!r} is there twice")
        users[name] = User(name, role)  # type: ignore[arg-type]
        if token != "-":
            _require_good(token, tokens.values(), f"{path}:{number}")
            tokens[name] = token
    if not users:
        raise CommandError(f"{path}: names no user; write one line per user: NAME ROLE TOKEN")
    return users, tokens


def _require_good(token: str, others: Collection[str], where: str) -> None:
    if len(token) < SHORTEST_TOKEN:
        raise CommandError(
            f"{where}: the token has fewer than {SHORTEST_TOKEN} characters; make one with: "
            "python -c 'import secrets; print(secrets.token_urlsafe(24))'"
        )
    if token in others:
        raise CommandError(f"{where}: two users have the same token; give each one of their own")


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
