"""The judges of a panel at work: collect verdicts, combine them into the aggregate verdict, put flaws to a defence.

Every answer is on disk as soon as it is checked.
"""

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict, combine
from agenthard.audit.judge.aggregate.readings import apply_votes
from agenthard.audit.judge.aggregate.rebuttal import Rebuttal, apply_rebuttals, defender, read_rebuttal, to_defend
from agenthard.audit.judge.aggregate.votes import PanelRates, error_rates
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.investigation.investigator import Investigator
from agenthard.audit.judge.settings import Judge, JudgeSettings
from agenthard.audit.judge.verdict import CheckedVerdict, Judged, JudgeError
from agenthard.flows.errors import FATAL
from agenthard.flows.judging.cascade import Cascade
from agenthard.flows.judging.prompts import PreparedPrompt
from agenthard.flows.judging.session import AskedVerdict, Attempts, Session, ask, ask_for_verdict, internal_error
from agenthard.flows.judging.store import Answer, AnswerStore, Defence, Question, questions_of, words_hash
from agenthard.flows.judging.votes import OpenBallot, ballots_on, open_ballots_on
from agenthard.flows.judging.workers import PreparationError
from agenthard.taxonomy.task import AgentTask


class VerdictCollector:
    """Asks the judges of the first tier about every task, and those of the second tier where the first requires it."""

    def __init__(self, session: Session, on_done: Callable[[str], None] = lambda task_id: None) -> None:
        """Prepare the collection; nothing is asked yet.

        Args:
            session: The run.
            on_done: Called with the id of each finished task.
        """
        self._session, self._on_done = session, on_done
        self._cascade = session.cascade
        self._first, self._second = self._cascade.first, self._cascade.second
        self._failed = session.store.failed() if session.settings.retry else {}

    async def run(self, task_ids: Iterable[str]) -> None:
        """Ask all questions about these tasks that have no answer yet."""
        await self._session.for_each(task_ids, self._judge)

    async def _judge(self, task_id: str) -> None:
        verdicts = _TaskVerdicts(self, task_id, self._session.store.of_task(task_id))
        await verdicts.ask(self._first)
        if self._second and verdicts.complete(self._first):
            if self._cascade.why_second(combine(verdicts.of(self._first), self._session.settings.judges)):
                await verdicts.ask(self._second)
        self._on_done(task_id)

    def is_open(self, question: Question, known: Answer | None) -> bool:
        """Tell whether a question is still to be asked: it has no answer, or its error is to be retried."""
        return known is None or question in self._failed

    async def ask(self, question: Question, prompt: PreparedPrompt) -> Answer | None:
        """Ask a question and store its answer; None when it was not sent."""
        session, failed = self._session, self._failed.get(question, 0)

        def tools() -> Investigator:
            return Investigator(session.task(question.task_id), prompt.material)

        try:
            asked = await session.ask(
                lambda: ask_for_verdict(session.model, question, prompt, session.settings.judges, tools, failed)
            )
            return None if asked is None else await self._store(asked, prompt)
        except FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - an unexpected answer must not end the other questions
            return self.store_error(question, internal_error(error), failed + 1)

    async def prompts(self, task_id: str) -> dict[str, PreparedPrompt] | JudgeError:
        """Write the prompts of a task, or return why they cannot be written."""
        try:
            return await self._session.worker.prepare(task_id)
        except PreparationError as error:
            return JudgeError(kind="prompt", message=f"no prompt could be written: {error}")

    def store_error(self, question: Question, error: JudgeError, attempts: int = 0) -> Answer:
        """Store the error of a question without a prompt, or of one whose answer our own code failed on."""
        judged = Judged(
            task_id=question.task_id, judge=question.judge, sample=question.sample, prompt_version="", error=error
        )
        checked = _failed(judged, f"{error.kind}: {error.message}")
        answer = Answer(judged=judged, checked=checked, digest="", attempts=attempts)
        self._session.store.add(answer)
        return answer

    async def _store(self, asked: AskedVerdict, prompt: PreparedPrompt) -> Answer:
        judged = asked.judged
        try:
            checked = await self._session.worker.check(judged, prompt.material)
        except PreparationError as error:
            checked = _failed(judged, f"the verdict could not be checked: {error}")
        answer = Answer(
            judged=judged,
            checked=checked,
            digest=asked.digest,
            attempts=asked.attempts,
            omitted=prompt.material.omitted,
            prompt=words_hash(prompt.request),
        )
        self._session.store.add(answer)
        return answer


