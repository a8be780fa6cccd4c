"""Named queues: a rule that chooses findings, what to label, instructions, and how many people look at each task.

A queue is a YAML file. Adding a run puts the tasks of its matching findings into the queue: an assignment event per
task and reviewer. Adding the run again adds only what is new.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from random import Random
from typing import Literal
from uuid import uuid4

from pydantic import Field

from agenthard.audit.decisions.policy import Action, Decision
from agenthard.audit.decisions.priority import review_order
from agenthard.flows.review.events import AssignmentData, Event, Key, Name, as_data
from agenthard.flows.review.state import ItemState, ReviewState
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.finding import Finding, Level, Severity, Tier
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_record

FOLDER = "queues"
"""Folder of a run folder with the configurations of its queues."""


Label = Literal["category", "severity", "confidence", "reason"]
"""What is labelled besides flawed or not."""
_NAME = r"^[a-z0-9][a-z0-9_-]{0,63}$"


class QueueError(AgentHardError):
    """The configuration of a queue cannot be used; the message names the file and the place in it."""

    code = "AH812"
    remedy = "Correct the file at the place that the message names; docs/review.md describes its fields."


class QueueRule(Record):
    """Which findings put their tasks into the queue: those that match every given field."""

    check: tuple[str, ...] = ()
    """Ids of checks; empty = any."""
    category: tuple[str, ...] = ()
    """Categories; empty = any."""
    tier: tuple[Tier, ...] = (Tier.CONFIRMED, Tier.SUSPECTED)
    """How sure the finding is."""
    severity: tuple[Severity, ...] = (Severity.AFFECTS_SCORE, Severity.MAY_AFFECT_SCORE)
    """What the flaw does to the score."""
    level: tuple[Level, ...] = ()
    """Where the cause has to be fixed; empty = anywhere."""
    action: tuple[Action, ...] = ()
    """What is decided about the task without people; empty = anything."""

    def matches(self, finding: Finding) -> bool:
        """Tell whether a finding is chosen."""
        return (
            (not self.check or finding.check in self.check)
            and (not self.category or finding.category in self.category)
            and finding.tier in self.tier
            and finding.severity in self.severity
            and (not self.level or finding.level in self.level)
        )


class QueueSettings(Record):
    """A named queue."""

    name: str = Field(pattern=_NAME)
    """Name, such as new-evaluator-flaws."""
    rule: QueueRule = QueueRule()
    """Which findings put their tasks into it."""
    fields: tuple[Label, ...] = ("category", "severity", "confidence", "reason")
    """What to label besides flawed or not."""
    instructions: str = Field(default="", max_length=20_000)
    """What reviewers are told."""
    reviewers: tuple[Name, ...] = Field(min_length=1)
    """Who reviews."""
    overlap: float = Field(default=0.2, ge=0, le=1)
    """Share of the tasks that two people review."""
    most: int = Field(default=500, ge=1)
    """Tasks that one run adds at most; the most urgent come first."""


class QueueProgress(Record):
    """How far a queue is."""

    name: str
    """Queue."""
    tasks: int
    """Tasks in it."""
    assignments: int
    """Pairs of task and reviewer."""
    done: int
    """Of these, the ones with a verdict of the reviewer."""
    disputed: int
    """Tasks that reviewers disagree about."""

    @property
    def finished(self) -> bool:
        """Whether every assigned verdict was given and no task is disputed."""
        return self.done == self.assignments and not self.disputed


def load_queue(path: Path) -> QueueSettings:
    """Read the configuration of a queue.

    Raises:
        QueueError: the file is missing, not YAML, or has unknown fields or values.
    """
    return load_record(path, QueueSettings, error=QueueError, what="queue", docs="docs/review.md")


def queue_settings(config: Path | None, reviewers: Sequence[str]) -> QueueSettings:
    """Return the configuration of a queue.

    Args:
        config: its file; None = the queue ``flagged``, of all tasks with a flaw that may affect the score.
        reviewers: who reviews; empty = the reviewers that the file names.

    Raises:
        QueueError: the file cannot be used, or names no reviewer.
    """
    if config is not None:
        settings = load_queue(config)
        return settings.model_copy(update={"reviewers": tuple(reviewers)}) if reviewers else settings
    if not reviewers:
        raise QueueError("no reviewers: name them with --reviewer, or in a configuration (`agenthard queue init`)")
    return QueueSettings(name="flagged", reviewers=tuple(reviewers))


def stored_queue(run: Path, name: str) -> QueueSettings | None:
    """Read the configuration that was copied into a run folder; None where there is none of this name."""
    path = run / FOLDER / f"{name}.json"
    if not re.fullmatch(_NAME, name) or not path.is_file():
        return None
    return QueueSettings.model_validate_json(path.read_bytes())


def queue_of(item: ItemState, reviewer: str) -> str:
    """Return the named queue in which a task was last assigned to a reviewer; empty when it was in none."""
    given = [event.details for event in item.active if isinstance(event.details, AssignmentData)]
    return next((each.queue for each in reversed(given) if each.reviewer == reviewer and each.queue), "")


def chosen_tasks(
    settings: QueueSettings,
    findings: Sequence[Finding],
    decisions: Sequence[Decision],
    known: Collection[str] = (),
) -> list[str]:
    """Return the tasks that the rule chooses, the most urgent first.

    Args:
        settings: the queue.
        findings: all findings of the run.
        decisions: decisions without verdicts of people.
        known: ids of the findings of an earlier audit: they put no task into the queue.
    """
    action = {decision.task_id: decision.action for decision in decisions}
    wanted = {
        task_id
        for finding in findings
        if finding.id not in known and settings.rule.matches(finding)
        for task_id in finding.task_ids
        if not settings.rule.action or action[task_id] in settings.rule.action
    }
    ordered = [each.task_id for each in review_order(list(action), findings) if each.task_id in wanted]
    return [*ordered, *(task_id for task_id in action if task_id in wanted - set(ordered))]


def fill(
    settings: QueueSettings,
    task_ids: Iterable[str],
    state: ReviewState,
    contents: Mapping[Key, str],
    run: str,
    by: str,
    at: datetime,
) -> list[Event]:
    """Assign the tasks that are not in the queue yet.

    Args:
        settings: the queue.
        task_ids: tasks that the rule chooses.
        state: the review so far.
        contents: hash of each task of the audit.
        run: name of the audit.
        by: who fills the queue.
        at: when.

    Returns:
        The assignments, to be stored.
    """
    inside = queue_tasks(state, settings.name)
    new = [task_id for task_id in task_ids if task_id not in inside][: settings.most]
    return [
        Event(
            id=uuid4(),
            at=at,
            by=by,
            run=run,
            kind="assignment",
            target="task",
            target_id=task_id,
            content_hash=contents["task", task_id],
            data=as_data(AssignmentData(reviewer=reviewer, queue=settings.name)),
        )
        for task_id, reviewer in share(new, settings.reviewers, settings.overlap, f"{settings.name}\x1f{run}")
    ]


def share(task_ids: Sequence[str], reviewers: Sequence[str], overlap: float, seed: str) -> list[tuple[str, str]]:
    """Share tasks among reviewers in turn, and give a share of them to a second reviewer too.

    Args:
        task_ids: tasks, in order.
        reviewers: reviewers.
        overlap: share of the tasks that two people review, rounded up; nothing with one reviewer.
        seed: what the draw of these tasks depends on.

    Returns:
        Pairs of task and reviewer, in the order of the tasks.

    >>> share(["a", "b"], ["ann", "bob"], 0.0, "")
    [('a', 'ann'), ('b', 'bob')]
    >>> len(share(["a", "b", "c", "d"], ["ann", "bob"], 0.5, ""))
    6
    """
    people = len(reviewers)
    twice = min(-int(-len(task_ids) * overlap // 1), len(task_ids)) if people > 1 else 0
    random = Random(hashlib.sha256(seed.encode("utf-8", "surrogatepass")).digest())
    drawn = set(random.sample(range(len(task_ids)), twice))
    pairs = []
    for number, task_id in enumerate(task_ids):
        first = number % people
        pairs.append((task_id, reviewers[first]))
        if number in drawn:
            step = 1 + number // people % (people - 1)  # changes from round to round, so that all pairs of people meet
            pairs.append((task_id, reviewers[(first + step) % people]))
    return pairs


def queue_tasks(state: ReviewState, name: str) -> dict[str, list[str]]:
    """Return the reviewers of each task of a queue, in the order of their assignment."""
    found: dict[str, list[str]] = {}
    for (what, task_id), item in state.items():
        for event in item.active:
            details = event.details
            if what == "task" and isinstance(details, AssignmentData) and details.queue == name:
                found.setdefault(task_id, []).append(details.reviewer)
    return found


def queue_names(state: ReviewState) -> list[str]:
    """Return the names of the queues that have tasks, sorted."""
    events = (event for _, item in state.items() for event in item.active if event.kind == "assignment")
    return sorted({str(event.data["queue"]) for event in events if event.data.get("queue")})


def progress(state: ReviewState, name: str) -> QueueProgress:
    """Tell how far a queue is."""
    tasks = queue_tasks(state, name)
    items = {task_id: state.item(("task", task_id)) for task_id in tasks}
    return QueueProgress(
        name=name,
        tasks=len(tasks),
        assignments=sum(map(len, tasks.values())),
        done=sum(by in items[task_id].verdicts for task_id, reviewers in tasks.items() for by in reviewers),
        disputed=sum(item.split for item in items.values()),
    )
