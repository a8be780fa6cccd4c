"""Evaluations: too lenient, too strict, a requirement that is not scored, a score that no run reaches."""

import re
from random import Random
from typing import Any

from agenthard.audit.execution.environment import Attempt
from agenthard.audit.faults.editing import contains_word, known_text, sites, user_text, with_value
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.soundness import accepts_gold, verdict_of
from agenthard.audit.faults.wordings import draw_wording
from agenthard.taxonomy.task import AgentTask, Check

_LENIENT, _STRICT = "too-lenient", "too-strict"
_UNSCORED, _UNREACHABLE = "unscored-requirement", "unreachable-score"
_REFERENCES = ("REF-{0}", "CASE-{0}", "VN-{0}", "#{0}{1}", "INV/2025/{0}", "tkt{0}{1}", "{0}-{1}-A", "no. {0}.{1}")


def _with_checks(task: AgentTask, checks: tuple[Check, ...]) -> AgentTask:
    return task.model_copy(update={"evaluation": task.evaluation.model_copy(update={"checks": checks})})


def _with_output(task: AgentTask, index: int, text: str) -> AgentTask | None:
    """Put another text in the place of a required one, in the ground truth and in its check."""
    old, pointer = task.ground_truth.outputs[index], f"/ground_truth/outputs/{index}"
    outputs = (*task.ground_truth.outputs[:index], text, *task.ground_truth.outputs[index + 1 :])
    changed = task.model_copy(update={"ground_truth": task.ground_truth.model_copy(update={"outputs": outputs})})
    checks = tuple(
        check.model_copy(update={"expected": text}) if check.pointer == pointer and check.expected == old else check
        for check in task.evaluation.checks
    )
    return _with_checks(changed, checks) if checks != task.evaluation.checks else None


def output_fault(task: AgentTask, index: int, text: str, claim: str) -> Fault | None:
    """Plant another required text; None where no check compares with it."""
    changed = _with_output(task, index, text)
    pointer, before = f"/ground_truth/outputs/{index}", task.ground_truth.outputs[index]
    return None if changed is None else Fault(task=changed, pointer=pointer, before=before, after=text, claim=claim)


@operator(_LENIENT, "rules", "no check of the task is scored", rule_known=True, also=(_UNSCORED,))
def nothing_is_scored(sound: Sound, rng: Random) -> Fault | None:
    """Score none of the checks, so that every run passes."""
    checks = sound.task.evaluation.checks
    if not any(check.scored for check in checks) or not any(sound.task.gold_calls()):
        return None
    off = tuple(check.model_copy(update={"scored": False}) for check in checks)
    task = _with_checks(sound.task, off)
    if verdict_of(task, Attempt()) is False:
        return None  # the evaluator scores whatever the record says
    return Fault(task=task, pointer="/evaluation/checks", before=True, after=False, claim="no check is scored")


@operator(_LENIENT, "rules", "every reply contains an empty text", rule_known=True)
def empty_required_text(sound: Sound, rng: Random) -> Fault | None:
    """Require an empty text: none, a space, or a comma where commas are removed."""
    outputs = sound.task.ground_truth.outputs
    if not outputs:
        return None
    at = rng.randrange(len(outputs))
    pointer = f"/ground_truth/outputs/{at}"
    removed = any("commas removed" in c.note for c in sound.task.evaluation.checks if c.pointer == pointer)
    empty = rng.choice(("", " ", ",", ", ") if removed else ("", " "))
    return output_fault(sound.task, at, empty, "every reply contains the required text")


@operator(_LENIENT, "rules", "the digits are part of other numbers of the task", rule_known=True)
def digits_that_stand_elsewhere(sound: Sound, rng: Random) -> Fault | None:
    """Require one or two digits that other numbers around the task contain."""
    around = user_text(sound.task)
    for index, text in enumerate(sound.task.ground_truth.outputs):
        short = [part for part in re.findall(r"\d{1,2}", text) if re.search(rf"\d{part}|{part}\d", around)]
        if short:
            digits = rng.choice(short)
            return output_fault(sound.task, index, digits, f"{digits} is part of other numbers as well")
    return None


