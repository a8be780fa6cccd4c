"""Incorrect tool calls: a gold call that is well-formed and wrong, in the wrong place, or missing."""

import re
from datetime import date
from random import Random
from typing import Any

from agenthard.audit.faults.editing import (
    Site,
    contains_word,
    known_text,
    peers,
    sites,
    user_text,
    with_gold,
    with_value,
)
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.soundness import accepts_gold, fits, replay_of_gold
from agenthard.audit.faults.wordings import misspell
from agenthard.taxonomy.task import AgentTask

_CATEGORY = "incorrect-tool-call"
_JUDGED = "the evaluator does not take its word from the ground truth, so it rejects a wrong one"
_NO_DAYS = ("02-30", "04-31", "13-05", "06-31", "00-12", "09-31", "11-31", "05-00", "10-32", "31-12")
_UNREACHABLE = ("unreachable-score",)
"""Where the evaluator rejects the recorded answer, it is open whether the answer or the evaluator is wrong."""
_IDENTIFIER = re.compile(r"(?=.*\d)[A-Za-z#]*[-_]?[A-Za-z0-9_-]{4,}|[\w-]+\.[a-z]{2,4}|[^@\s]+@[^@\s]+")


def unlike_the_user(task: AgentTask, site: Site, name: str, value: Any, wrong: Any) -> Fault:
    """Give an argument of a gold call another value than the one that the user says."""
    return Fault(
        task=with_value(task, site, name, wrong),
        pointer=f"{site.pointer}/arguments/{name}",
        before=value,
        after=wrong,
        claim=f"the user says {value}, the gold call has {wrong}",
    )


@operator(
    _CATEGORY,
    "rules",
    "the user's text has the right spelling, and nothing has the wrong one",
    rule_known=True,
    also=("malformed-tool-call",),
)
def misspelt_name(sound: Sound, rng: Random) -> Fault | None:
    """Misspell an identifier, address or file name that the user gives: one slip of typing."""
    text = user_text(sound.task)
    for site in sites(sound.task, rng):
        for name, value in site.values():
            if not (isinstance(value, str) and _IDENTIFIER.fullmatch(value) and contains_word(value, text)):
                continue
            wrong = misspell(value, rng)
            if wrong != value and not contains_word(wrong, known_text(sound.task)):
                return unlike_the_user(sound.task, site, name, value, wrong)
    return None


@operator(_CATEGORY, "rules", "the calendar has no such day", rule_known=True, also=("malformed-tool-call",))
def impossible_day(sound: Sound, rng: Random) -> Fault | None:
    """Turn a day into one that no calendar has."""
    for site in sites(sound.task, rng):
        for name, value in site.values():
            if isinstance(value, str) and _is_day(value):
                wrong = f"{value[:5]}{rng.choice(_NO_DAYS)}"
                return Fault(
                    task=with_value(sound.task, site, name, wrong),
                    pointer=f"{site.pointer}/arguments/{name}",
                    before=value,
                    after=wrong,
                    claim=f"{wrong} is not a day",
                )
    return None


def _is_day(value: str) -> bool:
    try:
        return bool(date.fromisoformat(value)) and len(value) == 10
    except ValueError:
        return False


@operator(_CATEGORY, "rules", "the call fails when it is made", rule_known=True, also=("redundant-tool-call",))
def absent_entity(sound: Sound, rng: Random) -> Fault | None:
    """Let a gold call name something that the environment does not have, so that it fails."""
    task = sound.task
    before = replay_of_gold(task)
    if before is None or any(step.observation.error for step in before.steps):
        return None
    for site in sites(task, rng):
        for name, value in site.values():
            wrong = _absent(value, rng)
            if wrong is None or not fits(site.properties[name], wrong) or contains_word(wrong, known_text(task)):
                continue
            changed = with_value(task, site, name, wrong)
            after = replay_of_gold(changed)
            if after is not None and any(s.pointer == site.pointer and s.observation.error for s in after.steps):
                return Fault(
                    task=changed,
                    pointer=f"{site.pointer}/arguments/{name}",
                    before=value,
                    after=wrong,
                    claim=f"{site.call.name} fails: {wrong!r} does not exist",
                )
    return None


def _absent(value: Any, rng: Random) -> Any:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value + rng.randrange(400, 900)
    if isinstance(value, str) and any(character.isdigit() for character in value):
        return re.sub(r"\d", lambda _: str(rng.randrange(10)), value)
    return None


