"""The verdicts: all questions about all tasks, each answer on disk as soon as it is checked."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from agenthard.audit.judge.aggregate.cascade import needs_second
from agenthard.audit.judge.aggregate.ensemble import combine
from agenthard.audit.judge.investigating import Investigator
from agenthard.audit.judge.judged import Judged, JudgeError
from agenthard.audit.judge.settings import Judge
from agenthard.audit.judge.verify.checked import CheckedVerdict
from agenthard.flows.errors import FATAL
from agenthard.flows.judging.asking import Asked, ask, unforeseen
from agenthard.flows.judging.offloading import PreparationError
from agenthard.flows.judging.questions import Question, questions_of
from agenthard.flows.judging.session import Session
from agenthard.flows.judging.store import Answer
from agenthard.flows.judging.workbench import Ready


class Judging:
    """Asks the judges of the first tier about every task, and those of the second where the first calls for them."""

    def __init__(self, session: Session, done: Callable[[str], None] = lambda task_id: None) -> None:
        """Get ready; nothing is asked yet.

        Args:
            session: The run.
            done: Told of each task that is done with.
        """
        self._session, self._done = session, done
        panel = session.settings.judges.judges
        self._first = tuple(judge for judge in panel if judge.tier == "first")
        self._second = tuple(judge for judge in panel if judge.tier == "second")
        self._failed = session.store.failed() if session.settings.retry else {}

    async def run(self, task_ids: Iterable[str]) -> None:
        """Ask whatever has no answer yet about these tasks."""
        await self._session.each(task_ids, self._judge)

    async def _judge(self, task_id: str) -> None:
        case = _Case(self, task_id, self._session.store.of_task(task_id))
        await case.ask(self._first)
        if self._second and case.complete(self._first):
            if needs_second(combine(case.verdicts(self._first), self._session.settings.judges)):
                await case.ask(self._second)
        self._done(task_id)

    def open(self, question: Question, known: Answer | None) -> bool:
        """Tell whether a question is still to be put; an error of an earlier run is, where the settings say so."""
        return known is None or question in self._failed

    async def answered(self, question: Question, ready: Ready) -> Answer | None:
        """Put a question and keep its answer; None when nobody was asked."""
        session, before = self._session, self._failed.get(question, 0)
        helper = partial(Investigator, session.task(question.task_id), ready.material)
        try:
            asked = await session.put(
                lambda: ask(session.model, question, ready, session.settings.judges, helper, before)
            )
            return None if asked is None else await self._keep(asked, ready)
        except FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - what one answer brings about must not end the other questions
            return self.keep_error(question, unforeseen(error), before + 1)

    async def prompts(self, task_id: str) -> dict[str, Ready] | JudgeError:
        """Write the prompts of a task, or say why there are none."""
        try:
            return await self._session.hands.prepare(task_id)
        except PreparationError as error:
            return JudgeError(kind="prompt", message=f"no prompt could be written: {error}")

    def keep_error(self, question: Question, error: JudgeError, attempts: int = 0) -> Answer:
        """Keep that a question could not be written, or that our own code failed on its answer."""
        judged = Judged(
            task_id=question.task_id, judge=question.judge, sample=question.sample, prompt_version="", error=error
        )
        checked = _failed(judged, f"{error.kind}: {error.message}")
        answer = Answer(judged=judged, checked=checked, digest="", attempts=attempts)
        self._session.store.add(answer)
        return answer

    async def _keep(self, asked: Asked, ready: Ready) -> Answer:
        judged = asked.judged
        try:
            checked = await self._session.hands.check(judged, ready.material)
        except PreparationError as error:
            checked = _failed(judged, f"the verdict could not be checked: {error}")
        answer = Answer(
            judged=judged,
            checked=checked,
            digest=asked.digest,
            attempts=asked.attempts,
            omitted=ready.material.omitted,
        )
        self._session.store.add(answer)
        return answer


class _Case:
    """One task before the panel."""

    def __init__(self, judging: Judging, task_id: str, known: dict[Question, Answer]) -> None:
        self._judging, self._task_id, self._answers = judging, task_id, known
        self._ready: dict[str, Ready] | JudgeError | None = None

    async def ask(self, judges: Sequence[Judge]) -> None:
        """Put all questions of these judges that are still to be put, at the same time."""
        asked = [
            question
            for question in questions_of(self._task_id, judges)
            if self._judging.open(question, self._answers.get(question))
        ]
        if not asked:
            return
        if self._ready is None:
            self._ready = await self._judging.prompts(self._task_id)
        ready = self._ready
        if isinstance(ready, JudgeError):
            self._answers |= {question: self._judging.keep_error(question, ready) for question in asked}
            return
        found = await asyncio.gather(*(self._judging.answered(q, ready[q.judge]) for q in asked))
        self._answers |= {answer.question: answer for answer in found if answer is not None}

    def complete(self, judges: Sequence[Judge]) -> bool:
        """Tell whether every question of these judges has its answer."""
        return all(question in self._answers for question in questions_of(self._task_id, judges))

    def verdicts(self, judges: Sequence[Judge]) -> list[CheckedVerdict]:
        """Return the verdicts of these judges, errors included."""
        return [self._answers[q].checked for q in questions_of(self._task_id, judges) if q in self._answers]


def _failed(judged: Judged, reason: str) -> CheckedVerdict:
    return CheckedVerdict(
        task_id=judged.task_id, judge=judged.judge, sample=judged.sample, outcome="error", reason=reason
    )
