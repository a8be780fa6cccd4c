"""Slips of the pen: a character that looks like another, and a misspelt text that a reply has to contain."""

from random import Random

from agenthard.audit.faults.editing import contains_word, known_text, sites, user_text
from agenthard.audit.faults.gold_values import unlike_the_user
from agenthard.audit.faults.operator import Fault, Sound, operator
from agenthard.audit.faults.scoring import output_fault
from agenthard.audit.faults.wordings import looking_alike, means_the_same, misspell

_CALL, _OUTPUT = "incorrect-tool-call", "wrong-expected-output"


@operator(
    _CALL,
    "rules",
    "the user's text has the right spelling, and nothing has the other",
    rule_known=False,
    also=("malformed-tool-call",),
)
def look_alike(sound: Sound, rng: Random) -> Fault | None:
    """Put a character that looks like another (O for 0), or an invisible one, into an identifier that the user says."""
    text = user_text(sound.task)
    for site in sites(sound.task, rng):
        for name, value in site.values():
            if not isinstance(value, str) or not any(map(str.isdigit, value)) or not contains_word(value, text):
                continue
            wrong = looking_alike(value, rng)
            if len(value) >= 5 and not contains_word(wrong, known_text(sound.task)):
                return unlike_the_user(sound.task, site, name, value, wrong)
    return None


@operator(_OUTPUT, "rules", "the state has the right spelling and nothing has this one", rule_known=False)
def misspelt_required_text(sound: Sound, rng: Random) -> Fault | None:
    """Misspell a required text that is in the state: a character lost, doubled, exchanged or mistyped."""
    for index, text in enumerate(sound.task.ground_truth.outputs):
        everything = known_text(sound.task)
        wrong = misspell(text, rng)
        if wrong in text or means_the_same(wrong, text):
            continue
        if contains_word(text, everything) and not contains_word(wrong, everything):
            return output_fault(sound.task, index, wrong, f"the state has {text}, the required text is {wrong}")
    return None
