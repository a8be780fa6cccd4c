"""The episodes of a run folder, in one SQLite file that several processes write to.

An attempt is one row, written in one transaction under a unique key, so a killed process loses no finished attempt and
stores none twice. Trajectories are compressed and never all in memory.

A worker claims episodes under its name, and holds a file lock that the operating system releases when it ends. So
neither a clock nor a process id is needed to find the claims of a killed process.
"""

import json
import zlib
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from agenthard.flows.evaluation.episodes import Episode, EpisodeAttempt, Selection, TaskFacts
from agenthard.models.storage import Database
from agenthard.play.chain import Part
from agenthard.taxonomy.trajectory import Trajectory

_SCHEMA = """
CREATE TABLE IF NOT EXISTS tasks (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, task_group TEXT NOT NULL, facts TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS attempts (
    agent TEXT NOT NULL, task_id TEXT NOT NULL, failure_rate REAL NOT NULL, trial INTEGER NOT NULL,
    variant TEXT NOT NULL,
    number INTEGER NOT NULL, status TEXT NOT NULL, status_reason TEXT NOT NULL, ending TEXT, score REAL, passed INTEGER,
    usage TEXT NOT NULL, seconds REAL NOT NULL, trajectory BLOB NOT NULL,
    PRIMARY KEY (agent, task_id, failure_rate, trial, variant, number)
);
CREATE TABLE IF NOT EXISTS claims (
    agent TEXT NOT NULL, task_id TEXT NOT NULL, failure_rate REAL NOT NULL, trial INTEGER NOT NULL,
    variant TEXT NOT NULL, worker TEXT NOT NULL, PRIMARY KEY (agent, task_id, failure_rate, trial, variant)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS parts (
    agent TEXT NOT NULL, task_id TEXT NOT NULL, failure_rate REAL NOT NULL, trial INTEGER NOT NULL,
    variant TEXT NOT NULL, number INTEGER NOT NULL, position INTEGER NOT NULL, trajectory BLOB NOT NULL, record BLOB,
    PRIMARY KEY (agent, task_id, failure_rate, trial, variant, number, position)
);
CREATE TABLE IF NOT EXISTS journal (
    agent TEXT NOT NULL, task_id TEXT NOT NULL, failure_rate REAL NOT NULL, trial INTEGER NOT NULL,
    variant TEXT NOT NULL, position INTEGER NOT NULL, entry BLOB NOT NULL,
    PRIMARY KEY (agent, task_id, failure_rate, trial, variant, position)
);
CREATE TABLE IF NOT EXISTS places (
    agent TEXT NOT NULL, task_id TEXT NOT NULL, failure_rate REAL NOT NULL, trial INTEGER NOT NULL,
    variant TEXT NOT NULL, place TEXT NOT NULL, PRIMARY KEY (agent, task_id, failure_rate, trial, variant)
) WITHOUT ROWID;
"""
_EPISODE = "agent, task_id, failure_rate, trial, variant"
_ATTEMPT = f"{_EPISODE}, number"
_KEY = "agent = ? AND task_id = ? AND failure_rate = ? AND trial = ? AND variant = ?"
_ROW = f"{_ATTEMPT}, status, status_reason, ending, score, passed, usage, seconds"
_RETRIED = "status = 'infrastructure_error' AND coalesce(ending, '') <> 'unplayable'"
_EPISODES = f"SELECT {_EPISODE} FROM attempts WHERE {{}} GROUP BY {_EPISODE}"
_FINAL = f"sum(NOT ({_RETRIED})) > 0 OR count(*) >= ?"


