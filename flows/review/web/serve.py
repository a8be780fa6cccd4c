"""Starting the server: which runs, which store, who may enter, and on which address it listens."""

import getpass
import socket
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agenthard.flows.errors import CommandError
from agenthard.flows.review.store import EventStore
from agenthard.flows.review.web.access import LOOPBACK, Access, User, own_token, read_key, read_users
from agenthard.flows.review.web.app import create_app
from agenthard.flows.review.web.guard import AccessLog
from agenthard.flows.review.web.open_run import OpenRun
from agenthard.taxonomy.record import Record

if TYPE_CHECKING:
    import uvicorn

LOG = "review-access.jsonl"
"""Access log, in the first run folder."""


class ServeSettings(Record):
    """What to serve, to whom, and where."""

    runs: tuple[Path, ...]
    """Run folders of finished audits."""
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = 0
    """Port; 0 = a free one."""
    users: Path | None = None
    """Users file; None = one admin, with the token that is printed."""
    store: str | None = None
    """URL of the database of the events; None = the file of each run."""
    name: str = ""
    """Name of the only user; empty = the name of the account."""
    tls_cert: Path | None = None
    """Certificate as PEM."""
    tls_key: Path | None = None
    """Its key."""
    allow_plain_http: bool = False
    """Whether a network may be served without TLS."""
    public_hosts: tuple[str, ...] = ()
    """Further names under which browsers reach the server."""
    proxy_header: str = ""
    """Header in which a reverse proxy names the user."""


def serve(settings: ServeSettings, say: Callable[["Ready"], None]) -> None:
    """Serve until the process is interrupted.

    Args:
        settings: what to serve.
        say: called once the server listens, before it serves.

    Raises:
        CommandError: a run, the users file or the address cannot be used as they are.
    """
    with ExitStack() as opened:
        ready = prepare(settings, opened)
        say(ready)
        with suppress(KeyboardInterrupt):  # the signal that ended the server, raised again by it once it has stopped
            ready.server.run(sockets=[ready.socket])


class Ready(NamedTuple):
    """A server that listens already and answers once it runs."""

    server: "uvicorn.Server"
    """The server."""
    socket: socket.socket
    """Where it listens."""
    url: str
    """Address to open: with the token of the only user, or of the form that asks for a token."""
    runs: tuple[str, ...]
    """Names of the audits."""

    @property
    def greeting(self) -> list[str]:
        """Lines for the person at the prompt: the address, and how to stop."""
        if "?token=" in self.url:
            return [f"review     {self.url}", "stop       Ctrl+C; every verdict is kept"]
        return [f"review     {self.url} (each user with the token of the users file)"]


def prepare(settings: ServeSettings, opened: ExitStack) -> Ready:
    """Open runs, store and socket.

    Args:
        settings: what to serve.
        opened: closes them.

    Raises:
        CommandError: a run, the users file or the address cannot be used as they are.
    """
    import uvicorn

    _require_safe(settings)
    listening = opened.enter_context(_listen(settings))
    port = listening.getsockname()[1]
    access = _access(settings, port)
    runs = _open_runs(settings, opened)
    log = AccessLog(settings.runs[0] / LOG)
    opened.callback(log.close)
    config = uvicorn.Config(
        create_app(runs, access, log),
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=1,
        ssl_certfile=settings.tls_cert,
        ssl_keyfile=str(settings.tls_key) if settings.tls_key else None,
    )
    return Ready(uvicorn.Server(config), listening, _url(settings, access, port), tuple(runs))


def _require_safe(settings: ServeSettings) -> None:
    """Refuse an address that others can reach unless what goes over it is protected, or that was asked for."""
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise CommandError("TLS needs both --tls-cert and --tls-key")
    if settings.proxy_header and not settings.users:
        raise CommandError("--proxy-header needs --users FILE, which gives the users their roles")
    if settings.host not in LOOPBACK and not settings.tls_cert and not settings.allow_plain_http:
        raise CommandError(
            f"--host {settings.host} can be reached by others, and tokens and verdicts would go over the network as "
            "plain text: give --tls-cert and --tls-key, put a reverse proxy before a loopback address, or accept it "
            "with --allow-plain-http"
        )


def _listen(settings: ServeSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((settings.host, settings.port))
        made.listen(128)
    except OSError as error:
        made.close()
        reason = error.strerror or str(error)
        raise CommandError(f"{settings.host}:{settings.port}: {reason}; give another --port, or 0") from error
    return made


def _access(settings: ServeSettings, port: int) -> Access:
    key = read_key()
    if settings.users:
        users, tokens = read_users(settings.users)
    else:
        name = settings.name or _account()
        users, tokens = {name: User(name, "admin")}, {name: own_token(key)}
    hosts = {*LOOPBACK, settings.host, *settings.public_hosts} - {"0.0.0.0", "::"}
    return Access(
        users=users,
        tokens=tokens,
        key=key,
        port=port,
        hosts=frozenset(each.lower() for each in hosts),
        secure=settings.tls_cert is not None,
        proxy_header=settings.proxy_header,
    )


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "reviewer"


def _open_runs(settings: ServeSettings, opened: ExitStack) -> dict[str, OpenRun]:
    names = _names(settings.runs)
    shared = opened.enter_context(EventStore(settings.store)) if settings.store else None
    runs = {}
    for name, folder in zip(names, settings.runs, strict=True):
        runs[name] = OpenRun(folder, name, shared or opened.enter_context(EventStore.of_run(folder)))
    return runs


def _names(folders: Sequence[Path]) -> list[str]:
    """Name each run by its folder."""
    names = [folder.resolve().name for folder in folders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise CommandError(f"two of the run folders are named {twice!r}; rename one, or review them one by one")
    return names


def _url(settings: ServeSettings, access: Access, port: int) -> str:
    scheme = "https" if settings.tls_cert else "http"
    host = next(iter(settings.public_hosts), settings.host)
    host = f"[{host}]" if ":" in host else host
    base = f"{scheme}://{host}:{port}"
    if settings.users:
        return f"{base}/enter"
    [token] = access.tokens.values()
    return f"{base}/enter?token={token}"
