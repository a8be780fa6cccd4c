"""Check: gold values are exchanged between two calls, two objects of a list, or two arguments."""

from collections import Counter
from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import GoldValue, gold_values
from agenthard.audit.detectors.support.label_order import Named, misordered
from agenthard.audit.detectors.support.record_order import Cell, Crossed, crossed, key, records
from agenthard.audit.detectors.support.repeated_places import InPlace, in_place
from agenthard.audit.detectors.support.said_and_called import why_not_compared
from agenthard.audit.detectors.support.said_places import Said, Scope
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import spoken_in
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask

_MARGIN = 20
"""Characters that a quote shows around what it is about."""


class ExchangedValues(TaskDetector):
    """The values of a request belong together in the gold answer as they do in the request.

    Looked at are values that the user says once for a turn and its gold calls give once:

    * **records**: calls of one tool in a turn, and objects of one list. A request that lists them says their values in
      one order; it is flagged when two records have the values of one place in contrary order to those of another;
    * **records** of which two have one value that the user says once, where the user says another one between the same
      words that no call gives: "heat corn fields, then heat wheat fields", and both calls have corn;
    * **names**: two arguments of one object that have values of one form, where the request has the name of each right
      near the value of the other ("systolic 120, diastolic 80"), in Chinese the name in its description;
    * **ranks**: arguments such as `first_id` and `second_id`, `num1` and `num2`, whose values come the other way round.

    Flagged: "12 red and 30 blue" and ``add(colour="red", count=30)``, ``add(colour="blue", count=12)``.

    Not flagged: values that are said twice, or given twice ("for both"); records of which others combine the same
    values each with each; values that may be left out.

    When it is wrong: the request takes up its items again in another order, in other words ("the latter").
    """

    id = "exchanged-values"
    title = "Gold values are exchanged or repeated between calls, objects or arguments"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    experimental = True
    why = "A run that keeps together what the user says together differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        return why_not_compared(task)

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per pair of exchanged values."""
        spoken = spoken_in(task)
        for turn, calls in enumerate(task.ground_truth.turns):
            scope = tuple(spoken.scope(turn))
            if not calls or not scope:
                continue
            given = Counter(key(value) for call in calls for value in gold_values(call.arguments))
            for group in records(task, turn):
                for found in crossed(group, scope, given):
                    yield _between_records(task, scope, found)
                for other in in_place(group, scope, spoken.given_text) if spoken.is_scripted else ():
                    yield _repeated(task, other)
            for index, call in enumerate(calls):
                tool = task.tool(call.name, call.requestor)
                for pair in misordered(call, tool, scope, given) if tool else ():
                    yield _within(
                        task, scope, Cell(f"/ground_truth/turns/{turn}/{index}", call.name, pair[0].value), pair
                    )


def _between_records(task: AgentTask, scope: Scope, found: Crossed) -> Hit:
    one, other = found.one, found.other
    claim = (
        f"The gold calls of {one.first.name!r} give {_named(one.first.value)} with {_named(other.first.value)} and "
        f"{_named(one.second.value)} with {_named(other.second.value)}; the user says them in another order."
    )
    places = (one.first_said, one.second_said, other.first_said, other.second_said)
    return Hit(
        claim=claim,
        evidence=(
            _gold(task, one.first),
            _gold(task, one.second),
            _words(task, scope, min(places), max(places)),
        ),
        fix="Exchange the two values, or what the user says.",
        cause=shared_cause(task, one.first.name, one.first.value.member, key(one.first.value), key(one.second.value)),
    )


def _repeated(task: AgentTask, found: InPlace) -> Hit:
    cell = found.cell
    return Hit(
        claim=f"The gold call of {cell.name!r} gives {_named(cell.value)}, as in another place; the user says it once, "
        f"and {found.text!r} between the same words, which nothing uses.",
        evidence=(_gold(task, cell), quote(task, found.at, text=found.text, note="what the user says")),
        fix=f"Use {found.text!r}, or change what the user says.",
        cause=shared_cause(task, cell.name, cell.value.member, key(cell.value), found.text),
    )


def _within(task: AgentTask, scope: Scope, cell: Cell, pair: tuple[Named, Named]) -> Hit:
    one, other = pair
    names = "" if one.label is None else f", {_text(scope, one.label)!r} and {_text(scope, other.label)!r}"  # type: ignore[arg-type]
    order = f"by their names{names}" if names else "in the order of the user"
    claim = (
        f"The gold call of {cell.name!r} gives {_named(one.value)} and {_named(other.value)}; {order} it is the other "
        "way round."
    )
    places = [place for each in pair for place in (each.said, each.label) if place is not None]
    return Hit(
        claim=claim,
        evidence=(
            _gold(task, cell),
            _gold(task, Cell(cell.pointer, cell.name, other.value)),
            _words(task, scope, min(places), max(places)),
        ),
        fix="Exchange the two values, or what the user says.",
        cause=shared_cause(task, cell.name, one.value.member, key(one.value), key(other.value)),
    )


def _gold(task: AgentTask, cell: Cell) -> Evidence:
    return quote(task, f"{cell.pointer}/arguments{cell.value.accepted[0][0]}", note="the gold call")


def _words(task: AgentTask, scope: Scope, first: Said, last: Said) -> Evidence:
    at, text = scope[first.text]
    return quote(task, at, text=text[max(0, first.start - _MARGIN) : last.end + _MARGIN], note="what the user says")


def _text(scope: Scope, place: Said) -> str:
    return scope[place.text][1][place.start : place.end]


def _named(value: GoldValue) -> str:
    return f"{value.name!r} as {value.accepted[0][1]!r}"