class _TaskVerdicts:
    """The verdicts on one task."""

    def __init__(self, collector: VerdictCollector, task_id: str, known: dict[Question, Answer]) -> None:
        self._collector, self._task_id, self._answers = collector, task_id, known
        self._prompts: dict[str, PreparedPrompt] | JudgeError | None = None

    async def ask(self, judges: Sequence[Judge]) -> None:
        """Ask all open questions of these judges at the same time."""
        asked = [
            question
            for question in questions_of(self._task_id, judges)
            if self._collector.is_open(question, self._answers.get(question))
        ]
        if not asked:
            return
        if self._prompts is None:
            self._prompts = await self._collector.prompts(self._task_id)
        prompts = self._prompts
        if isinstance(prompts, JudgeError):
            self._answers |= {question: self._collector.store_error(question, prompts) for question in asked}
            return
        found = await asyncio.gather(*(self._collector.ask(q, prompts[q.judge]) for q in asked))
        self._answers |= {answer.question: answer for answer in found if answer is not None}

    def complete(self, judges: Sequence[Judge]) -> bool:
        """Tell whether every question of these judges has an answer."""
        return all(question in self._answers for question in questions_of(self._task_id, judges))

    def of(self, judges: Sequence[Judge]) -> list[CheckedVerdict]:
        """Return the verdicts of these judges, errors included."""
        return [self._answers[q].checked for q in questions_of(self._task_id, judges) if q in self._answers]


def _failed(judged: Judged, reason: str) -> CheckedVerdict:
    return CheckedVerdict(
        task_id=judged.task_id, judge=judged.judge, sample=judged.sample, outcome="error", reason=reason
    )


class PanelResult(NamedTuple):
    """The aggregate verdict on one task, before any defence."""

    task_id: str
    """Task."""
    panel: PanelVerdict | None
    """The aggregate verdict; None when no question about the task was answered."""
    answers: tuple[Answer, ...]
    """The answers that it combines: judges in the order of the panel, then samples."""
    planned: int
    """Number of questions about the task; those of the second tier count once the first tier requires them."""

    @property
    def complete(self) -> bool:
        """Whether every question has an answer."""
        return len(self.answers) == self.planned


def panel_rates(settings: JudgeSettings, store: AnswerStore) -> PanelRates | None:
    """Estimate the judges' error rates over all tasks, if the rules of the panel need them."""
    if settings.aggregation != "dawid_skene":
        return None
    return error_rates(answer.checked for answer in store.answers())


def panel_results(cascade: Cascade, store: AnswerStore, task_ids: Sequence[str]) -> Iterator[PanelResult]:
    """Combine the answers about each task, in the given order.

    Args:
        cascade: The panel, and when its second tier is asked.
        store: The answers.
        task_ids: All tasks.
    """
    settings = cascade.judges
    rates = panel_rates(settings, store)
    for task_id in task_ids:
        known = store.of_task(task_id)
        wanted = list(questions_of(task_id, cascade.first))
        opinions = [known[question].checked for question in wanted if question in known]
        why = cascade.why_second(combine(opinions, settings)) if len(opinions) == len(wanted) else ""
        if why:
            wanted = list(questions_of(task_id, settings.judges))
        answers = tuple(known[question] for question in wanted if question in known)
        panel = combine([answer.checked for answer in answers], settings, rates) if answers else None
        if panel is not None:
            panel = apply_votes(panel.model_copy(update={"escalated": why}), ballots_on(panel, store))
        yield PanelResult(task_id, panel, answers, len(wanted))


def open_ballots(session: Session, task_ids: Sequence[str]) -> Iterator[OpenBallot]:
    """Yield the ballots that are missing on the readings of some tasks, once all verdicts on a task are there."""
    judges = session.settings.judges
    for result in panel_results(session.cascade, session.store, task_ids):
        if result.panel is not None and result.complete:
            yield from open_ballots_on(result.panel, judges, session.store, session.settings.retry)


