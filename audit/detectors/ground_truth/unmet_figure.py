"""Check: the replayed ground truth costs something else than the user states, or more than the user allows."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import gold_values
from agenthard.audit.detectors.support.moved_amounts import Change, changes, moved, numbers_of
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.task_texts import sentence_at
from agenthard.audit.evidence import quote
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask

_NUMBER = r"\d{1,12}(?:,\d{3}){0,4}(?:\.\d{1,4})?"
_UNIT = r"(?:US )?(?:dollars|USD|euros?|EUR|pounds|GBP)\b"
_MONEY = rf"(?:(?:USD|US\$|\$|€|£) ?(?P<sign>{_NUMBER})|(?P<unit>{_NUMBER}) ?{_UNIT})"
_COST = r"\b(?:costs?|costing|pric(?:es?|ed|ing)|fees?|fares?|total(?:s|ing)?)\b"
_STATED = re.compile(rf"{_COST}(?P<between>[^.?!;$\d]{{0,30}}){_MONEY}", re.IGNORECASE)
_BOUNDED = re.compile(
    r"\b(?:below|under|within|less|lower|cheaper|most|more|up to|max(?:imum)?|exceed\w*|over|above|least|min(?:imum)?"
    r"|budget\w*|limit\w*|around|about|approximately|roughly|cap\w*|threshold|reach\w*|drops?|falls?|than)\b",
    re.IGNORECASE,
)
"""Words next to an amount that is not what something costs, but a bound or a guess."""
_LIMIT = re.compile(
    r"\b(?:at most|(?:no|not) more tha[nt]|up to|(?:must|should|does|do|can|may)(?: not|n't) exceed"
    rf"|(?:not|without) exceeding|maximum of|budget of|keep\w*(?: \w+){{0,4}} (?:under|below|within))\b"
    rf"[^.?!;$\d]{{0,20}}{_MONEY}",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|unless|otherwise|in case|whether|suppose|would)\b", re.IGNORECASE)
_LIMITING = re.compile(
    r"\b(?:budget|spending)[ _]?(?:limit|cap)?\b|\b(?:max|maximum)[ _](?:price|cost|spending|budget)\b"
)
"""Names of parameters that set a limit to what is spent."""
_CLOSE = 0.005
"""Relative difference up to which two amounts are the same."""


class Stated(NamedTuple):
    """An amount that a text states."""

    amount: float
    turn: int
    """Turn of the statement; later turns are about other things, unless it is a limit."""
    evidence: Evidence


class UnmetFigure(TaskDetector):
    """What the gold calls cost when they are replayed is what the user says, and within the limit that is set.

    The ground truth is replayed, with a look at the state after each call. A call moves a sum of money where a balance
    of the state falls, or where a new record has a cost, price, fee or total. Two rules:

    * a scripted user states what something costs ("at a cost of $850", "the total fee is 850 dollars"), the gold calls
      of the same turn move money, and neither a sum that they move, nor all of these together, nor a number that a call
      up to then is given or returns is within half a percent of it;
    * a scripted user limits what may be spent ("no more than $2,500"), or a gold call gives a parameter called budget,
      budget limit or maximum price a number, and a call of this or of a later turn moves more in one go, a sum that no
      earlier turn showed the user.

    Flagged: "Book it, ensuring the total fee is $850", where the replayed booking costs 300. A gold call sets the
    budget limit to 1,428, and the next one books for 10,000.
    Not flagged: "costs about $850"; a sentence with a condition ("if it costs less than $850"); a statement in a turn
    that moves no money, since nothing shows then what it costs; figures of an instruction for a simulator, which also
    tells what happened before, and what to answer in which case.

    Wrong where the user may be mistaken on purpose, and where the number is a part of the cost that no record has.
    """

    id = "unmet-figure"
    title = "the replay costs something else than the user says"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    executes = True
    why = "A careful agent stops or asks when the price is not what the user said, and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why there is nothing to compare, or why the ground truth cannot be replayed; None when it can."""
        if not any(_stated(task)) and not any(_limits(task)):
            return "no text states what something costs or may cost"
        return why_not_replayed(task)

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per figure that is not met; variants of one base task share it."""
        made = changes(task)
        for said in _stated(task):
            here = [change for change in made if change.step.turn == said.turn]
            costs = [amount for change in here for amount in moved(change)]
            seen = {number for step in gold_replay(task).steps if step.turn <= said.turn for number in numbers_of(step)}
            if costs and not any(_same(said.amount, number) for number in (*seen, *costs, sum(costs))):
                yield _hit(task, said, here, f"states {said.amount:g}; the replayed gold calls of that turn move")
        for limit in _limits(task):
            most = limit.amount * (1 + _CLOSE)
            later = [change for change in made if change.step.turn >= limit.turn]
            over = [c for c in later if any(cost > most and not _told_before(task, c, cost) for cost in moved(c))]
            if over:
                yield _hit(
                    task, limit, over[:1], f"limits what is spent to {limit.amount:g}; a replayed gold call moves"
                )


def _told_before(task: AgentTask, change: Change, cost: float) -> bool:
    """Tell whether an earlier turn showed the user what it costs."""
    earlier = (step for step in gold_replay(task).steps if step.turn < change.step.turn)
    return any(_same(cost, number) for step in earlier for number in numbers_of(step))


def _stated(task: AgentTask) -> Iterator[Stated]:
    """Yield what the user says that something costs."""
    for pointer, text in _turns(task):
        for match in _STATED.finditer(text):
            before = text[max(0, match.start() - 30) : match.start()].rpartition(".")[2]
            if not any(map(_BOUNDED.search, (before, match["between"]))):
                yield from _said(task, pointer, text, match)


def _limits(task: AgentTask) -> Iterator[Stated]:
    """Yield what may be spent, by the user's words and by the gold calls that set a limit."""
    for pointer, text in _turns(task):
        for match in _LIMIT.finditer(text):
            yield from _said(task, pointer, text, match)
    for pointer, call in task.gold_calls():
        for value in gold_values(call.arguments):
            at, number = value.accepted[0]
            if _LIMITING.search(value.member) and isinstance(number, (int, float)) and number > 0:
                evidence = quote(task, f"{pointer}/arguments{at}", note="the limit that the gold sets")
                yield Stated(float(number), int(split(pointer)[2]), evidence)


