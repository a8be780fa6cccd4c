"""A person sends verdicts to a review while its server is killed, its database is gone, or the connection is cut."""

import json
import random
import shutil
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from uuid import UUID

import httpx

from agenthard.flows.demo import write_demo
from agenthard.flows.review.store import EventStore, store_url
from perf.faults.faults import FULL, small_disk, why_no_disk
from perf.faults.row import Row
from perf.faults.scenarios import Given
from perf.faults.wire import Wire
from tests.flows.audits import audit_by_steps
from tests.flows.review.postgresql import PostgresServer, program, running_server
from tests.flows.review.web.served import Client, Process, users_file, verdict

TASKS = tuple(f"parcels/{number}" for number in range(1, 12))
MOST_BEFORE = 4
"""Most verdicts that are sent before the next fault."""
TRIES = 40
WAIT = 0.25
"""Seconds between two tries: ten seconds for a database to come back."""
_NAMES = count()


class Reviewer:
    """Sends verdicts to a server, each until it is stored."""

    def __init__(self, run: Path, home: Path, store: str | None, rng: random.Random) -> None:
        self.run, self.store, self.rng = run, store, rng
        options = ("--store", store) if store else ()
        self.server = Process(run, home, "--users", str(users_file(home)), *options)
        self.client = Client(self.server, "ben")
        self.sent: list[dict[str, Any]] = []
        self.refused: Counter[int] = Counter()

    def next_event(self) -> dict[str, Any]:
        """A verdict with an id that the seed determines."""
        event = verdict(self.rng.choice(TASKS), flaw=self.rng.choice(("yes", "no")))
        event["id"] = str(UUID(int=self.rng.getrandbits(128), version=4))
        self.sent.append(event)
        return event

    def send(self, event: dict[str, Any], problems: Callable[[str], None]) -> None:
        """Send an event until the server says that it is stored."""
        for _ in range(TRIES):
            with suppress(httpx.TransportError):
                answer = self.client.send(event)
                if answer.status_code == 200:
                    return
                self.refused[answer.status_code] += 1
                if answer.status_code < 500:
                    problems(f"refused with {answer.status_code}: {answer.text[:200]}")
                    return
            time.sleep(WAIT)
        problems(f"not stored after {TRIES} tries; {dict(self.refused)}")

    def restart(self) -> None:
        """Start the server again after it was killed."""
        self.server.start()
        self.client.http.close()
        self.client = Client(self.server, "ben")

    def stored(self) -> list[dict[str, Any]]:
        """All events in the store, without their time."""
        with EventStore(self.store or store_url(self.run)) as store:
            return [event.model_dump(mode="json", exclude={"at"}) for event in store.since()]

    def stop(self, row: Row) -> None:
        """Stop the server as a person does."""
        self.client.http.close()
        code = self.server.stop()
        row.note(f"the server ended with {code}" if code else "")


class Fault(NamedTuple):
    """A fault of a review."""

    name: str
    strike: Callable[[Reviewer], None]
    """Comes while an event is being sent."""
    recover: Callable[[Reviewer], None]
    """Comes after it."""


def reviews(given: Given) -> Iterator[Row]:
    """Reviews with their events in SQLite and in PostgreSQL."""
    audited = _audited(given.folder)
    half = given.kills // 2
    kill = Fault("SIGKILL", lambda each: each.server.kill(), Reviewer.restart)
    impatient = Fault("connection cut", lambda each: None, _be_patient)
    if given.kills > half:
        yield _review(given, audited, "SQLite", None, kill, given.kills - half)
    if given.faults:
        yield _review(given, audited, "SQLite", None, impatient, given.faults)
        yield _on_a_full_disk(given, audited)
    if program("initdb") is None or program("pg_ctl") is None:
        yield Row("review", "PostgreSQL", "all", not_run="PostgreSQL is not installed")
        return
    with running_server() as database, tempfile.TemporaryDirectory(prefix="ah-wire-") as folder:
        Path(folder).chmod(0o755)
        wire = Wire(database.folder / ".s.PGSQL.5432", Path(folder) / ".s.PGSQL.5432")
        try:
            if half:
                yield _review(given, audited, "PostgreSQL", _database(database), kill, half)
            for fault in _database_faults(database, wire) if given.faults else ():
                url = _database(database, Path(folder) if fault.name == "connection cut" else None)
                yield _review(given, audited, "PostgreSQL", url, fault, given.faults)
        finally:
            wire.close()


