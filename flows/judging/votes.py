"""Put the readings of flaws to other readers, and keep their ballots."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict
from agenthard.audit.judge.aggregate.readings import Votes, ballot_of, read_votes, to_vote_on, voters
from agenthard.audit.judge.settings import JudgeSettings
from agenthard.audit.readings.outcome import Ballot
from agenthard.flows.errors import FATAL
from agenthard.flows.judging.session import Attempts, Session, ask, internal_error
from agenthard.flows.judging.store import AnswerStore, CastBallot, Question
from agenthard.flows.judging.workers import PreparationError


class OpenBallot(NamedTuple):
    """A ballot that is to be cast."""

    task_id: str
    """Task."""
    issue: PanelIssue
    """The flaw, with its readings."""
    judge: str
    """Who is to read them."""
    number: int
    """Number of the ballot of this judge, from 0."""
    failed_attempts: int
    """Failed attempts of earlier runs."""

    @property
    def question(self) -> Question:
        """The question, as the ledger names it."""
        return Question(self.task_id, self.judge, self.number, votes_on=self.issue.category)


class VoteCollector:
    """Asks for the missing ballots on the readings that their trials bear out."""

    def __init__(self, session: Session) -> None:
        """Prepare the collection; nothing is asked yet."""
        self._session = session

    async def run(self, open_: Iterable[OpenBallot]) -> None:
        """Ask for these ballots."""
        if not self._session.stopped:
            await self._session.for_each(list(open_), self._ask)

    async def _ask(self, open_: OpenBallot) -> None:
        session, question = self._session, open_.question
        try:
            prompt = await session.worker.ballot(open_.task_id, open_.issue, open_.judge, open_.number)
            judges, failed = session.settings.judges, open_.failed_attempts
            attempts = await session.ask(
                lambda: ask(session.model, question, prompt, judges, read_votes, failed_attempts=failed)
            )
            if attempts is not None:
                self._store(open_, attempts)
        except FATAL:
            raise
        except PreparationError as error:
            session.store.add_ballot(_cast(open_, error=str(error)))
        except Exception as error:  # noqa: BLE001 - an unexpected answer must not end the other questions
            session.store.add_ballot(_cast(open_, error=internal_error(error).message))

    def _store(self, open_: OpenBallot, attempts: Attempts[Votes]) -> None:
        readings, reader = open_.issue.best.readings, f"{open_.judge}, ballot {open_.number + 1}"
        cast = _cast(open_, error=f"{attempts.error.kind}: {attempts.error.message}" if attempts.error else "")
        if attempts.value is not None and readings is not None:
            cast = cast.model_copy(update={"ballot": ballot_of(readings, reader, open_.number, attempts.value)})
        known = {"digest": attempts.request.digest, "attempts": attempts.count}
        cast = cast.model_copy(update={**known, "usage": attempts.usage, "cost": attempts.cost})
        self._session.store.add_ballot(cast)


def _cast(open_: OpenBallot, error: str) -> CastBallot:
    return CastBallot(
        task_id=open_.task_id,
        category=open_.issue.category,
        readings=readings_hash(open_.issue),
        judge=open_.judge,
        number=open_.number,
        ballot=None,
        error=error,
        attempts=open_.failed_attempts,
    )


def open_ballots_on(panel: PanelVerdict, settings: JudgeSettings, store: AnswerStore, retry: bool) -> list[OpenBallot]:
    """List the ballots on the readings of a task that are missing; failed ones too where they are tried again.

    Args:
        panel: the aggregate verdict on the task.
        settings: the panel.
        store: the answers.
        retry: whether errors of earlier runs are asked again.
    """
    cast = {(each.category, each.readings, each.judge, each.number): each for each in store.ballots(panel.task_id)}
    found = []
    for issue in to_vote_on(panel):
        for judge, number in voters(settings, issue):
            earlier = cast.get((issue.category, readings_hash(issue), judge, number))
            if earlier is None or (retry and earlier.error):
                found.append(OpenBallot(panel.task_id, issue, judge, number, earlier.attempts if earlier else 0))
    return found


def ballots_on(panel: PanelVerdict, store: AnswerStore) -> Mapping[str, list[Ballot]]:
    """Return the ballots on the readings that a panel reports now, by category."""
    current = {(issue.category, readings_hash(issue)) for issue in to_vote_on(panel)}
    found: dict[str, list[Ballot]] = {}
    for cast in store.ballots(panel.task_id) if current else ():
        if (cast.category, cast.readings) in current and cast.ballot is not None:
            found.setdefault(cast.category, []).append(cast.ballot)
    return found


def readings_hash(issue: PanelIssue) -> str:
    """Hash the readings of a flaw: votes count for exactly these."""
    readings = issue.best.readings.trials if issue.best.readings else ()
    text = "\n".join(trial.reading.model_dump_json() for trial in readings)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
