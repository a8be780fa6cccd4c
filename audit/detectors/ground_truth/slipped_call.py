"""Check: a gold call does to one record what another call did already, and leaves another record out."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.named_calls import Made, made_calls
from agenthard.audit.detectors.support.reachable_records import objects_in, reachable
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_FEWEST = 3
"""Records that the calls of one tool go through for it to be a list that is worked off."""
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_BORN = re.compile(r"birth|born|dob|created|deadline|due", re.IGNORECASE)
_LISTED = re.compile(
    r"\b(?:one of|exact|valid|allowed|accepted|only)\b[^\n]{0,120}:[ ]*\n+((?:[ \t]*[-*•] ?[^\n]{2,60}\n+){3,40})",
    re.IGNORECASE,
)


class SlippedCall(TaskDetector):
    """The gold calls go through their records one by one, and the values of one are not those of its neighbour.

    A call whose arguments are the name and the arguments of another tool is looked at as that one. Rules:

    1. the same call that changes something is not made twice with the same arguments, where the ground truth reads a
       record of the same table that no such call names;
    2. where the calls of one tool name three records or more, one by one, the calls of another tool that are as many
       and name the same records do not name one twice and leave one out;
    3. an increase is not the new limit: a parameter called increase has another number than one called limit;
    4. the days of the items of a list (the legs of a trip) do not go back;
    5. an item of a list (a passenger) does not have the value of its neighbour, where the record in the state that the
       list replaces has two values, and no text has that value;
    6. a text lists the values that are valid, and the gold gives one of these, not another name from the same text.

    Flagged: credits for the accounts 1, 2, 3 and 3, after a look at the accounts 1, 2, 3 and 4. A second passenger with
    the birthday of the first one. A first leg on May 24, and a second one on May 23.
    Not flagged: two looks at one account; a second attempt after a change.

    Wrong where one record is meant to be treated twice.
    """

    id = "slipped-call"
    title = "a gold call has the values of its neighbour"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "A run that treats each record once ends in another state than the ground truth."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only calls that change a state are looked at; where calls are compared, repeating one may be asked for."""
        if task.ground_truth.call_matching != "state":
            return "the state that the calls leave is not compared"
        return None if any(True for _ in task.gold_calls()) else "the ground truth has no call"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per slip."""
        calls = list(made_calls(task))
        yield from _made_twice(task, calls)
        yield from _left_out(task, calls)
        yield from _increase_is_limit(task, calls)
        yield from _back_in_time(task, calls)
        yield from _of_its_neighbour(task, calls)
        yield from _not_listed(task, calls)


def _hit(task: AgentTask, claim: str, *places: str) -> Hit:
    return Hit(
        claim=claim,
        evidence=tuple(quote(task, at, note="the gold call") for at in dict.fromkeys(places)),
        fix="Give the call the values of its own record.",
    )


def _made_twice(task: AgentTask, calls: list[Made]) -> Iterator[Hit]:
    seen: dict[str, Made] = {}
    for call in calls:
        if call.reads or not call.identifiers():
            continue
        key = f"{call.requestor} {call.name} {canonical_json(call.arguments)}"
        left = _unnamed(calls, call)
        if key in seen and left is not None:
            yield _hit(
                task,
                f"The gold makes the call {call.name} twice with the same arguments, and none for {left}.",
                seen[key].at,
                call.at,
            )
        seen.setdefault(key, call)


def _unnamed(calls: list[Made], call: Made) -> str | None:
    """Return an identifier that other calls give for a parameter of this call, and no call of its tool does."""
    own = {value for each in calls if each.name == call.name for value in each.identifiers().values()}
    for name in call.identifiers():
        others = [each.identifiers()[name] for each in calls if name in each.identifiers()]
        left = [value for value in others if value not in own]
        if left:
            return left[0]
    return None


def _left_out(task: AgentTask, calls: list[Made]) -> Iterator[Hit]:
    named: dict[tuple[str, str, str], list[Made]] = defaultdict(list)
    for call in calls:
        for parameter in call.identifiers():
            named[call.name, call.requestor, parameter].append(call)
    for key, made in named.items():
        values = [call.identifiers()[key[2]] for call in made]
        repeated = [value for value, count in Counter(values).items() if count > 1]
        if made[0].reads or len(repeated) != 1 or len(values) < _FEWEST:
            continue
        for other, listed in named.items():
            all_of = [call.identifiers()[other[2]] for call in listed]
            if other[2] != key[2] or len(set(all_of)) < max(_FEWEST, len(all_of)) or len(all_of) != len(values):
                continue
            left = [value for value in all_of if value not in values]
            if len(left) == 1 and set(values) < set(all_of):
                twice = [call.at for call, value in zip(made, values, strict=True) if value == repeated[0]]
                yield _hit(task, f"The gold makes {key[0]} for {repeated[0]} twice, and not for {left[0]}.", *twice)
                return


def _increase_is_limit(task: AgentTask, calls: list[Made]) -> Iterator[Hit]:
    for call in calls:
        for name, number in call.numbers().items():
            limits = [
                other
                for other in calls
                for parameter, value in other.numbers().items()
                if "limit" in parameter and "increase" not in parameter and value == number
            ]
            if "increase" in name and limits:
                yield _hit(
                    task,
                    f"The gold gives {number:g} as {name} and as the limit that results.",
                    call.at,
                    limits[0].at,
                )


def _lists(calls: list[Made]) -> Iterator[tuple[Made, str, list[dict[str, Any]]]]:
    for call in calls:
        for name, value in call.arguments.items():
            if isinstance(value, list) and len(value) > 1 and all(isinstance(item, dict) for item in value):
                yield call, name, value


def _back_in_time(task: AgentTask, calls: list[Made]) -> Iterator[Hit]:
    for call, name, items in _lists(calls):
        for field in items[0] if not call.reads else ():
            days = [item.get(field) for item in items]
            texts = [day for day in days if isinstance(day, str) and _DAY.fullmatch(day)]
            if len(texts) == len(items) and not _BORN.search(field) and texts != sorted(texts):
                yield _hit(task, f"The {field} of the {name} goes back: {', '.join(texts)}.", call.at)


def _of_its_neighbour(task: AgentTask, calls: list[Made]) -> Iterator[Hit]:
    said = " ".join(text for _, text in task.user_texts())
    for call, name, items in _lists(calls):
        stored = [value for found in reachable(task) for _, record in objects_in(found) for value in record.values()]
        alike = [value for value in stored if isinstance(value, list) and len(value) == len(items)]
        for old in alike:
            if not all(isinstance(each, dict) and each.keys() >= items[0].keys() for each in old):
                continue
            for field in items[0]:
                for number, item in enumerate(items):
                    before = old[number][field]
                    others = [i for i, each in enumerate(items) if i != number and each.get(field) == item.get(field)]
                    taken = [i for i in others if old[i][field] == item.get(field) != before]
                    if str(item.get(field)) in said:
                        continue
                    if taken and any(item.get(key) == old[number][key] for key in item if key != field):
                        yield _hit(
                            task,
                            f"Item {number + 1} of the {name} has the {field} {item[field]!r} of item {taken[0] + 1}; "
                            f"the record has {before!r}.",
                            call.at,
                        )
                        return


def _not_listed(task: AgentTask, calls: list[Made]) -> Iterator[Hit]:
    for at, text in task.user_texts():
        for match in _LISTED.finditer(text):
            values = [line.strip(" \t-*•.\"'") for line in match[1].splitlines() if line.strip()]
            rest = text[: match.start(1)] + text[match.end(1) :]
            for call in calls:
                for value in call.arguments.values():
                    if not isinstance(value, str) or value in values or value not in rest or " " not in value:
                        continue
                    meant = [each for each in values if each.split()[:2] == value.split()[:2]]
                    if meant:
                        yield Hit(
                            claim=f"The gold gives {value!r}; the valid values that the text lists have {meant[0]!r}.",
                            evidence=(
                                quote(task, at, text=meant[0], note="what the text lists"),
                                quote(task, call.at, note="the gold call"),
                            ),
                            fix=f"Give {meant[0]!r}.",
                        )
