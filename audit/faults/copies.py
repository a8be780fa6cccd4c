"""Duplicate or conflicting tasks: a task that stands in the benchmark again."""

from random import Random

from audit.faults.editing import last_request, sites, with_text, with_value
from audit.faults.guards import fits
from audit.faults.operator import Fault, Sound, operator
from taxonomy.task import AgentTask

_CATEGORY = "duplicate-or-conflicting-task"


def _copy(task: AgentTask) -> AgentTask:
    return task.model_copy(update={"id": f"{task.id}_again", "native_id": f"{task.native_id}_again"})


def _fault(task: AgentTask, copied: AgentTask, says: str) -> Fault:
    return Fault(task=copied, pointer="", after=copied.id, says=says, copy_of=task)


@operator(_CATEGORY, "rules", "the tasks are equal", rule_known=True)
def same_task_again(sound: Sound, rng: Random) -> Fault | None:
    """Put a task into the benchmark again, under another id."""
    return _fault(sound.task, _copy(sound.task), "the same task stands in the benchmark twice")


@operator(_CATEGORY, "rules", "the tasks are equal but for white space and order", rule_known=True)
def same_task_set_otherwise(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again with other line breaks and with its tools in reverse order."""
    place = last_request(sound.task)
    if place is None:
        return None
    task = with_text(sound.task, place[0], place[1].replace(" ", "  ", 3) + "\n")
    tools = sound.task.environment.tools[::-1]
    task = task.model_copy(update={"environment": task.environment.model_copy(update={"tools": tools})})
    return _fault(sound.task, _copy(task), "the same task stands in the benchmark twice, set otherwise")


@operator(_CATEGORY, "rules", "the texts are equal but for a greeting", rule_known=False)
def same_task_with_a_greeting(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again with a greeting before the first request and another stop after the last."""
    place = last_request(sound.task)
    if place is None:
        return None
    text = (
        f"{rng.choice(('Hi!', 'Good day.', 'Hello there,'))} {place[1].rstrip('. !')}{rng.choice(('!', '. Thanks.'))}"
    )
    return _fault(sound.task, _copy(with_text(sound.task, place[0], text)), "two tasks differ in a greeting only")


@operator(_CATEGORY, "rules", "no run can meet both ground truths", rule_known=True)
def same_task_other_gold(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again whose ground truth wants another value."""
    task = sound.task
    if task.ground_truth.call_matching not in ("exact", "any_order"):
        return None
    for site in sites(task, rng):
        for name, value in site.values():
            schema = site.properties[name]
            others = [each for each in schema.get("enum", ()) if each != value]
            if isinstance(value, int) and not isinstance(value, bool):
                others.append(value + 3)
            others = [each for each in others if fits(schema, each)]
            if others:
                wrong = rng.choice(others)
                changed = _copy(with_value(task, site, name, wrong))
                return Fault(
                    task=changed,
                    pointer=f"{site.pointer}/arguments/{name}",
                    before=value,
                    after=wrong,
                    says="equal tasks have ground truths that exclude each other",
                    copy_of=task,
                )
    return None
