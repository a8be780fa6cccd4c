"""Which tables of a state have dates: without them nothing in it tells which record is the most recent."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.context.state_index import StateIndex
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask

_IN_TIME = re.compile(
    r"\b(most recent|recent|recently|latest|newest|oldest|earliest|previous|previously|"
    r"(last|first) (order|purchase|booking|reservation|ticket|message|tweet|post|transaction|payment|visit|one))\b",
    re.IGNORECASE,
)
"""Words that put records in the order of time. "First name", "first class" and "the last step" are none."""
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOST_FIELDS = 8
"""Fields that are named per table."""
LABEL = "checks/dates"
"""Label of the passage."""


def date_passages(task: AgentTask, shown: Iterable[tuple[StateIndex, set[int]]]) -> Iterator[Passage]:
    """Yield one passage that says which fields of the shown tables hold dates, if the user speaks of an order in time.

    Args:
        task: The task.
        shown: The states, each with the positions in its index of the records that are shown.
    """
    named = dict.fromkeys(
        match.group(0).casefold() for _, text in task.user_texts() for match in _IN_TIME.finditer(text)
    )
    if not named:
        return
    lines = [line for index, numbers in shown for line in _tables(index, numbers)]
    if lines:
        words = ", ".join(f'"{word}"' for word in named)
        text = "\n".join([f"The user's text says {words}. Dates in the state, all records counted:", *lines])
        yield Passage(label=LABEL, part="checks", title="dates in the state", text=text, needed=True)


def _tables(index: StateIndex, numbers: set[int]) -> Iterator[str]:
    for table in dict.fromkeys(index.records[number].table for number in sorted(numbers)):
        records = index.tables[table]
        holding: dict[str, set[str]] = {}
        for record in records:
            days = {entry for entry in index.series.get(record, ()) if _DATE.match(entry)}
            if days:
                holding.setdefault("the days of its series", set()).add(record)
            for field, term in index.held[record]:
                if _DATE.match(term):
                    holding.setdefault(field, set()).add(record)
        name = (split(table) or ["state"])[-1]
        if not holding:
            no = "no field holds a date: only the order in which they are listed could tell which is later"
            yield f"- {name} ({len(records)}): {no}"
            continue
        fields = [f"{field} ({len(holding[field])})" for field in sorted(holding)]
        more = f" and {len(fields) - _MOST_FIELDS} more" if len(fields) > _MOST_FIELDS else ""
        yield f"- {name} ({len(records)}): dates in {', '.join(fields[:_MOST_FIELDS])}{more}"
