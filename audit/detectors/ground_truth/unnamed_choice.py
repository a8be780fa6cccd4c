"""Check: the user names one choice of an argument, and the ground truth gives another."""

from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.choice_sets import Place, missed_choices
from agenthard.audit.detectors.support.outside_choices import missed_defaults, outside_choices
from agenthard.audit.detectors.support.said_and_called import why_not_compared
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import spoken_in
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class UnnamedChoice(TaskDetector):
    """The choices of a gold answer are those that the user names.

    Looked at are, for each argument in all calls and lists of a turn:

    * **choices** from an enum or as the documentation lists them: the user names one that no call gives, and one value
      is a choice that the user does not name; or a choice is there twice, and the user names as many as there are
      values. Listed members and values that may be left out count too;
    * **choices that do not exist**: the gold gives a choice from an enum that no text says, and what the user says for
      the argument, in quotation marks right next to its name or as a number with the unit of the others, is not in the
      enum: "in 'Mint' condition";
    * **defaults**: the answer accepts only the documented default, or that it is left out, and the user states a number
      in the words of the documentation, or a country for a country, that nothing uses.

    Flagged: "psychological and social", where one call gives psychological and the other cultural.

    Not flagged: negated choices, conditions, what comes after "my", a choice that another argument of the turn has, one
    that an assistant's call has already used; choices of which an assistant names several.

    When it is wrong: the user means a choice in words of other letters, and the named word means something else.
    """

    id = "unnamed-choice"
    title = "The user names a choice and the ground truth gives another"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    why = "A run that takes what the user names differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        return why_not_compared(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value."""
        spoken = spoken_in(task)
        for turn in range(len(task.ground_truth.turns)):
            for missed in missed_choices(task, spoken, turn):
                how = f"but the user says {missed.text!r}, which means {missed.choice!r}, and no call gives it"
                how = f"as in another place, {how}" if missed.repeated else how
                yield _hit(task, missed.place, how, missed.at, missed.text)
            for outside in outside_choices(task, spoken, turn):
                how = f"a choice that no text names; the user says {outside.text!r}, which is none of the choices"
                yield _hit(task, outside.place, how, outside.at, outside.text)
            for other in missed_defaults(task, spoken, turn):
                how = f"the documented default; the user says {other.text!r}, which nothing uses"
                yield _hit(task, other.place, how, other.at, other.text)


def _hit(task: AgentTask, place: Place, how: str, at: str, text: str) -> Hit:
    shown_at, shown = place.value.accepted[0]
    return Hit(
        claim=f"The gold call of {place.name!r} gives {place.value.name!r} as {shown!r}, {how}.",
        evidence=(
            quote(task, f"{place.pointer}/arguments{shown_at}", note="the gold call"),
            quote(task, at, text=text, note="what the user says"),
        ),
        fix="Give the choice that the user names, or change what the user says.",
        cause=shared_cause(task, place.name, place.value.member, str(shown), text),
    )
