"""Slips of the pen: a character that looks like another, and a misspelt text that a reply has to contain."""

from random import Random

from audit.faults.editing import known, said, sites, stands_in, with_value
from audit.faults.operator import Fault, Sound, operator
from audit.faults.scoring import output_fault

_LOOK_ALIKE = {"0": "O", "O": "0", "1": "l", "l": "1", "5": "S", "S": "5", "8": "B", "B": "8"}
_CALL, _OUTPUT = "incorrect-tool-call", "wrong-expected-output"


@operator(_CALL, "rules", "the user's text has the right spelling, and nothing has the other", rule_known=False)
def look_alike(sound: Sound, rng: Random) -> Fault | None:
    """Put a character that looks like another (O for 0, l for 1) into an identifier that the user says."""
    text = said(sound.task)
    for site in sites(sound.task, rng):
        for name, value in site.values():
            if not isinstance(value, str) or not any(map(str.isdigit, value)) or not stands_in(value, text):
                continue
            places = [at for at, character in enumerate(value) if character in _LOOK_ALIKE and at]
            if len(value) < 5 or not places:
                continue
            at = rng.choice(places)
            wrong = value[:at] + _LOOK_ALIKE[value[at]] + value[at + 1 :]
            if not stands_in(wrong, known(sound.task)):
                return Fault(
                    task=with_value(sound.task, site, name, wrong),
                    pointer=f"{site.pointer}/arguments/{name}",
                    before=value,
                    after=wrong,
                    says=f"the user says {value}, the gold call has {wrong}",
                )
    return None


@operator(_OUTPUT, "rules", "the state has the right spelling and nothing has this one", rule_known=False)
def misspelt_required_text(sound: Sound, rng: Random) -> Fault | None:
    """Exchange two neighbouring characters of a required text that stands in the state."""
    for index, text in enumerate(sound.task.ground_truth.outputs):
        everything = known(sound.task)
        places = [at for at in range(len(text) - 1) if text[at : at + 2].isalnum() and text[at] != text[at + 1]]
        if not places or not stands_in(text, everything):
            continue
        at = rng.choice(places)
        wrong = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
        if not stands_in(wrong, everything):
            return output_fault(sound.task, index, wrong, f"the state has {text}, the required text is {wrong}")
    return None
