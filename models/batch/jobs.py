"""The batches of a run and their requests, on disk before anything is sent."""

from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from agenthard.models.storage import Database
from agenthard.taxonomy.record import Record

JobState = Literal["new", "submitted", "fetched", "failed"]
"""new: prepared, perhaps sent; submitted: the provider has it; fetched: its answers are in the cache;
failed: the provider refused the whole batch."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    tag TEXT PRIMARY KEY, model TEXT NOT NULL, batch TEXT, state TEXT NOT NULL, words TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS members (
    tag TEXT NOT NULL, digest TEXT NOT NULL, outcome TEXT, PRIMARY KEY (tag, digest)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS members_of_digest ON members (digest);
"""


class Job(Record):
    """A batch."""

    tag: str
    """Our name of the batch, which the provider stores with it."""
    model: str
    """Full name of the model."""
    batch: str | None
    """The provider's id; None while it is unknown whether the batch was sent."""
    state: JobState
    """State of the batch."""
    message: str
    """State that the provider reported last, in its words."""


class JobStore:
    """The batches of one run folder."""

    def __init__(self, path: Path) -> None:
        """Open or create the file.

        Raises:
            ConfigurationError: It cannot be opened.
        """
        self._database = Database(path, SCHEMA, version=1)

    def begin(self, tag: str, model: str, digests: Iterable[str]) -> None:
        """Record a batch that is about to be sent, with the digests of its requests."""
        with self._database.write() as connection:
            connection.execute("INSERT INTO jobs (tag, model, state) VALUES (?, ?, 'new')", (tag, model))
            connection.executemany("INSERT INTO members (tag, digest) VALUES (?, ?)", [(tag, d) for d in digests])

    def change(self, tag: str, state: JobState, message: str = "", batch: str | None = None) -> None:
        """Record the state of a batch."""
        with self._database.write() as connection:
            connection.execute(
                "UPDATE jobs SET state = ?, words = ?, batch = coalesce(?, batch) WHERE tag = ?",
                (state, message, batch, tag),
            )

    def drop(self, tag: str, digest: str) -> None:
        """Remove a request from a batch that was not sent yet."""
        with self._database.write() as connection:
            connection.execute("DELETE FROM members WHERE tag = ? AND digest = ?", (tag, digest))

    def end(self, tag: str, outcomes: Iterable[tuple[str, str]]) -> None:
        """Record the outcomes of requests: pairs of digest and ``answered`` or the name of an error."""
        with self._database.write() as connection:
            connection.executemany(
                "UPDATE members SET outcome = ? WHERE tag = ? AND digest = ?",
                [(outcome, tag, digest) for digest, outcome in outcomes],
            )

    def jobs(self) -> list[Job]:
        """Return all batches, in the order of their tags."""
        rows = self._database.read("SELECT tag, model, batch, state, words FROM jobs ORDER BY tag")
        return [Job(**dict(zip(Job.model_fields, row, strict=True))) for row in rows]

    def members(self, tag: str) -> dict[str, str | None]:
        """Return the outcomes of the requests in a batch by digest; None while there is none."""
        return dict(self._database.read("SELECT digest, outcome FROM members WHERE tag = ? ORDER BY digest", (tag,)))

    def under_way(self) -> set[str]:
        """Return the digests of requests in batches that are neither fetched nor failed."""
        rows = self._database.read(
            "SELECT digest FROM members JOIN jobs USING (tag) WHERE state IN ('new', 'submitted') AND outcome IS NULL"
        )
        return {digest for (digest,) in rows}

    def errors(self, digest: str) -> list[str]:
        """Return the names of the errors of a request, in the order of the tags of its batches."""
        rows = self._database.read(
            "SELECT outcome FROM members WHERE digest = ? AND outcome <> 'answered' ORDER BY tag", (digest,)
        )
        return [outcome for (outcome,) in rows]

    def close(self) -> None:
        """Close the file."""
        self._database.close()
