"""Duplicate or conflicting tasks: a task that is in the benchmark again."""

import re
from random import Random
from textwrap import fill, indent

from agenthard.audit.faults.editing import last_request, sites, with_text, with_value
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.soundness import fits
from agenthard.audit.faults.wordings import WAYS, draw_wording
from agenthard.taxonomy.task import AgentTask

_CATEGORY = "duplicate-or-conflicting-task"
_COMMON = "with|from|what|which|that|want|need|have|there|their|about|when|please|must|should|would|each|only"
_SIGNS = (
    (("'", "\u2019"), ('"', "\u201d"), ("-", "\u2011")),
    (('"', "\u00bb"), (" - ", " \u2014 ")),
    (('"', "\u201f"), ("'", "`")),
    (("-", "\u2010"), ("...", "\u2026")),
)
_SHORT = {
    "I am": "I'm", "I would": "I'd", "I have": "I've", "do not": "don't", "it is": "it's", "It is": "It's",
    "you are": "you're", "cannot": "can't", "does not": "doesn't", "is not": "isn't", "must not": "mustn't",
    "should not": "shouldn't", "I will": "I'll", "that is": "that's", "what is": "what's",
}  # fmt: skip


def _copy(task: AgentTask) -> AgentTask:
    return task.model_copy(update={"id": f"{task.id}_again", "native_id": f"{task.native_id}_again"})


def _fault(task: AgentTask, copied: AgentTask, claim: str) -> Fault:
    return Fault(task=copied, pointer="", after=copied.id, claim=claim, copy_of=task)


@operator(_CATEGORY, "rules", "the tasks are equal", rule_known=True)
def same_task_again(sound: Sound, rng: Random) -> Fault | None:
    """Put a task into the benchmark again, under another id."""
    return _fault(sound.task, _copy(sound.task), "the same task is in the benchmark twice")


@operator(_CATEGORY, "rules", "the tasks are equal except for white space and order", rule_known=True)
def same_task_set_otherwise(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again with other line breaks and with its tools in reverse order."""
    place = last_request(sound.task)
    if place is None:
        return None
    text = place[1]
    lines = "\n".join(fill(line, 60) for line in text.splitlines())
    set_otherwise = (text.replace(" ", "  ", 3) + "\n", f"\n\n{text}", indent(text, "    "), text.replace(" ", "\t", 2))
    task = with_text(sound.task, place[0], rng.choice((*set_otherwise, f"{lines}\n", text.replace("\n", "\r\n") + " ")))
    tools = sound.task.environment.tools[::-1]
    task = task.model_copy(update={"environment": task.environment.model_copy(update={"tools": tools})})
    return _fault(sound.task, _copy(task), "the same task is in the benchmark twice, laid out differently")


@operator(_CATEGORY, "rules", "the texts are equal except for a greeting", rule_known=True)
def same_task_with_a_greeting(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again with a greeting before the first request and another stop after the last."""
    place = last_request(sound.task)
    if place is None:
        return None
    text = draw_wording("same-task-with-a-greeting", rng, text=place[1].strip().rstrip(".!"))
    return _fault(sound.task, _copy(with_text(sound.task, place[0], text)), "two tasks differ in a greeting only")


@operator(_CATEGORY, "rules", "the texts are equal except for a sentence that wants nothing", rule_known=True)
def same_task_with_more_courtesy(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again with a sentence of courtesy before or after the last request."""
    place = last_request(sound.task)
    if place is None:
        return None
    text = draw_wording("same-task-with-more-courtesy", rng, text=place[1].strip())
    return _fault(sound.task, _copy(with_text(sound.task, place[0], text)), "two tasks differ in a courtesy only")


@operator(_CATEGORY, "rules", "the texts are equal except for the signs they are typed with", rule_known=True)
def same_task_typed_otherwise(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again with other quotes, dashes, spaces and capitals, and without the last stop."""
    place = last_request(sound.task)
    if place is None:
        return None
    text = place[1].strip()
    for sign, typed in rng.choice(_SIGNS):
        text = text.replace(sign, typed)
    text = rng.choice((text, f"{text[:1].lower()}{text[1:]}")).rstrip(".!")
    text = text.replace(" ", rng.choice(("\u00a0", "\u2009", "\u202f")), 2)
    return _fault(sound.task, _copy(with_text(sound.task, place[0], text)), "two tasks differ in typography only")


@operator(_CATEGORY, "rules", "the texts are equal except for short forms", rule_known=False)
def same_task_in_short_forms(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again that says "I'm" for "I am", or the other way round."""
    place = last_request(sound.task)
    if place is None:
        return None
    text = place[1]
    for long, short in _SHORT.items():
        text = text.replace(f"{long} ", f"{short} ") if f"{long} " in text else text.replace(f"{short} ", f"{long} ")
    if text == place[1]:
        return None
    return _fault(sound.task, _copy(with_text(sound.task, place[0], text)), "two tasks differ in short forms only")


@operator(
    _CATEGORY,
    "rules",
    "the texts are equal except for one slip of typing, and so are the answers",
    rule_known=False,
)
def same_task_with_a_slip(sound: Sound, rng: Random) -> Fault | None:
    """Put a task in again with a common word of its last request misspelt."""
    place = last_request(sound.task)
    if place is None:
        return None
    common = re.findall(rf"(?<= )(?:{_COMMON})(?= )", place[1])
    if not common:
        return None
    word = rng.choice(common)
    slip = rng.choice(WAYS)(word, rng.randrange(1, len(word) - 1), rng)
    text = place[1].replace(f" {word} ", f" {slip} ", 1)
    if text == place[1]:
        return None
    return _fault(sound.task, _copy(with_text(sound.task, place[0], text)), "two tasks differ in a misspelt word only")


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
                others.append(rng.choice((value + 3, value + 1, value - 1, value * 10)))
            others = [each for each in others if fits(schema, each)]
            if others:
                wrong = rng.choice(others)
                changed = _copy(with_value(task, site, name, wrong))
                return Fault(
                    task=changed,
                    pointer=f"{site.pointer}/arguments/{name}",
                    before=value,
                    after=wrong,
                    claim="equal tasks have ground truths that exclude each other",
                    copy_of=task,
                )
    return None