@operator(_LENIENT, "rules", "doing nothing leaves the state that is wanted", rule_known=True)
def nothing_reaches_the_state(sound: Sound, rng: Random) -> Fault | None:
    """Empty the ground truth of a task that is scored by the state it leaves, so that doing nothing passes."""
    task, truth = sound.task, sound.task.ground_truth
    if truth.call_matching != "state" or truth.outputs or not any(site.writes for site in sites(task, rng)):
        return None
    changed = task.model_copy(update={"ground_truth": truth.model_copy(update={"turns": ((),) * len(truth.turns)})})
    if verdict_of(changed, Attempt()) is False:
        return None
    return Fault(
        task=changed,
        pointer="/ground_truth/turns",
        before=sum(map(len, truth.turns)),
        after=0,
        claim="a run that does nothing passes",
    )


@operator(_STRICT, "rules", "default and demand are both in the files", rule_known=True)
def default_demanded(sound: Sound, rng: Random) -> Fault | None:
    """Demand an argument that may be left out and has its documented default, and that no text mentions."""
    task = sound.task
    if task.ground_truth.call_matching == "state":
        return None
    for site in sites(task, rng):
        for name, schema in site.properties.items():
            default = schema.get("default")
            missing = name not in site.call.arguments and name not in site.tool.parameters.get("required", ())
            if missing and default not in (None, "") and not contains_word(default, user_text(task)):
                changed = with_value(task, site, name, default)
                if verdict_of(changed, Attempt(turns=task.ground_truth.turns)) is True:
                    continue
                return Fault(
                    task=changed,
                    pointer=f"{site.pointer}/arguments/{name}",
                    after=default,
                    claim=f"a run that leaves {name} at its default fails",
                )
    return None


@operator(_STRICT, "rules", "a whole sentence that no text and no tool gives", rule_known=True, also=(_UNREACHABLE,))
def verbatim_sentence(sound: Sound, rng: Random) -> Fault | None:
    """Require a whole sentence, word by word, around what the reply has to contain."""
    for index, text in enumerate(sound.task.ground_truth.outputs):
        sentence = draw_wording("verbatim-sentence", rng, text=text)
        return output_fault(sound.task, index, sentence, f"a right reply in other words than {sentence!r} fails")
    return None


@operator(_STRICT, "rules", "words of courtesy that nothing asks for", rule_known=False, also=(_UNREACHABLE,))
def courtesy_demanded(sound: Sound, rng: Random) -> Fault | None:
    """Require words of courtesy in addition to what the reply has to contain."""
    task, truth = sound.task, sound.task.ground_truth
    pattern = next((check for check in task.evaluation.checks if check.kind == "output_substring"), None)
    phrase = draw_wording("courtesy-demanded", rng)
    if pattern is None or not truth.outputs or phrase.lower() in known_text(task).lower():
        return None
    outputs = (*truth.outputs, phrase)
    pointer = f"/ground_truth/outputs/{len(truth.outputs)}"
    changed = task.model_copy(update={"ground_truth": truth.model_copy(update={"outputs": outputs})})
    checks = (*task.evaluation.checks, pattern.model_copy(update={"expected": phrase, "pointer": pointer}))
    claim = f"a right reply without {phrase!r} fails"
    return Fault(task=_with_checks(changed, checks), pointer=pointer, after=phrase, claim=claim)


@operator(_STRICT, "rules", "one path of several is compared call by call", rule_known=True)
def one_path_only(sound: Sound, rng: Random) -> Fault | None:
    """Compare the calls of a reference path one by one, look-ups included, where only the state was compared."""
    task, truth = sound.task, sound.task.ground_truth
    free = truth.semantics == "reference_path" and truth.call_matching == "state"
    if not free or not any(site.tool.effect == "read" for site in sites(task, rng)) or accepts_gold(task) is not None:
        return None
    checks = tuple(
        check.model_copy(update={"kind": "tool_calls"}) if check.kind == "final_state" else check
        for check in task.evaluation.checks
    )
    changed = task.model_copy(update={"ground_truth": truth.model_copy(update={"call_matching": "exact"})})
    return Fault(
        task=_with_checks(changed, checks),
        pointer="/ground_truth/call_matching",
        before="state",
        after="exact",
        claim="a run that takes another way to the same state fails",
    )


