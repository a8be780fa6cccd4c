"""Check: the request asks for several things of one kind, and no gold call answers one of them."""

from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.closed_texts import is_closed
from agenthard.audit.detectors.support.enumerated import unanswered_run, unlisted
from agenthard.audit.detectors.support.labelled_values import places
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import spoken_in
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask


class UnansweredPart(TaskDetector):
    """Of several things that a request asks for in one breath, none is left out by the gold calls.

    Looked at are scripted requests of one turn with nothing to look up:

    * **members of a list**: the user joins two names, quotations or Chinese words by "and", or lists three or more, and
      the calls give all but one of them;
    * **numbers in a row** that no call gives and from which no given number follows, each with a sign or a unit that
      given numbers have too: two shares and amounts in the request, one share and amount in the calls.

    Flagged: "the best Italian and Chinese restaurants in Paris" with one call, for Italian ones.
    Not flagged: a member that a call gives in part, by a ticker or in another spelling; a museum that is joined to a
    city ("in Washington and the Louvre Museum in Paris"); numbers of points in a list.

    Wrong where the user names a member only to leave it out.
    """

    id = "unanswered-part"
    title = "No gold call answers a part of the request"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    experimental = True
    why = "A run that does all that is asked makes a call more than the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only requests that have to be answered from their words alone can be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        return None if is_closed(task) else "its calls may follow from what can be looked up"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per part."""
        spoken = spoken_in(task)
        turn = next(i for i, calls in enumerate(task.ground_truth.turns) if calls)
        for own in places(task, turn).values():
            for place, member in unlisted(spoken, own, turn):
                at, shown = place.value.accepted[0]
                yield Hit(
                    claim=f"The gold call of {place.name!r} gives {place.value.name!r} as {shown!r}; the user lists "
                    f"{member.text!r} with it, which no call gives.",
                    evidence=(
                        quote(task, f"{place.pointer}/arguments{at}", note="the gold call"),
                        quote(task, member.at, text=member.text, note="what no call gives"),
                    ),
                    fix="Add what is missing, or take it out of the request.",
                    cause=shared_cause(task, place.name, place.value.member, member.text),
                )
        run = unanswered_run(spoken, turn)
        if run is not None:
            yield Hit(
                claim=f"No gold call gives a number of {run.text!r}, which the user says like those that calls give.",
                evidence=(
                    quote(task, f"/ground_truth/turns/{turn}/0", note="the first gold call"),
                    quote(task, run.at, text=run.text, note="what no call gives"),
                ),
                fix="Add the call that is missing, or take its numbers out of the request.",
                cause=shared_cause(task, run.text),
            )