class EpisodeStore:
    """Attempts, tasks and claims of one run folder; several processes may have it open.

    Every method raises StorageError when the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            ConfigurationError: It cannot be opened.
        """
        self._database = Database(path, _SCHEMA, version=2)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def add_tasks(self, tasks: Iterable[TaskFacts]) -> None:
        """Store the tasks of the run in their order; existing ones are not changed."""
        rows = ((n, task.id, task.group, json.dumps(task.facts, sort_keys=True)) for n, task in enumerate(tasks))
        with self._database.write() as connection:
            connection.executemany("INSERT INTO tasks VALUES (?, ?, ?, ?) ON CONFLICT (position) DO NOTHING", rows)

    def tasks(self) -> Iterator[TaskFacts]:
        """Read the tasks in their order."""
        for id, group, facts in self._database.read("SELECT id, task_group, facts FROM tasks ORDER BY position"):
            yield TaskFacts(id=id, group=group, facts=json.loads(facts))

    def claim(self, episodes: Iterable[Episode], worker: str, max_attempts: int) -> list[tuple[Episode, int]]:
        """Claim the episodes that are neither settled nor claimed by another worker.

        Args:
            episodes: Episodes to claim.
            worker: Name of the worker.
            max_attempts: Maximum attempts at an episode that ends in infrastructure errors.

        Returns:
            The claimed episodes, each with the number of its next attempt.
        """
        claimed = []
        with self._database.write() as connection:
            for episode in episodes:
                row = connection.execute(
                    f"SELECT count(*), coalesce(sum(NOT ({_RETRIED})), 0) FROM attempts WHERE {_KEY}", episode
                ).fetchone()
                if row[1] or row[0] >= max_attempts:
                    continue
                added = connection.execute(
                    f"INSERT INTO claims VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT ({_EPISODE}) DO NOTHING",
                    (*episode, worker),
                )
                if added.rowcount:
                    claimed.append((episode, int(row[0])))
        return claimed

    def add(self, episode: Episode, attempt: EpisodeAttempt) -> None:
        """Store an attempt with its parts and release its episode; an existing attempt is not replaced.

        The journal of an episode that needs no further attempt is removed.
        """
        run = attempt.trajectory
        blob = _packed(run.model_dump_json())
        usage = json.dumps(run.usage, sort_keys=True)
        passed = None if run.passed is None else int(run.passed)
        row = (*episode, attempt.number, run.status, run.status_reason, run.ending, run.score, passed, usage)
        with self._database.write() as connection:
            marks = ", ".join("?" * 14)
            insert = f"INSERT INTO attempts VALUES ({marks}) ON CONFLICT ({_ATTEMPT}) DO NOTHING"
            added = connection.execute(insert, (*row, attempt.seconds, blob)).rowcount
            if added:
                parts = (
                    (*episode, attempt.number, position, _packed(part.trajectory.model_dump_json()), _record(part))
                    for position, part in enumerate(attempt.parts)
                )
                connection.executemany(f"INSERT INTO parts VALUES ({', '.join('?' * 9)})", parts)
            if run.status != "infrastructure_error":
                connection.execute(f"DELETE FROM journal WHERE {_KEY}", episode)
            connection.execute(f"DELETE FROM claims WHERE {_KEY}", episode)
            connection.execute(f"DELETE FROM places WHERE {_KEY}", episode)

    def be_at(self, episode: Episode, place: str) -> None:
        """Note where a running episode is, for those who watch."""
        with self._database.write() as connection:
            connection.execute("INSERT OR REPLACE INTO places VALUES (?, ?, ?, ?, ?, ?)", (*episode, place))

    def places(self) -> list[tuple[str, str]]:
        """Read where the running episodes are, each with its agent."""
        query = f"SELECT agent, place FROM places JOIN claims USING ({_EPISODE}) ORDER BY {_EPISODE}"
        return [(str(agent), str(place)) for agent, place in self._database.read(query)]

    def release_episode(self, episode: Episode) -> None:
        """Release an episode that was claimed and not played."""
        with self._database.write() as connection:
            connection.execute(f"DELETE FROM claims WHERE {_KEY}", episode)

    def release(self, worker: str) -> None:
        """Release all episodes that a worker claimed and did not finish."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM claims WHERE worker = ?", (worker,))

    def claimants(self) -> list[str]:
        """Return the names of the workers with claims."""
        return [name for (name,) in self._database.read("SELECT DISTINCT worker FROM claims ORDER BY worker")]

    def settled(self, selection: Selection, max_attempts: int) -> int:
        """Count the episodes of a selection that need no further attempt."""
        chosen, values = _chosen(selection)
        query = f"SELECT count(*) FROM ({_EPISODES.format(chosen)} HAVING {_FINAL})"
        return int(self._database.read(query, (*values, max_attempts))[0][0])

    def settled_episodes(self, max_attempts: int) -> Iterator[Episode]:
        """Read the episodes that need no further attempt."""
        for row in self._database.read(f"{_EPISODES.format('TRUE')} HAVING {_FINAL}", (max_attempts,)):
            yield Episode(*row)

    def scored(self, selection: Selection) -> int:
        """Count the episodes of a selection that have a verdict."""
        chosen, values = _chosen(selection)
        verdicts = _EPISODES.format(f"{chosen} AND status NOT IN ('infrastructure_error', 'judge_error')")
        return int(self._database.read(f"SELECT count(*) FROM ({verdicts})", values)[0][0])

    def reasons(self, selection: Selection) -> list[tuple[str, int]]:
        """Count why attempts of a selection ended in infrastructure errors, the most frequent reason first."""
        chosen, values = _chosen(selection)
        query = (
            f"SELECT status_reason, count(*) AS n FROM attempts WHERE {chosen} "
            "AND status = 'infrastructure_error' GROUP BY status_reason ORDER BY n DESC, status_reason"
        )
        return [(str(reason), int(count)) for reason, count in self._database.read(query, values)]

    def rows(self) -> Iterator[dict[str, Any]]:
        """Read all attempts without their trajectories, by task, agent, rate, variant, trial and number."""
        names = [name.strip() for name in _ROW.split(",")]
        query = (
            f"SELECT {_ROW} FROM attempts JOIN tasks ON tasks.id = task_id "
            "ORDER BY position, agent, failure_rate, variant, trial, number"
        )
        for row in self._database.read(query):
            yield dict(zip(names, row, strict=True))

    def journal(self, episode: Episode) -> "EpisodeJournal":
        """Return the journal of an episode, which outlives a kill."""
        return EpisodeJournal(self._database, episode)

    def trajectories(self) -> Iterator[tuple[Episode, Trajectory]]:
        """Read the last attempt of each episode, in the same order; where it has parts, these."""
        for key in self._last_attempts():
            episode = Episode(*key[:-1])
            query = f"SELECT trajectory FROM parts WHERE {_KEY} AND number = ? ORDER BY position"
            blobs = self._database.read(query, key) or self._database.read(
                f"SELECT trajectory FROM attempts WHERE {_KEY} AND number = ?", key
            )
            for (blob,) in blobs:
                yield episode, Trajectory.model_validate_json(zlib.decompress(blob))

    def records(self) -> Iterator[bytes]:
        """Read what benchmarks keep of the parts of the last attempts besides their runs, each as a JSON text."""
        for key in self._last_attempts():
            query = f"SELECT record FROM parts WHERE {_KEY} AND number = ? AND record IS NOT NULL ORDER BY position"
            for (blob,) in self._database.read(query, key):
                yield zlib.decompress(blob)

    def _last_attempts(self) -> list[tuple[Any, ...]]:
        keys = (
            f"SELECT {_EPISODE}, max(number) FROM attempts JOIN tasks ON tasks.id = task_id "
            f"GROUP BY {_EPISODE} ORDER BY position, agent, failure_rate, variant, trial"
        )
        return self._database.read(keys)


class EpisodeJournal:
    """The journal of one episode, in the file of its run folder (agenthard.play.journal.Journal)."""

    def __init__(self, database: Database, episode: Episode) -> None:
        self._database, self._episode = database, episode

    def entries(self) -> list[bytes]:
        """Return all entries."""
        rows = self._database.read(f"SELECT entry FROM journal WHERE {_KEY} ORDER BY position", self._episode)
        return [zlib.decompress(entry) for (entry,) in rows]

    def append(self, entry: bytes) -> None:
        """Add an entry; it is on disk when this returns."""
        following = f"(SELECT coalesce(max(position), -1) + 1 FROM journal WHERE {_KEY})"
        with self._database.write() as connection:
            connection.execute(
                f"INSERT INTO journal VALUES (?, ?, ?, ?, ?, {following}, ?)",
                (*self._episode, *self._episode, zlib.compress(entry, 3)),
            )


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8"), 3)


def _record(part: Part) -> bytes | None:
    return None if part.record is None else _packed(json.dumps(part.record, ensure_ascii=False))


def _chosen(selection: Selection) -> tuple[str, tuple[Any, ...]]:
    """Return an SQL condition on attempts, and its values."""
    chosen = (selection.agents, selection.failure_rates, selection.variants)
    agents, rates, variants = (", ".join("?" * len(names)) for names in chosen)
    condition = f"agent IN ({agents}) AND failure_rate IN ({rates}) AND variant IN ({variants}) AND trial < ?"
    return condition, (*chain(*chosen), selection.trials)
