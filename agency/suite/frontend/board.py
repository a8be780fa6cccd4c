"""First task of the front end: the table."""

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.frontend.browser import Case, look_at
from agenthard.agency.suite.frontend.model import COLUMNS, Departure, cells, drawn, in_order, rows
from agenthard.agency.suite.kit import Clause, TaskPlan, agree

DATA: tuple[list[Departure], ...] = (drawn(91, 17), drawn(92, 9), [], drawn(93, 1))
MARKUP = [
    {
        "id": 4,
        "time": "08:00",
        "line": "<i>",
        "to": "<img src=x onerror=document.title=1>",
        "platform": "&lt;",
        "delay": 0,
    }
]
FRAME = """const table = doc.querySelector("#board table");
return [doc.querySelectorAll("#board table").length, words(table.caption), heads(doc).map(words),
  heads(doc).map((each) => each.getAttribute("scope")), table.tHead.rows.length, table.tBodies.length];"""
STATUS = """return [...doc.querySelectorAll("#board tbody tr")].map((row) => [row.dataset.status ?? null,
  win.getComputedStyle(row.cells[4]).color]);"""
ROWS = "return rows(doc);"
SPAN = "return [rows(doc), [...doc.querySelectorAll('#board tbody td')].map((each) => each.colSpan)];"
TEXT = "await pause(); return [rows(doc), doc.title, doc.querySelectorAll('#board img, #board i').length];"


def _look(probe: Probe) -> list[object]:
    return look_at(
        probe,
        [
            *[Case(data, ROWS) for data in DATA],
            Case(DATA[0], FRAME),
            Case(DATA[0], STATUS),
            Case([], SPAN),
            Case(MARKUP, TEXT),
        ],
    )


def has_rows(probe: Probe) -> Outcome:
    """What rows say, in which order; the status apart."""
    found = [[row[:4] for row in each] if isinstance(each, list) else each for each in probe.once(_look)[:4]]
    wanted = [[cells(each)[:4] for each in in_order(data)] or [["No departures"]] for data in DATA]
    return agree(found, wanted, [f"rows of {len(data)} departures" for data in DATA])


def has_status(probe: Probe) -> Outcome:
    """The last cell, and its colour."""
    seen = probe.once(_look)
    last = [[row[-1] for row in each] if isinstance(each, list) else each for each in (seen[0], seen[1])]
    words = agree(last, [[cells(each)[4] for each in in_order(data)] for data in DATA[:2]], ["status cells"] * 2)
    kinds = {None: ["cancelled", "rgb(176, 0, 32)"], 0: ["on-time", "rgb(0, 0, 0)"]}
    wanted = [kinds.get(each["delay"], ["delayed", "rgb(122, 75, 0)"]) for each in in_order(DATA[0])]
    return words if words.share < 1 else agree(seen[5], wanted, [f"row {at}" for at in range(1, len(wanted) + 1)])


def has_frame(probe: Probe) -> Outcome:
    """Caption and heads."""
    names = ["number of tables", "caption", "heads", "scopes", "rows of heads", "number of bodies"]
    return agree(probe.once(_look)[4], [1, "Departures", list(COLUMNS), ["col"] * 5, 1, 1], names)


def is_empty(probe: Probe) -> Outcome:
    """No departures."""
    return agree(probe.once(_look)[6], [rows([]), [5]], ["row", "columns that it spans"])


def is_text(probe: Probe) -> Outcome:
    """Data that looks like markup."""
    return agree(probe.once(_look)[7], [[cells(MARKUP[0])], "Tarn Ferry", 0], ["cells", "title", "elements"])


INTRO = """
README.md describes a page. Fill it: when the page has loaded, `main#board` holds a table of all departures in
`window.DEPARTURES`. The page still loads `data.js`, with `src="data.js"`, and needs no network.
"""
BOARD = TaskPlan(
    "Tarn Ferry: the board",
    INTRO,
    {"board.js": "script of the page", "board.css": "style of the page", "index.html": "the page"},
    (
        Clause(
            "frame",
            "There is one table with the caption `Departures`, one row of heads (`th` with `scope` `col`: Time,"
            " Line, To,"
            " Platform, Status) in its `thead`, and one `tbody`.",
            has_frame,
            1.5,
        ),
        Clause(
            "rows",
            "Each departure has a row of five cells, in order of `time`, then of `id` as a number: the first four"
            " hold time,"
            " line, destination and platform; a delayed one has `07:05 → 07:12` as its time, the second being the"
            " first and"
            " the delay, also past midnight.",
            has_rows,
            3.5,
        ),
        Clause(
            "status",
            "The last cell says `On time`, `Delayed 7 min` or `Cancelled`; its text has the colour #000000, #7a4b00 or"
            " #b00020, and the row the attribute `data-status` `on-time`, `delayed` or `cancelled`.",
            has_status,
            2.5,
        ),
        Clause(
            "empty",
            "Without departures there is one row with one cell over all five columns: `No departures`.",
            is_empty,
        ),
        Clause("text", "All data is shown as the text that it is, also where it looks like markup.", is_text, 1.5),
    ),
)