@operator(_STRICT, "judge", "that the other spellings were right as well needs knowledge", rule_known=False)
def one_spelling_only(sound: Sound, rng: Random) -> Fault | None:
    """Accept only one of several accepted spellings of a value."""
    for site in sites(sound.task, rng):
        for name, value in site.call.arguments.items():
            choices = value.get("$any_of", []) if isinstance(value, dict) else []
            words = [choice for choice in choices if isinstance(choice, str) and choice]
            if len(words) > 1 and name in site.properties and not value.get("$optional"):
                kept = words[-1]
                return Fault(
                    task=with_value(sound.task, site, name, kept),
                    pointer=f"{site.pointer}/arguments/{name}",
                    before=words,
                    after=kept,
                    claim=f"{words[0]} is as right as {kept} and fails",
                )
    return None


@operator(_UNSCORED, "rules", "the criterion says of itself that no code scores it", rule_known=True)
def criterion_not_scored(sound: Sound, rng: Random) -> Fault | None:
    """State a criterion about what the agent claim, without scoring it."""
    sentence = draw_wording("criterion-not-scored", rng)
    kind: Any = rng.choice(("rubric", "judge", "state_assertion"))
    checks = (*sound.task.evaluation.checks, Check(kind=kind, scored=False, expected=sentence))
    claim = "a stated criterion is not scored"
    pointer = f"/evaluation/checks/{len(checks) - 1}"
    return Fault(task=_with_checks(sound.task, checks), pointer=pointer, after=sentence, claim=claim)


@operator(_UNSCORED, "judge", "that the user wants to be told something needs reading", rule_known=False)
def answer_no_longer_required(sound: Sound, rng: Random) -> Fault | None:
    """Drop the required text of a task whose user asks for it."""
    task, truth = sound.task, sound.task.ground_truth
    if not truth.outputs or not any(task.gold_calls()):
        return None
    kept = tuple(check for check in task.evaluation.checks if check.kind != "output_substring")
    changed = task.model_copy(update={"ground_truth": truth.model_copy(update={"outputs": ()})})
    return Fault(
        task=_with_checks(changed, kept),
        pointer="/ground_truth/outputs",
        before=list(truth.outputs),
        claim="whether the user is told the answer is not scored",
    )


@operator(_UNREACHABLE, "rules", "one scored check wants calls and another forbids them", rule_known=True)
def checks_that_exclude_each_other(sound: Sound, rng: Random) -> Fault | None:
    """Forbid all calls in a task that needs some."""
    task = sound.task
    if not any(site.writes for site in sites(task, rng)) or accepts_gold(task) is not None:
        return None  # where an evaluator is at hand, it decides, and not what the record says
    checks = (*task.evaluation.checks, Check(kind="no_call", scored=True))
    claim = "no run can make the calls and call nothing"
    pointer = f"/evaluation/checks/{len(checks) - 1}"
    return Fault(task=_with_checks(task, checks), pointer=pointer, after="no_call", claim=claim)


@operator(_UNREACHABLE, "rules", "the tool is withheld to the end", rule_known=True, also=("malformed-tool-call",))
def needed_tool_withheld(sound: Sound, rng: Random) -> Fault | None:
    """Withhold a tool for good that the ground truth calls."""
    for site in sites(sound.task, rng):
        hidden = {**sound.task.hidden_tools, "": (*sound.task.hidden_tools.get("", ()), site.tool.name)}
        return Fault(
            task=sound.task.model_copy(update={"hidden_tools": hidden}),
            pointer="/hidden_tools",
            after=site.tool.name,
            claim=f"{site.tool.name} is never revealed",
        )
    return None


@operator(_UNREACHABLE, "rules", "no text, tool or state has it", rule_known=True, also=("wrong-expected-output",))
def text_that_nobody_knows(sound: Sound, rng: Random) -> Fault | None:
    """Require a reference number that appears nowhere."""
    task = sound.task
    number = rng.choice(_REFERENCES).format(rng.randrange(10_000, 99_999), rng.randrange(10, 99))
    if not task.ground_truth.outputs or accepts_gold(task) is False or contains_word(number, known_text(task)):
        return None
    return output_fault(
        task, rng.randrange(len(task.ground_truth.outputs)), number, f"nothing tells the agent {number}"
    )
