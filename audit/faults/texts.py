"""Texts: instructions that leave something open, answers that depend on the day, and required texts that are wrong."""

import re
from random import Random

from agenthard.audit.faults.editing import (
    contains_word,
    known_text,
    last_request,
    sites,
    user_text,
    with_environment,
    with_text,
)
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.scoring import output_fault
from agenthard.audit.faults.soundness import has_independent_evaluator
from agenthard.audit.faults.wordings import doubled, draw_wording, exchanged, lost, means_the_same, placed

_AMBIGUOUS, _DRIFT, _OUTPUT = "ambiguous-instruction", "environment-drift", "wrong-expected-output"
_SAME_FACT = ("redundant-tool-call",)
"""A value that no text determines is a value that follows from nothing."""
_DAY = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")
_GAPS = ("", "__", "X", "...", "[limit]")
_LIMIT = re.compile(r"\b(?:at least|at most|exactly|(?:more|less|fewer) than)\b.*?(\d+)")


@operator(_AMBIGUOUS, "rules", "nothing that the agent can read has the value", rule_known=False, also=_SAME_FACT)
def value_left_out(sound: Sound, rng: Random) -> Fault | None:
    """Leave a value out of the user's text that the ground truth requires and that nothing else has."""
    task = sound.task
    for site in sites(task, rng):
        for name, value in site.values():
            if isinstance(value, bool) or not isinstance(value, int | str) or len(str(value)) < 2:
                continue
            for pointer, text in task.user_texts():
                if contains_word(value, text):
                    vague = draw_wording("value-left-out-number" if isinstance(value, int) else "value-left-out", rng)
                    less = _without(text, str(value), vague)
                    changed = with_text(task, pointer, less)
                    if not contains_word(value, known_text(changed)) and "default" not in site.properties[name]:
                        claim = f"nothing tells that {name} is {value}"
                        return Fault(task=changed, pointer=pointer, before=text, after=less, claim=claim)
    return None


def _without(text: str, value: str, vague: str) -> str:
    return re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", lambda _: vague, text, flags=re.IGNORECASE)


@operator(_AMBIGUOUS, "judge", "that the user wants either of two needs reading", rule_known=False)
def two_readings(sound: Sound, rng: Random) -> Fault | None:
    """Let the user name a second value in addition to the one that the ground truth requires."""
    task = sound.task
    for site in sites(task, rng):
        for _, value in site.values():
            if isinstance(value, bool) or not isinstance(value, int):
                continue
            for pointer, text in task.user_texts():
                if contains_word(value, text):
                    both = rng.choice(("{0} or {1}", "{1} or {0}", "{0} (or {1}?)")).format(value, value + 1)
                    found = re.compile(rf"(?<!\w){value}(?!\w)").sub(both, text, count=1)
                    claim = f"the user wants {value} or {value + 1}, and only {value} is accepted"
                    return Fault(
                        task=with_text(task, pointer, found), pointer=pointer, before=text, after=found, claim=claim
                    )
    return None


@operator(_AMBIGUOUS, "rules", "the evaluator holds the rules that the text has to state", rule_known=True)
def condition_left_out(sound: Sound, rng: Random) -> Fault | None:
    """Leave a condition, or its figure, out of a long text whose evaluator knows it without the ground truth."""
    task, place = sound.task, last_request(sound.task)
    if place is None or not has_independent_evaluator(task):
        return None
    lines = place[1].splitlines()
    with_limits = [index for index, line in enumerate(lines) if _LIMIT.search(line)]
    if len(lines) < 6 or not with_limits:
        return None
    gone = rng.choice(with_limits)
    line, figure = lines[gone], _LIMIT.search(lines[gone])
    assert figure is not None
    kept = rng.choice(([], [line[: figure.start()].rstrip()], *([line[: figure.start(1)] + gap] for gap in _GAPS)))
    less = "\n".join(lines[:gone] + kept + lines[gone + 1 :])
    claim = f"the text does not say: {lines[gone].strip()}"
    after = kept[0] if kept else None
    return Fault(task=with_text(task, place[0], less), pointer=place[0], before=line, after=after, claim=claim)


@operator(
    _DRIFT, "rules", "a day that is counted from today, with no today", rule_known=False, also=(*_SAME_FACT, _AMBIGUOUS)
)
def day_counted_from_today(sound: Sound, rng: Random) -> Fault | None:
    """Let the user say "tomorrow" where the ground truth has a fixed day and nothing says what day it is."""
    task = sound.task
    for site in sites(task, rng):
        for _, value in site.values():
            if not (isinstance(value, str) and _DAY.fullmatch(value)):
                continue
            for pointer, text in task.user_texts():
                if contains_word(value, text):
                    word = draw_wording("day-counted-from-today", rng)
                    later = re.sub(rf"(?:\bon )?{value}", word, text)
                    changed = with_text(task, pointer, later)
                    if not _DAY.search(user_text(changed)) and not _DAY.search(changed.environment.policy):
                        claim = f"{word} is {value} on one day only"
                        return Fault(task=changed, pointer=pointer, before=text, after=later, claim=claim)
    return None


