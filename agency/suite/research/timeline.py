"""Second task of the research scenario: a timeline, and statements that contradict each other."""

import csv
import io

from agenthard.agency.judges import Outcome, Probe, ProbeError
from agenthard.agency.suite.kit import Clause, TaskPlan, field
from agenthard.agency.suite.research.papers import Place, document, evidence, place

EVENTS: dict[str, tuple[str, tuple[Place, ...]]] = {
    "light-first-shown": ("1868-03-04", (place("keepers-log.txt", "Light shown for the first"),)),
    "daunt-arrives": ("1869-06-02", (place("keepers-log.txt", "Mr Daunt arrived"),)),
    "tramway-resolved": ("1871-09-20", (place("board-minutes.txt", "Meeting of 20 September 1871"),)),
    "tramway-first-load": ("1872-04-30", (place("keepers-log.txt", "First load of oil"),)),
    "inspection": ("1874-05-06", (place("keepers-log.txt", "Inspection by"), place("inspection-1874.txt", "I landed"))),
    "marigold-ashore": ("1875-12-23", (place("keepers-log.txt", "Schooner Marigold"),)),
    "paraffin-resolved": ("1876-01-18", (place("board-minutes.txt", "Meeting of 18 January 1876"),)),
    "paraffin-burns": ("1876-07-01", (place("keepers-log.txt", "Burners changed"),)),
    "veck-principal": ("1877-02-14", (place("keepers-log.txt", "Daunt left for"),)),
    "horse-granted": ("1889-03-07", (place("board-minutes.txt", "Meeting of 7 March 1889"),)),
    "inventory": ("1902-10-01", (place("inventory-1902.txt", "TAKEN ON 1"),)),
}
TOPICS: dict[str, tuple[tuple[Place, ...], tuple[Place, ...]]] = {
    "tramway-year": (
        (place("keepers-log.txt", "First load of oil"), place("letters.txt", "On Tuesday it drew up")),
        (place("gazette-1889.txt", "summer of 1873"),),
    ),
    "marigold-saved": ((place("keepers-log.txt", "Schooner Marigold"),), (place("gazette-1889.txt", "eleven souls"),)),
    "tramway-length": (
        (place("board-minutes.txt", "tramway of 410 metres"),),
        (place("inspection-1874.txt", "395 metres long"),),
    ),
    "light-range": ((place("inspection-1874.txt", "at 17 miles"),), (place("gazette-1889.txt", "seen at 19 miles"),)),
}
HEAD = ["date", "event", "file", "line"]


def _rows(probe: Probe) -> list[list[str]]:
    try:
        return list(csv.reader(io.StringIO(probe.text("timeline.csv")), strict=True))
    except csv.Error:
        raise ProbeError("timeline.csv is not valid CSV") from None


def has_dates(probe: Probe) -> Outcome:
    """Dates of all events."""
    found = {row[1]: row[0] for row in _rows(probe)[1:] if len(row) == len(HEAD)}
    wrong = [name for name, (date, _) in EVENTS.items() if found.get(name) != date]
    return Outcome(1 - len(wrong) / len(EVENTS), f"missing or wrong: {', '.join(wrong)}")


def has_order(probe: Probe) -> Outcome:
    """Head, order, and no other rows."""
    head, *rows = _rows(probe) or [[]]
    if head != HEAD or any(len(row) != len(HEAD) for row in rows):
        return Outcome(0.0, f"the columns are not {', '.join(HEAD)}")
    if [row[1] for row in rows] != list(EVENTS):
        return Outcome(0.0, "the events are not all there, once, in order")
    return Outcome(1.0)


def has_lines(probe: Probe) -> Outcome:
    """Lines that give the dates."""
    found = {row[1]: tuple(row[2:]) for row in _rows(probe)[1:] if len(row) == len(HEAD)}
    right = {name: [(file, str(line)) for file, line in places] for name, (_, places) in EVENTS.items()}
    wrong = [name for name in EVENTS if found.get(name) not in right[name]]
    return Outcome(1 - len(wrong) / len(EVENTS), f"missing or wrong: {', '.join(wrong)}")


def has_contradictions(probe: Probe) -> Outcome:
    """Pairs of statements."""
    given, wrong = document(probe, "contradictions.json"), []
    for topic, sides in TOPICS.items():
        found = evidence(field(given, topic))
        pair = isinstance(found, list) and len(found) == 2
        if not pair or not all(any(each in found for each in side) for side in sides):
            wrong.append(topic)
    return Outcome(1 - len(wrong) / len(TOPICS), f"missing or wrong: {', '.join(wrong)}")


def has_all_topics(probe: Probe) -> Outcome:
    """No other topics."""
    right = list(document(probe, "contradictions.json")) == list(TOPICS)
    return Outcome(1.0) if right else Outcome(0.0, "the members are not the topics in their order")


INTRO = f"""
Make a timeline of these events: {", ".join(f"`{name}`" for name in sorted(EVENTS))}.
The day of a meeting of the Board is the day of what it resolved or granted; `veck-principal` is the
day on which Veck became principal keeper.

Two of the papers contradict each other, and no erratum decides, on each of these topics:
{", ".join(f"`{each}`" for each in TOPICS)}
(year of the tramway's first use, people saved from the Marigold, length of the tramway as it was planned and as it was
measured at the inspection, miles at which the light can be seen).
"""
TIMELINE = TaskPlan(
    "Orrin Head: timeline and contradictions",
    INTRO,
    {"timeline.csv": "the timeline", "contradictions.json": "the contradictions"},
    (
        Clause("dates", "`timeline.csv` has the date (such as 1868-03-04) of each event.", has_dates, 3),
        Clause(
            "order",
            "It is CSV with the columns `date,event,file,line` and one row for each event, in order of the dates.",
            has_order,
            1.5,
        ),
        Clause("lines", "`file` and `line` name the line in which the date is written.", has_lines, 2.5),
        Clause(
            "contradictions",
            "`contradictions.json` is an object with a member for each topic: a list of two pieces of evidence as"
            " in the first"
            " task, one for each of the statements, from different papers.",
            has_contradictions,
            2.5,
        ),
        Clause("topics", "It has no other members, and these in the order above.", has_all_topics, 0.5),
    ),
)