class OpenDefence(NamedTuple):
    """A flaw that a defence is to be asked for."""

    panel: PanelVerdict
    """The aggregate verdict on the task."""
    issue: PanelIssue
    """The flaw."""
    judge: str
    """Judge that defends the task."""
    failed_attempts: int
    """Failed attempts of earlier runs."""

    @property
    def question(self) -> Question:
        """The question, as the ledger names it."""
        return Question(self.panel.task_id, self.judge, 0, self.issue.category)


class DefenceCollector:
    """Asks for a defence against every flaw of flagged tasks, once all verdicts are there."""

    def __init__(self, session: Session) -> None:
        """Prepare the collection; nothing is asked yet."""
        self._session = session

    async def run(self, task_ids: Sequence[str]) -> None:
        """Ask for the missing defences of those tasks that the panel flags."""
        session = self._session
        if session.settings.judges.rebuttal and not session.stopped:
            found = panel_results(session.cascade, session.store, task_ids)
            await session.for_each(list(self._open(found)), self._defend)

    def _open(self, found: Iterable[PanelResult]) -> Iterator[OpenDefence]:
        settings = self._session.settings
        for result in found:
            if result.panel is None or not result.complete:
                continue
            known = self._session.store.defences(result.task_id)
            for issue in to_defend(result.panel):
                earlier = known.get(issue.category)
                if earlier is not None and earlier.accusation != accusation(issue):
                    earlier = None
                if earlier is None or (settings.retry and earlier.rebuttal == "error"):
                    judge = defender(settings.judges, issue).name
                    yield OpenDefence(result.panel, issue, judge, earlier.attempts if earlier else 0)

    async def _defend(self, open_: OpenDefence) -> None:
        session, question = self._session, open_.question
        try:
            prompt = await session.worker.defence(question.task_id, open_.issue, open_.judge)
        except PreparationError as error:
            self._store(open_, JudgeError(kind="prompt", message=str(error)), None, None)
            return
        judges, failed = session.settings.judges, open_.failed_attempts
        try:
            attempts = await session.ask(
                lambda: ask(session.model, question, prompt, judges, read_rebuttal, failed_attempts=failed)
            )
            if attempts is not None:
                answer = attempts.value if attempts.value is not None else attempts.error
                assert answer is not None
                self._store(open_, answer, attempts, prompt)
        except FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - an unexpected answer must not end the other questions
            self._store(open_, internal_error(error), None, None)

    def _store(
        self,
        open_: OpenDefence,
        answer: Rebuttal | JudgeError,
        attempts: Attempts[Rebuttal] | None,
        prompt: PreparedPrompt | None,
    ) -> None:
        material = prompt.material if prompt else Material(task_id=open_.panel.task_id, passages=())
        panel = open_.panel.model_copy(update={"issues": (open_.issue,)})
        task = self._session.task(open_.panel.task_id)
        [issue] = apply_rebuttals(panel, {open_.issue.category: answer}, material, task).issues
        self._session.store.add_defence(
            Defence(
                task_id=task.id,
                category=issue.category,
                accusation=accusation(open_.issue),
                judge=open_.judge,
                rebuttal=issue.rebuttal,
                reason=issue.rebuttal_reason,
                digest=attempts.digest(open_.question, prompt) if attempts and prompt else "",
                attempts=attempts.count if attempts else open_.failed_attempts,
                **({"usage": attempts.usage, "cost": attempts.cost} if attempts else {}),
            )
        )


def accusation(issue: PanelIssue) -> str:
    """Hash a flaw as the panel reports it."""
    return hashlib.sha256(issue.best.model_dump_json().encode()).hexdigest()[:16]


def apply_defences(panel: PanelVerdict, defences: dict[str, Defence], task: AgentTask) -> PanelVerdict:
    """Return the aggregate verdict after the stored defences."""
    issues = []
    for issue in panel.issues:
        known = defences.get(issue.category)
        if known is not None and known.accusation == accusation(issue):
            issue = issue.model_copy(update={"rebuttal": known.rebuttal, "rebuttal_reason": known.reason})
        issues.append(issue)
    changed = panel.model_copy(update={"issues": tuple(issues)})
    return apply_rebuttals(changed, {}, Material(task_id=panel.task_id, passages=()), task)