def _turns(task: AgentTask) -> Iterator[tuple[str, str]]:
    """Yield what a scripted user says."""
    if task.user.kind == "scripted":
        yield from ((at, text) for at, text in task.user_texts() if split(at)[1] == "turns")


def _said(task: AgentTask, pointer: str, text: str, match: re.Match[str]) -> Iterator[Stated]:
    sentence = sentence_at(text, match.start())
    if not _CONDITION.search(sentence):
        amount = float((match["sign"] or match["unit"]).replace(",", ""))
        yield Stated(amount, int(split(pointer)[2]), quote(task, pointer, text=sentence, note="what the user says"))


def _same(one: float, other: float) -> bool:
    return abs(one - other) <= max(0.01, _CLOSE * abs(one))


def _hit(task: AgentTask, said: Stated, made: Sequence[Change], what: str) -> Hit:
    costs = sorted({amount for change in made for amount in moved(change)})
    names = ", ".join(dict.fromkeys(change.step.call.name for change in made if moved(change)))
    calls = (quote(task, change.step.pointer, note="the gold call") for change in made if moved(change))
    return Hit(
        claim=f"The request {what} {', '.join(f'{cost:g}' for cost in costs)} ({names}).",
        evidence=(said.evidence, *calls),
        fix="Let the user say what it costs, or let the ground truth ask before it pays.",
        cause=shared_cause(task, "unmet figure", said.amount, names),
    )
