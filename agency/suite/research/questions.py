"""First task of the research scenario: questions with one answer."""

from collections.abc import Sequence
from typing import NamedTuple

from agenthard.agency.judges import Check, Outcome, Probe
from agenthard.agency.suite.kit import Clause, TaskPlan, canonical, field
from agenthard.agency.suite.research.papers import Place, covers, document, evidence, place


class Question(NamedTuple):
    """A question, its answer, and the lines that show it."""

    text: str
    """The question."""
    answer: object
    """The only right answer."""
    needed: Sequence[Sequence[Place]]
    """Groups of lines: evidence has one of each group, and no lines that have no part in it."""
    also: Sequence[Place] = ()
    """Lines that may stand next to them."""


ASKED = (
    Question(
        "How many metres high is the tower (a number)?",
        34,
        [[place("errata.txt", "read 34 metres"), place("guidebook-1926.txt", "(1868; 34 m)")]],
    ),
    Question(
        "What is the first name of the keeper who was principal keeper in 1880 (a text)?",
        "Tobias",
        [
            [
                place("keepers-log.txt", "Veck principal keeper"),
                place("letters.txt", "Tobias Veck has the light"),
                place("guidebook-1926.txt", "T. Veck 1877 to 1899"),
            ],
            [place("letters.txt", "Tobias Veck has the light"), place("letters.txt", "He is called Tobias")],
        ],
    ),
    Question(
        "By how many crowns did the tower cost more, by February 1868, than was resolved in 1865 (a number)?",
        750,
        [[place("board-minutes.txt", "not above 9,400")], [place("board-minutes.txt", "10,150 crowns; the")]],
    ),
    Question(
        "By how many crowns did the salary of a principal keeper rise in 1874, as corrected (a number)?",
        8,
        [[place("board-minutes.txt", "from 84 to 96")], [place("errata.txt", "read 92 crowns")]],
    ),
    Question(
        "What is the surname of the builder of the bridge over the gully, who did not get to build the tower (a text)?",
        "Lisle",
        [
            [place("letters.txt", "gully is Lisle's"), place("guidebook-1926.txt", "bridge, by P. Lisle")],
            [place("letters.txt", "gully is Lisle's"), place("board-minutes.txt", "preferred to that of P. Lisle")],
        ],
        [place("guidebook-1926.txt", "Its gully")],
    ),
    Question(
        "How many years after the tramway's first load was its hand winch last used, by the inventory (a number)?",
        17,
        [
            [place("keepers-log.txt", "First load of oil"), place("letters.txt", "On Tuesday it drew up")],
            [place("inventory-1902.txt", "not used since 1889")],
        ],
    ),
    Question(
        "On which date did the grey mare's successor appear in a document (a text such as 1868-03-04)?",
        "1902-10-01",
        [[place("inventory-1902.txt", "TAKEN ON 1 OCTOBER 1902")], [place("inventory-1902.txt", "Pilot the Second")]],
        [place("gazette-1889.txt", "a grey mare called"), place("gazette-1889.txt", "for 27 crowns")],
    ),
    Question(
        "How many flashes of the light are seen in four minutes (a number)?",
        24,
        [
            [place("inspection-1874.txt", "every 10 seconds"), place("guidebook-1926.txt", "once in 80 seconds")],
            [
                place("inspection-1874.txt", "every 10 seconds"),
                place("guidebook-1926.txt", "first of eight panels"),
                place("inventory-1902.txt", "lens of eight panels"),
            ],
        ],
        [place("errata.txt", "item 2: no correction")],
    ),
)


def answered(number: int, question: Question) -> Check:
    """Return the check of a question."""

    def check(probe: Probe) -> Outcome:
        given = field(document(probe, "answers.json"), f"q{number}")
        if canonical(field(given, "answer")) != canonical(question.answer):
            return Outcome(0.0, "the answer is missing or wrong")
        found = evidence(field(given, "evidence"))
        if isinstance(found, str):
            return Outcome(0.0, found)
        right = covers(found, question.needed, question.also)
        return Outcome(1.0) if right else Outcome(0.0, "other lines are evidence for this, or not all that are needed")

    return check


INTRO = """
Read README.md and the documents, and answer the questions in `answers.json`, an object with a member for each question,
such as `"q1": {"answer": 3, "evidence": [{"file": "letters.txt", "line": 4, "quote": "I have been a week on"}]}`. An
answer counts with evidence only: one to three lines that together show it, and no line that has no part in it.
"""
QUESTIONS = TaskPlan(
    "Orrin Head: questions",
    INTRO,
    {"answers.json": "the answers with their evidence"},
    tuple(
        Clause(f"q{number}", f"`q{number}`: {question.text}", answered(number, question))
        for number, question in enumerate(ASKED, 1)
    ),
)