@operator(_DRIFT, "rules", "the text sends the agent to a page or a clock outside the benchmark", rule_known=True)
def live_page(sound: Sound, rng: Random) -> Fault | None:
    """Let the user's wish depend on what a page on the web says at the moment, with a fixed ground truth."""
    place = last_request(sound.task)
    if place is None or "http" in place[1] or not any(sound.task.gold_calls()):
        return None
    sentence = draw_wording("live-page", rng)
    text = placed(place[1], sentence, rng)
    claim = "what is right depends on a live page"
    return Fault(task=with_text(sound.task, place[0], text), pointer=place[0], after=sentence, claim=claim)


@operator(_DRIFT, "rules", "the text leaves the decision to a site outside the benchmark", rule_known=False)
def site_decides(sound: Sound, rng: Random) -> Fault | None:
    """Let the user leave the decision to a site that is named without its address, with a fixed ground truth."""
    place = last_request(sound.task)
    if place is None or not any(sound.task.gold_calls()):
        return None
    sentence = draw_wording("site-decides", rng)
    text = placed(place[1], sentence, rng)
    claim = "what is right depends on what a site says on the day"
    return Fault(task=with_text(sound.task, place[0], text), pointer=place[0], after=sentence, claim=claim)


@operator(_DRIFT, "rules", "the prompt takes the day from the clock", rule_known=True)
def clock_in_the_prompt(sound: Sound, rng: Random) -> Fault | None:
    """Let the policy take today's date from the clock, in a task whose ground truth has a fixed day."""
    task = sound.task
    fixed = [value for site in sites(task, rng) for _, value in site.values() if _DAY.fullmatch(str(value))]
    fixed += [text for text in task.ground_truth.outputs if _DAY.fullmatch(text)]
    if not fixed:
        return None
    sentence = draw_wording("clock-in-the-prompt", rng)
    policy = placed(_DAY.sub("the day it is", task.environment.policy), sentence, rng)
    claim = f"{fixed[0]} is right on one day only"
    return Fault(task=with_environment(task, policy=policy), pointer="/environment/policy", after=sentence, claim=claim)


@operator(_OUTPUT, "rules", "the state has another figure and nothing has this one", rule_known=True)
def figure_that_stands_nowhere(sound: Sound, rng: Random) -> Fault | None:
    """Change, lose, double or move a digit of a required text that is in the state, so that it appears nowhere."""
    task = sound.task
    for index, text in enumerate(task.ground_truth.outputs):
        everything = known_text(task)
        if not re.search(r"\d", text) or not contains_word(text, everything):
            continue
        wrong = _other_figure(text, rng)
        if wrong not in text and not means_the_same(wrong, text) and not contains_word(wrong, everything):
            return output_fault(task, index, wrong, f"the state has {text}, the required text is {wrong}")
    return None


def _other_figure(text: str, rng: Random) -> str:
    at = rng.choice([match.start() for match in re.finditer(r"\d", text)])
    changed = text[:at] + str((int(text[at]) + rng.randrange(1, 9)) % 10) + text[at + 1 :]
    ways = [changed, lost(text, at, rng), doubled(text, at, rng)]
    if text[at + 1 : at + 2].isdigit():
        ways.append(exchanged(text, at, rng))
    if point := re.search(r"(\d)[.,](\d)", text):
        ways.append(f"{text[: point.start()]}.{point[1]}{text[point.end() - 1 :]}".lstrip("."))
    return rng.choice(ways)


@operator(_OUTPUT, "judge", "which record the user asks about needs reading", rule_known=False)
def figure_of_another_record(sound: Sound, rng: Random) -> Fault | None:
    """Require the figure of another record of the same kind."""
    task = sound.task
    for index, text in enumerate(task.ground_truth.outputs):
        shape = re.sub(r"[A-Z]", "[A-Z]", re.sub(r"\d", r"\\d", re.escape(text)))
        others = sorted({found for found in re.findall(rf'(?<=")(?:{shape})(?=")', known_text(task)) if found != text})
        if others and re.search(r"\d|[A-Z]{2}", text):
            wrong = rng.choice(others)
            return output_fault(task, index, wrong, f"{wrong} belongs to another record")
    return None
