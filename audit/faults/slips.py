"""Slips of the pen: a character that looks like another, and a misspelt text that a reply has to contain."""

from random import Random

from agenthard.audit.faults.editing import known, said, sites, stands_in
from agenthard.audit.faults.gold_values import unlike_the_user
from agenthard.audit.faults.mistyping import looking_alike, means_the_same, mistyped
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.scoring import output_fault

_CALL, _OUTPUT = "incorrect-tool-call", "wrong-expected-output"


@operator(
    _CALL,
    "rules",
    "the user's text has the right spelling, and nothing has the other",
    rule_known=False,
    also=("malformed-tool-call",),
)
def look_alike(sound: Sound, rng: Random) -> Fault | None:
    """Put a character that looks like another (O for 0), or that nobody sees, into an identifier that the user says."""
    text = said(sound.task)
    for site in sites(sound.task, rng):
        for name, value in site.values():
            if not isinstance(value, str) or not any(map(str.isdigit, value)) or not stands_in(value, text):
                continue
            wrong = looking_alike(value, rng)
            if len(value) >= 5 and not stands_in(wrong, known(sound.task)):
                return unlike_the_user(sound.task, site, name, value, wrong)
    return None


@operator(_OUTPUT, "rules", "the state has the right spelling and nothing has this one", rule_known=False)
def misspelt_required_text(sound: Sound, rng: Random) -> Fault | None:
    """Misspell a required text that is in the state: a character lost, doubled, exchanged or hit next to."""
    for index, text in enumerate(sound.task.ground_truth.outputs):
        everything = known(sound.task)
        wrong = mistyped(text, rng)
        if wrong in text or means_the_same(wrong, text):
            continue
        if stands_in(text, everything) and not stands_in(wrong, everything):
            return output_fault(sound.task, index, wrong, f"the state has {text}, the required text is {wrong}")
    return None