def _database_faults(database: PostgresServer, wire: Wire) -> Iterator[Fault]:
    others = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = 'review'"
    )
    yield Fault("backend ended", lambda each: database.execute(others), lambda each: None)
    yield Fault("server gone", lambda each: database.stop("immediate"), lambda each: database.start())
    yield Fault("connection cut", lambda each: wire.cut(), lambda each: None)


def _database(server: PostgresServer, folder: Path | None = None) -> str:
    name = f"review_{next(_NAMES)}"
    server.new_database(name)
    return server.url(name, folder)


def _be_patient(reviewer: Reviewer) -> None:
    reviewer.client.http.timeout = httpx.Timeout(60)


def _audited(folder: Path) -> Path:
    from agenthard.flows.audit_plan import AuditSettings

    write_demo(folder / "bench")
    audit_by_steps(AuditSettings(source="native", path=str(folder / "bench"), out=str(folder / "demo")))
    return folder / "demo"


def _home(given: Given, audited: Path) -> tuple[Path, Path]:
    home = given.folder / f"home-{next(_NAMES)}"
    shutil.copytree(audited, home / "demo")
    return home, home / "demo"


def _review(given: Given, audited: Path, store: str, url: str | None, fault: Fault, faults: int) -> Row:
    """Send verdicts, and let faults come while some of them are being sent; compare with an undisturbed review."""
    row = Row("review", store, fault.name)
    home, run = _home(given, audited)
    reviewer = Reviewer(run, home, url, given.rng)
    for _ in range(faults):
        for _ in range(given.rng.randint(0, MOST_BEFORE)):
            reviewer.send(reviewer.next_event(), row.note)
        event, delay = reviewer.next_event(), given.rng.uniform(0.0, 0.02)
        if fault.name == "connection cut" and store == "SQLite":
            reviewer.client.http.timeout = httpx.Timeout(max(0.0005, delay / 2))
        striking = threading.Timer(delay, fault.strike, [reviewer])
        striking.start()
        with suppress(httpx.TransportError):
            code = reviewer.client.send(event).status_code
            row.note("" if code == 200 or code >= 500 else f"{code}: the page would not send this verdict again")
        striking.join()
        row.injected += 1
        fault.recover(reviewer)
        reviewer.send(event, row.note)
    _compare(given, audited, reviewer, row)
    return row


def _on_a_full_disk(given: Given, audited: Path) -> Row:
    """The disk of the run folder becomes full while verdicts are sent, and gets room again."""
    row = Row("review", "SQLite", FULL, not_run=why_no_disk())
    if row.not_run:
        return row
    home = given.folder / f"home-{next(_NAMES)}"
    with small_disk(home / "disk", 64 * 1024**2) as disk:
        shutil.copytree(audited, disk / "demo")
        reviewer = Reviewer(disk / "demo", home, None, given.rng)
        for _ in range(given.faults):
            for _ in range(given.rng.randint(1, MOST_BEFORE)):
                reviewer.send(reviewer.next_event(), row.note)
            _fill(disk / "filler")
            while (answer := reviewer.client.send(event := reviewer.next_event())).status_code == 200:
                pass  # there was still room in the pages that the store had
            row.injected += 1
            full = answer.status_code >= 500 and "full" in answer.text
            row.note("" if full else f"a full disk: {answer.status_code}: {answer.text[:200]}")
            (disk / "filler").unlink()
            reviewer.send(event, row.note)
        _compare(given, audited, reviewer, row)
    return row


def _fill(file: Path) -> None:
    with suppress(OSError), file.open("wb", buffering=0) as stream:
        while True:
            stream.write(bytes(4096))


def _compare(given: Given, audited: Path, reviewer: Reviewer, row: Row) -> None:
    """Compare the store with that of a review that got the same verdicts undisturbed."""
    reviewer.stop(row)
    home, run = _home(given, audited)
    calm = Reviewer(run, home, None, given.rng)
    for event in reviewer.sent:
        calm.send(event, row.note)
    calm.stop(row)
    found, expected = reviewer.stored(), calm.stored()
    ids = Counter(event["id"] for event in found)
    row.lost += len({event["id"] for event in reviewer.sent} - ids.keys())
    row.doubled += ids.total() - len(ids) + len(ids.keys() - {event["id"] for event in reviewer.sent})
    row.compare({"events": json.dumps(expected)}, {"events": json.dumps(found)})
