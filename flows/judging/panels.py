"""From the answers of a run folder to the panel's word on each task."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.judge.aggregate.panel import PanelVerdict, combine, needs_second
from agenthard.audit.judge.aggregate.votes import PanelRates, error_rates
from agenthard.audit.judge.settings import JudgeSettings
from agenthard.flows.judging.questions import questions_of
from agenthard.flows.judging.store import Answer, AnswerStore


class Sitting(NamedTuple):
    """One task before the panel."""

    task_id: str
    """Task."""
    panel: PanelVerdict | None
    """The panel's word; None when no question about the task was answered."""
    answers: tuple[Answer, ...]
    """The answers it rests on, judges in the order of the panel, then samples."""
    planned: int
    """Questions that the task calls for; those to the second tier only once the first has called for them."""

    @property
    def complete(self) -> bool:
        """Whether every question has its answer."""
        return len(self.answers) == self.planned


def panel_rates(settings: JudgeSettings, store: AnswerStore) -> PanelRates | None:
    """Estimate the judges' error rates over all tasks, where the panel's rules ask for them."""
    if settings.aggregation != "dawid_skene":
        return None
    return error_rates(answer.checked for answer in store.answers())


def sittings(settings: JudgeSettings, store: AnswerStore, task_ids: Sequence[str]) -> Iterator[Sitting]:
    """Combine the answers on each task, in the order given.

    Args:
        settings: The panel.
        store: The answers.
        task_ids: All tasks.
    """
    rates = panel_rates(settings, store)
    first = [judge for judge in settings.judges if judge.tier == "first"]
    for task_id in task_ids:
        known = store.of_task(task_id)
        wanted = list(questions_of(task_id, first))
        opinions = [known[question].checked for question in wanted if question in known]
        if len(opinions) == len(wanted) and needs_second(combine(opinions, settings)):
            wanted = list(questions_of(task_id, settings.judges))
        answers = tuple(known[question] for question in wanted if question in known)
        panel = combine([answer.checked for answer in answers], settings, rates) if answers else None
        yield Sitting(task_id, panel, answers, len(wanted))