@operator(_CATEGORY, "rules", _JUDGED, rule_known=True, also=_UNREACHABLE)
def another_entity(sound: Sound, rng: Random) -> Fault | None:
    """Let a gold write name another entity, one that exists and that the evaluator does not accept."""
    task = sound.task
    if accepts_gold(task) is not True:
        return None
    for site in [site for site in sites(task, rng) if site.writes]:
        for name, value in site.values():
            others = peers(task, value)
            for wrong in rng.sample(others, min(len(others), 5)):
                changed = with_value(task, site, name, wrong)
                after = replay_of_gold(changed)
                if after is None or any(step.observation.error for step in after.steps):
                    continue
                if accepts_gold(changed) is False:
                    return Fault(
                        task=changed,
                        pointer=f"{site.pointer}/arguments/{name}",
                        before=value,
                        after=wrong,
                        claim=f"{site.call.name} with {wrong!r} is not a solution of the task",
                    )
    return None


@operator(_CATEGORY, "rules", _JUDGED, rule_known=True, also=_UNREACHABLE)
def missing_write(sound: Sound, rng: Random) -> Fault | None:
    """Leave out a gold write without which the evaluator does not accept the ground truth."""
    task = sound.task
    if accepts_gold(task) is not True:
        return None
    for site in [site for site in sites(task, rng) if site.writes]:
        changed = with_gold(task, site.turn, site.index, [])
        if any(changed.gold_calls()) and accepts_gold(changed) is False:
            return Fault(
                task=changed,
                pointer=f"/ground_truth/turns/{site.turn}",
                before=site.call.model_dump(mode="json", exclude_defaults=True),
                claim=f"a call of {site.call.name} is missing",
            )
    return None


@operator(_CATEGORY, "rules", "the call fails, or the evaluator rejects it", rule_known=False, also=_UNREACHABLE)
def exchanged_arguments(sound: Sound, rng: Random) -> Fault | None:
    """Exchange two arguments of one type in a gold call."""
    task = sound.task
    if accepts_gold(task) is not True:
        return None
    for site in sites(task, rng):
        pair = _pair(site)
        if pair is None:
            continue
        (one, first), (two, second) = pair
        changed = with_value(task, site, one, second)
        again = Site(site.turn, site.index, changed.ground_truth.turns[site.turn][site.index], site.tool)
        changed = with_value(changed, again, two, first)
        after = replay_of_gold(changed)
        if accepts_gold(changed) is False or (after and any(step.observation.error for step in after.steps)):
            return Fault(
                task=changed,
                pointer=f"{site.pointer}/arguments",
                before={one: first, two: second},
                after={one: second, two: first},
                claim=f"{one} and {two} are exchanged",
            )
    return None


def _pair(site: Site) -> tuple[tuple[str, Any], tuple[str, Any]] | None:
    values = list(site.values())
    for index, (one, first) in enumerate(values):
        for two, second in values[index + 1 :]:
            alike = type(first) is type(second) and first != second
            if alike and fits(site.properties[one], second) and fits(site.properties[two], first):
                return (one, first), (two, second)
    return None


@operator(_CATEGORY, "judge", "that the new number does not follow from the text needs reading", rule_known=False)
def another_number(sound: Sound, rng: Random) -> Fault | None:
    """Give a gold call another number than the one that the user says."""
    text = user_text(sound.task)
    for site in sites(sound.task, rng):
        for name, value in site.values():
            if isinstance(value, bool) or not isinstance(value, int) or not contains_word(value, text):
                continue
            wrong = value + rng.choice((1, 2, 7, 10))
            if fits(site.properties[name], wrong) and not contains_word(wrong, text):
                return unlike_the_user(sound.task, site, name, value, wrong)
    return None


@operator(_CATEGORY, "judge", "that the user's word means the one choice needs reading", rule_known=False)
def another_choice(sound: Sound, rng: Random) -> Fault | None:
    """Give a gold call another documented choice than the one that the user names."""
    text = user_text(sound.task)
    for site in sites(sound.task, rng):
        for name, value in site.values():
            if not (isinstance(value, str) and contains_word(value, text)):
                continue
            others = [each for each in site.properties[name].get("enum", ()) if not contains_word(each, text)]
            if others:
                wrong = rng.choice(others)
                return unlike_the_user(sound.task, site, name, value, wrong)
    return None


@operator(_CATEGORY, "rules", "turns can be counted", rule_known=True)
def lost_turn(sound: Sound, rng: Random) -> Fault | None:
    """Lose one gold turn of a scripted dialogue, so that the later ones move up."""
    task, turns = sound.task, sound.task.ground_truth.turns
    if task.user.kind != "scripted" or len(turns) != len(task.user.turns) or len(turns) < 3:
        return None
    gone = rng.randrange(len(turns) - 1)
    truth = task.ground_truth.model_copy(update={"turns": turns[:gone] + turns[gone + 1 :]})
    return Fault(
        task=task.model_copy(update={"ground_truth": truth}),
        pointer="/ground_truth/turns",
        before=len(turns),
        after=len(turns) - 1,
        claim=f"there are {len(turns)} user turns and {len(turns) - 1} gold turns",
    )
