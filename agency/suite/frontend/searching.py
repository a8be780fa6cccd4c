"""Second task of the front end: searching, choosing a line, sorting."""

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.frontend.board import BOARD
from agenthard.agency.suite.frontend.browser import Case, look_at
from agenthard.agency.suite.frontend.model import Departure, drawn, ordered, rows, selected
from agenthard.agency.suite.kit import Clause, TaskPlan, agree

DATA = drawn(94, 31)
SEARCHES = ("quay", "  SILL ", "o", "zz", "", "é", "<b>", "  ", "d m", "Sill")
CONTROLS = """const line = doc.getElementById("line"), search = doc.getElementById("search"),
  count = doc.getElementById("count");
const seen = () => [rows(doc), words(count)];"""
LINES = f"""{CONTROLS} const found = [[...line.options].map((each) => [each.value, words(each)]), line.value];
for (const each of [...line.options].slice().reverse()) {{ choose(line, each.value); found.push(seen()); }}
return found;"""
SEARCH = f"""{CONTROLS} const found = [];
for (const text of {list(SEARCHES)!r}) {{ type(search, text); found.push(seen()); }} return found;"""
BOTH = f"""{CONTROLS} const found = [seen()];
choose(line, "B2"); type(search, "o"); found.push(seen()); choose(line, ""); found.push(seen());
heads(doc)[2].querySelector("button").click(); found.push(seen()); type(search, "SI"); found.push(seen());
choose(line, "N"); found.push(seen()); type(search, ""); found.push(seen());
return [found, count.getAttribute("role"), search.labels.length, line.labels.length, words(search.labels[0]),
words(line.labels[0])];"""
CLICKS = (0, 0, 1, 1, 1, 2, 4, 4, 3, 3, 2, 0, 2, 2)
SORT = f"""const found = []; for (const at of {list(CLICKS)}) {{ heads(doc)[at].querySelector("button").click();
found.push(rows(doc)); }} return found;"""
ARIA = f"""const found = [heads(doc).map((each) => each.getAttribute("aria-sort"))];
for (const at of {list(CLICKS)}) {{ heads(doc)[at].querySelector("button").click();
found.push(heads(doc).map((each) => each.getAttribute("aria-sort"))); }}
return [found, heads(doc).map((each) => words(each)), heads(doc).map((each) =>
each.querySelectorAll("button").length)];"""


def _look(probe: Probe) -> list[object]:
    return look_at(probe, [Case(DATA, body) for body in (LINES, SEARCH, BOTH, SORT, ARIA)])


def view(found: list[Departure]) -> list[object]:
    """Return what the page shows of selected departures."""
    return [rows(found), f"{len(found)} of {len(DATA)} departures"]


def sorts() -> list[tuple[int, bool]]:
    """Return column and direction after each click."""
    found, now = [], (0, False)
    for column in CLICKS:
        now = (column, not now[1] if column == now[0] else False)
        found.append(now)
    return found


def chooses_lines(probe: Probe) -> Outcome:
    """The list of lines."""
    lines = ["", *sorted({str(each["line"]) for each in DATA})]
    options = [[each, each or "All lines"] for each in lines]
    wanted = [options, "", *[view(selected(DATA, each, "")) for each in reversed(lines)]]
    names = ["options", "chosen line", *[f"rows of line {each!r}" for each in reversed(lines)]]
    return agree(probe.once(_look)[0], wanted, names)


def searches(probe: Probe) -> Outcome:
    """The field for destinations."""
    wanted = [view(selected(DATA, "", each)) for each in SEARCHES]
    return agree(probe.once(_look)[1], wanted, [f"rows for {each!r}" for each in SEARCHES])


def both(probe: Probe) -> Outcome:
    """Line, text and order together, and what is said about them."""
    chosen = [(DATA, "", ""), (DATA, "B2", "o"), (DATA, "", "o")]
    by_place = ordered(DATA, 2, down=False)
    wanted = [view(selected(*each)) for each in chosen]
    for line, text in (("", "o"), ("", "SI"), ("N", "SI"), ("N", "")):
        kept = selected(DATA, line, text)
        wanted.append(view([each for each in by_place if each in kept]))
    names = ["rows and counts", "role of the count", "labels", "labels", "label of the search", "label of the lines"]
    return agree(probe.once(_look)[2], [wanted, "status", 1, 1, "Destination", "Line"], names)


def is_sorted(probe: Probe) -> Outcome:
    """Rows after clicks on heads."""
    wanted = [rows(ordered(DATA, column, down=down)) for column, down in sorts()]
    return agree(probe.once(_look)[3], wanted, [f"click {at}" for at in range(1, len(wanted) + 1)])


def is_announced(probe: Probe) -> Outcome:
    """What the heads say about the order."""
    said = []
    for column, down in ((0, False), *sorts()):
        said.append([None if at != column else "descending" if down else "ascending" for at in range(5)])
    heads = ["Time", "Line", "To", "Platform", "Status"]
    return agree(probe.once(_look)[4], [said, heads, [1] * 5], ["aria-sort", "words", "buttons"])


def keeps(probe: Probe) -> Outcome:
    """What the first task asked."""
    return min((clause.check(probe) for clause in BOARD.clauses), key=lambda each: each.share)


INTRO = """
Let people search the board. Everything is inside `main#board`; the table keeps its form.
"""
SEARCHING = TaskPlan(
    "Tarn Ferry: searching and sorting",
    INTRO,
    {"board.js": "script of the page", "board.css": "style of the page"},
    (
        Clause(
            "line",
            "A `select` with the id `line` has the options `All lines` (with an empty value, chosen at first) and"
            " then each"
            " line that occurs, once, in order of their characters' codes; only departures of the chosen line are"
            " shown.",
            chooses_lines,
            2,
        ),
        Clause(
            "search",
            "An `input` with the id `search` shows, while one types, only departures to destinations that hold its"
            " text,"
            " whatever the case of letters and the spaces around the text.",
            searches,
            2,
        ),
        Clause(
            "both",
            "Line, search and order work together; both controls have one label each, `Line` and `Destination`; an"
            " element"
            " with the id `count` and the role `status` says `3 of 17 departures`: how many are shown, of all.",
            both,
            2,
        ),
        Clause(
            "sort",
            "Each head holds its words in one `button`: the first click sorts by this column, a second one"
            " backwards, and so"
            " on in turn; at first the table is sorted by Time. Texts are compared by their characters' codes, Time by"
            " `time`, Status by delay with cancelled as the longest; equal rows are in order of time and id in both"
            " directions.",
            is_sorted,
            3,
        ),
        Clause(
            "announce",
            "Only the head of the sorted column has `aria-sort`, `ascending` or `descending`, from the beginning.",
            is_announced,
            1,
        ),
        Clause("keep", "With these controls, all that the first task asked is still so.", keeps, 0.5),
    ),
)
