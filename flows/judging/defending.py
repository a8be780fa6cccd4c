"""The defences: where the panel's rules ask for it, a second question about each flaw argues that the task is sound."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.judge.aggregate.defence import apply_rebuttals, defender, to_defend
from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict
from agenthard.audit.judge.aggregate.rebuttal import Rebuttal, read_rebuttal
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.judged import JudgeError
from agenthard.flows.errors import FATAL
from agenthard.flows.judging.asking import Effort, put, unforeseen
from agenthard.flows.judging.offloading import PreparationError
from agenthard.flows.judging.panels import Sitting, sittings
from agenthard.flows.judging.questions import Question
from agenthard.flows.judging.session import Session
from agenthard.flows.judging.store import Defence
from agenthard.flows.judging.workbench import Ready
from agenthard.taxonomy.task import AgentTask


class Charge(NamedTuple):
    """A flaw that the panel sees, to be defended against."""

    panel: PanelVerdict
    """The panel's word on the task."""
    issue: PanelIssue
    """The flaw."""
    judge: str
    """Who defends the task."""
    before: int
    """Attempts that earlier runs made in vain."""

    @property
    def question(self) -> Question:
        """The question as the ledger knows it."""
        return Question(self.panel.task_id, self.judge, 0, self.issue.category)


class Defending:
    """Puts every flaw of flagged tasks to a defence, once all verdicts are there."""

    def __init__(self, session: Session) -> None:
        """Get ready; nothing is asked yet."""
        self._session = session

    async def run(self, task_ids: Sequence[str]) -> None:
        """Defend the tasks of these that the panel flags and that have no defence yet."""
        session = self._session
        if session.settings.judges.rebuttal and not session.stopped:
            found = sittings(session.settings.judges, session.store, task_ids)
            await session.each(list(self._charges(found)), self._defend)

    def _charges(self, found: Iterable[Sitting]) -> Iterator[Charge]:
        settings = self._session.settings
        for sitting in found:
            if sitting.panel is None or not sitting.complete:
                continue
            known = self._session.store.defences(sitting.task_id)
            for issue in to_defend(sitting.panel):
                earlier = known.get(issue.category)
                if earlier is not None and earlier.accusation != accusation(issue):
                    earlier = None
                if earlier is None or (settings.retry and earlier.rebuttal == "error"):
                    judge = defender(settings.judges, issue).name
                    yield Charge(sitting.panel, issue, judge, earlier.attempts if earlier else 0)

    async def _defend(self, charge: Charge) -> None:
        session, question = self._session, charge.question
        try:
            ready = await session.hands.defence(question.task_id, charge.issue, charge.judge)
        except PreparationError as error:
            self._keep(charge, JudgeError(kind="prompt", message=str(error)), None, None)
            return
        try:
            effort = await session.put(
                lambda: put(
                    session.model, question, ready, session.settings.judges, read_rebuttal, before=charge.before
                )
            )
            if effort is not None:
                answer = effort.value if effort.value is not None else effort.error
                assert answer is not None
                self._keep(charge, answer, effort, ready)
        except FATAL:
            raise
        except Exception as error:  # noqa: BLE001 - what one answer brings about must not end the other questions
            self._keep(charge, unforeseen(error), None, None)

    def _keep(
        self, charge: Charge, answer: Rebuttal | JudgeError, effort: Effort[Rebuttal] | None, ready: Ready | None
    ) -> None:
        material = ready.material if ready else Material(task_id=charge.panel.task_id, passages=())
        panel = charge.panel.model_copy(update={"issues": (charge.issue,)})
        task = self._session.task(charge.panel.task_id)
        [issue] = apply_rebuttals(panel, {charge.issue.category: answer}, material, task).issues
        self._session.store.defend(
            Defence(
                task_id=task.id,
                category=issue.category,
                accusation=accusation(charge.issue),
                judge=charge.judge,
                rebuttal=issue.rebuttal,
                reason=issue.rebuttal_reason,
                digest=effort.digest(charge.question, ready) if effort and ready else "",
                attempts=effort.attempts if effort else charge.before,
                **({"usage": effort.usage, "cost": effort.cost} if effort else {}),
            )
        )


def accusation(issue: PanelIssue) -> str:
    """Hash a flaw as the panel sees it."""
    return hashlib.sha256(issue.best.model_dump_json().encode()).hexdigest()[:16]


def defended(panel: PanelVerdict, defences: dict[str, Defence], task: AgentTask) -> PanelVerdict:
    """Return the panel's word after the defences that are there."""
    issues = []
    for issue in panel.issues:
        known = defences.get(issue.category)
        if known is not None and known.accusation == accusation(issue):
            issue = issue.model_copy(update={"rebuttal": known.rebuttal, "rebuttal_reason": known.reason})
        issues.append(issue)
    changed = panel.model_copy(update={"issues": tuple(issues)})
    return apply_rebuttals(changed, {}, Material(task_id=panel.task_id, passages=()), task)
