"""Where events are kept: one table in SQLite or PostgreSQL, which is only ever added to.

An event is stored once `append` returns: it survives ``kill -9`` and, as far as the disk keeps its word, a power cut.
Appends are serialised, so the order of ``seq`` is the order in which readers see events appear.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from agenthard.flows.errors import InfrastructureError
from agenthard.flows.review.events import Event, Key, ReviewError, UndoData
from agenthard.flows.review.state import ReviewState
from agenthard.taxonomy.errors import MissingExtraError

FILE: Final = "review.db"
"""File of the store within a run folder."""
HEAD: Final = "0001"
"""Version of the table that this code reads and writes: the last one in ``migrations/versions``."""
BUSY_SECONDS: Final = 60
"""How long a writer waits for another process that writes into the same SQLite file."""
_LOCK: Final = 0x4167_4861_7264
"""Key of the PostgreSQL advisory lock that serialises appends and migrations."""
_BATCH: Final = 1000

_AS_THEY_ARE: Final = ("seq", "by", "run", "kind", "target", "target_id", "content_hash")
"""Columns that hold fields of an event unchanged."""
_EVENTS = sa.Table(
    "review_events",
    sa.MetaData(),
    sa.Column("seq", sa.BigInteger(), primary_key=True, autoincrement=False),
    *(sa.Column(name, sa.Text()) for name in ("id", "at", "by", "run", "kind", "target")),
    *(sa.Column(name, sa.Text()) for name in ("target_id", "content_hash", "data")),
)


def store_url(run: Path) -> str:
    """Return the URL of the SQLite store of a run folder."""
    return f"sqlite:///{(run / FILE).resolve()}"


class EventStore:
    """The events of one or several reviews."""

    def __init__(self, url: str) -> None:
        """Open a store; its table is made, or brought to the current version, when it is not.

        Args:
            url: ``sqlite:///FILE`` or ``postgresql://USER@HOST/DATABASE``.

        Raises:
            ReviewError: the URL is not one of these.
            MissingExtraError: the driver for PostgreSQL is not installed.
            InfrastructureError: the database cannot be opened, or a newer AgentHard has changed it.
        """
        self._engine = _engine(url)
        self._turn = Lock()
        self._name = self._engine.url.render_as_string(hide_password=True)
        with self._failing("opened"):
            self._migrate()

    @classmethod
    def of_run(cls, run: Path) -> "EventStore":
        """Open the SQLite store of a run folder."""
        return cls(store_url(run))

    def __enter__(self) -> "EventStore":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def append(self, events: Sequence[Event]) -> list[Event]:
        """Store events in one transaction: all or none.

        Args:
            events: events in order; ``seq`` is given by the store. One whose id is stored already is not stored again.

        Returns:
            The events as they are stored, in the order of the arguments.

        Raises:
            ReviewError: an id belongs to a different event, or an undo names an event that is not of the same item.
            InfrastructureError: the database cannot be written.
        """
        if not events:
            return []
        with self._failing("written"), self._write() as connection:
            known = _by_id(connection, [str(event.id) for event in events])
            last = _last(connection)
            new = list[Event]()
            for event in events:
                stored = known.get(str(event.id))
                if stored is None:
                    _require_target(connection, event, known)
                    new.append(event.model_copy(update={"seq": last + len(new) + 1}))
                    known[str(event.id)] = new[-1]
                elif stored != event.model_copy(update={"seq": stored.seq}):
                    raise ReviewError(f"event {event.id}: another event with this id is stored; give each a new UUID")
            if new:
                connection.execute(sa.insert(_EVENTS), list(map(_row, new)))
            return [known[str(event.id)] for event in events]

    def since(self, seq: int = 0, run: str | None = None) -> Iterator[Event]:
        """Yield the events behind a place, in order.

        Args:
            seq: place of the last event that is known; 0 = from the start.
            run: name of the audit; None = all.

        Raises:
            InfrastructureError: the database cannot be read.
        """
        wanted = sa.select(_EVENTS).order_by(_EVENTS.c.seq).limit(_BATCH)
        wanted = wanted.where(_EVENTS.c.run == run) if run is not None else wanted
        while True:
            with self._failing("read"), self._engine.begin() as connection:
                rows = connection.execute(wanted.where(_EVENTS.c.seq > seq)).mappings().all()
            yield from map(_event, rows)
            if len(rows) < _BATCH:
                return
            seq = rows[-1]["seq"]

    def state(self, run: str | None = None, contents: Mapping[Key, str] | None = None) -> ReviewState:
        """Fold the events of a run.

        Args:
            run: name of the audit; None = all.
            contents: hash of each task and finding as it is now; see `ReviewState`.
        """
        return ReviewState(self.since(0, run), contents)

    def last(self) -> int:
        """Return the place of the last event; 0 when there is none."""
        with self._failing("read"), self._engine.begin() as connection:
            return _last(connection)

    def runs(self) -> list[str]:
        """Return the names of the audits that have events, sorted."""
        with self._failing("read"), self._engine.begin() as connection:
            return sorted(connection.execute(sa.select(_EVENTS.c.run).distinct()).scalars())

    @contextmanager
    def _write(self) -> Iterator[sa.Connection]:
        """Begin a transaction that no other writer overlaps with.

        Threads of this process wait for their turn here: SQLite lets those that wait sleep, for ever longer.
        """
        with self._turn, self._engine.connect().execution_options(write=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            yield connection

    @contextmanager
    def _failing(self, what: str) -> Iterator[None]:
        try:
            yield
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
            raise InfrastructureError(f"{self._name}: the review store cannot be {what}: {reason}") from error

    def _migrate(self) -> None:
        with self._engine.begin() as connection:
            if _version(connection) == HEAD:
                return
        with self._write() as connection:
            version = _version(connection)
            if version is not None and version > HEAD:
                raise InfrastructureError(
                    f"{self._name}: the review store has version {version}, and this AgentHard knows {HEAD}; "
                    "update AgentHard"
                )
            if version != HEAD:
                _upgrade(connection)


def _engine(url: str) -> sa.Engine:
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise ReviewError(f"{_unnamed(url)}: {_WANTED}") from None
    if parsed.get_backend_name() == "sqlite":
        return _sqlite(parsed)
    if parsed.get_backend_name() not in ("postgresql", "postgres"):
        raise ReviewError(f"{parsed.render_as_string(hide_password=True)}: {_WANTED}")
    try:
        return sa.create_engine(parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True)
    except ImportError:
        raise MissingExtraError("a review in PostgreSQL", "postgresql") from None


_WANTED = "not the URL of a review store; give sqlite:///FILE or postgresql://USER@HOST/DATABASE"


def _unnamed(url: str) -> str:
    """Return what is shown of a text that is not a URL: it may hold a password."""
    return url if "@" not in url else f"…@{url.rpartition('@')[2]}"


def _sqlite(url: sa.URL) -> sa.Engine:
    if not url.database or url.database == ":memory:":
        raise ReviewError(f"{url}: a review needs a file: events in memory would be lost; give sqlite:///FILE")
    if not Path(url.database).parent.is_dir():
        raise ReviewError(f"{url.database}: the folder of the review store is not there")
    engine = sa.create_engine(url, connect_args={"timeout": BUSY_SECONDS})

    def connect(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # or sqlite3 would begin transactions itself, and too late
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")

    def begin(connection: sa.Connection) -> None:
        write = connection.get_execution_options().get("write", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if write else "BEGIN")

    sa.event.listen(engine, "connect", connect)
    sa.event.listen(engine, "begin", begin)
    return engine


def _version(connection: sa.Connection) -> str | None:
    if not sa.inspect(connection).has_table("review_version"):
        return None
    found: str | None = connection.execute(sa.text("SELECT version_num FROM review_version")).scalar()
    return found


def _upgrade(connection: sa.Connection) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _by_id(connection: sa.Connection, ids: Sequence[str]) -> dict[str, Event]:
    found: dict[str, Event] = {}
    for start in range(0, len(ids), _BATCH):
        rows = connection.execute(sa.select(_EVENTS).where(_EVENTS.c.id.in_(ids[start : start + _BATCH]))).mappings()
        found |= {row["id"]: _event(row) for row in rows}
    return found


def _require_target(connection: sa.Connection, event: Event, known: Mapping[str, Event]) -> None:
    """Check that an undo names a stored event of the same item."""
    if event.kind != "undo":
        return
    details = event.details
    assert isinstance(details, UndoData)
    named = str(details.event)
    target = known.get(named) or _by_id(connection, [named]).get(named)
    if target is None:
        raise ReviewError(f"event {event.id}: cannot undo {named}, which is not stored")
    if (target.run, target.key) != (event.run, event.key):
        raise ReviewError(f"event {event.id}: undoes {named}, which is about another item ({target.target_id})")


def _last(connection: sa.Connection) -> int:
    return connection.execute(sa.select(sa.func.max(_EVENTS.c.seq))).scalar() or 0


def _row(event: Event) -> dict[str, Any]:
    return {
        "id": str(event.id),
        "at": event.at.isoformat(),
        "data": json.dumps(event.data, sort_keys=True),
        **{name: getattr(event, name) for name in _AS_THEY_ARE},
    }


def _event(row: Mapping[Any, Any]) -> Event:
    return Event.model_validate({**row, "data": json.loads(row["data"])})
