"""Third task of the front end: the address, narrow windows, keys."""

from agenthard.agency.judges import Outcome, Probe
from agenthard.agency.suite.frontend.browser import Case, look_at
from agenthard.agency.suite.frontend.model import COLUMNS, drawn, ordered, rows, selected
from agenthard.agency.suite.frontend.searching import CONTROLS, SEARCHING
from agenthard.agency.suite.kit import Clause, TaskPlan, agree

DATA = drawn(95, 23)
ADDRESSES: dict[str, tuple[str, str, int, bool]] = {
    "": ("", "", 0, False),
    "#line=B2": ("B2", "", 0, False),
    "#search=Old+Mole": ("", "Old Mole", 0, False),
    "#search=%C3%89lan%20&line=N": ("N", "Élan ", 0, False),
    "#sort=to": ("", "", 2, False),
    "#sort=platform&down=1": ("", "", 3, True),
    "#down=1": ("", "", 0, True),
    "#sort=status&down=1&line=a&search=i": ("a", "i", 4, True),
    "#sort=status": ("", "", 4, False),
    "#sort=line&down=0": ("", "", 1, False),
    "#sort=line&down=true": ("", "", 1, False),
    "#line=Z9&search=si": ("", "si", 0, False),
    "#sort=id&down=1": ("", "", 0, True),
    "#sort=To": ("", "", 0, False),
    "#page=2&line=A": ("A", "", 0, False),
}
SEEN = f"""{CONTROLS} const whole = () => [...seen(), line.value, search.value,
  heads(doc).map((each) => each.getAttribute("aria-sort"))];"""
READ = f"{SEEN} return whole();"
WRITTEN = "const written = () => [...new URLSearchParams(win.location.hash.slice(1))];"
WRITE = f"""{CONTROLS} {WRITTEN} const found = [written()];
const click = (at) => heads(doc)[at].querySelector("button").click();
const steps = [() => choose(line, "N"), () => type(search, "Old M&le"), () => click(4), () => click(4), () =>
choose(line, ""),
  () => click(0), () => click(0), () => type(search, ""), () => click(0), () => click(3), () => type(search, " x "),
  () => click(1)];
for (const step of steps) {{ step(); await pause(); found.push(written()); }} return found;"""
WROTE = [
    [],
    [["line", "N"]],
    [["line", "N"], ["search", "Old M&le"]],
    [["line", "N"], ["search", "Old M&le"], ["sort", "status"]],
    [["line", "N"], ["search", "Old M&le"], ["sort", "status"], ["down", "1"]],
    [["search", "Old M&le"], ["sort", "status"], ["down", "1"]],
    [["search", "Old M&le"]],
    [["search", "Old M&le"], ["down", "1"]],
    [["down", "1"]],
    [],
    [["sort", "platform"]],
    [["search", " x "], ["sort", "platform"]],
    [["search", " x "], ["sort", "line"]],
]
FOLLOWED = ("#sort=to&down=1", "#line=B10&search=a", "", "#search=x", "#line=A&sort=status")
ADDRESSES |= {"#line=B10&search=a": ("B10", "a", 0, False), "#search=x": ("", "x", 0, False)}
ADDRESSES |= {"#sort=to&down=1": ("", "", 2, True), "#line=A&sort=status": ("A", "", 4, False)}
FOLLOW = f"""{SEEN} const found = []; for (const each of {list(FOLLOWED)}) {{ win.location.hash = each; await pause();
await pause(); found.push(whole()); }} return found;"""
FIT = """const hidden = [...doc.querySelectorAll("#board tr > :nth-child(4)")].map((each) => shown(each));
const others = [...doc.querySelectorAll("#board tr > :not(:nth-child(4))")].map((each) => shown(each));
return [doc.documentElement.scrollWidth <= win.innerWidth, hidden.every((each) => each), hidden.some((each) => each),
  others.every((each) => each)];"""
KEYS = """const search = doc.getElementById("search"); const at = () => doc.activeElement === search;
const found = [at()]; press(doc, "x"); found.push(at()); press(doc, "/"); found.push(at());
type(search, "o"); const some = rows(doc).length; press(doc, "x"); found.push(search.value); press(doc, "Escape");
found.push(search.value, rows(doc).length > some, at());
const event = new win.KeyboardEvent("keydown", { key: "/", bubbles: true, cancelable: true });
found.push(doc.body.dispatchEvent(event)); const typed = new win.KeyboardEvent("keydown", { key: "/", bubbles: true,
  cancelable: true }); search.focus(); found.push(search.dispatchEvent(typed)); search.value = "q"; search.blur();
press(doc, "Escape"); found.push(search.value); return found;"""
LONG = {**DATA[0], "id": 500, "to": "Lower" + "quaymouth" * 9}
WIDTHS = (320, 400, 599, 600, 601, 1000)


def _look(probe: Probe) -> list[object]:
    return look_at(
        probe,
        [
            *[Case(DATA, READ, hash=each) for each in ADDRESSES],
            Case(DATA, WRITE),
            Case(DATA, FOLLOW),
            Case(DATA, KEYS),
            *[Case([*DATA, LONG], FIT, width=each) for each in WIDTHS],
        ],
    )


def view(address: str) -> list[object]:
    """Return what the page shows at an address."""
    line, text, column, down = ADDRESSES[address]
    kept = selected(DATA, line, text)
    shown = [each for each in ordered(DATA, column, down=down) if each in kept]
    order = [None if at != column else "descending" if down else "ascending" for at in range(len(COLUMNS))]
    return [rows(shown), f"{len(shown)} of {len(DATA)} departures", line, text, order]


def reads(probe: Probe) -> Outcome:
    """The page at an address."""
    return agree(
        probe.once(_look)[: len(ADDRESSES)],
        [view(each) for each in ADDRESSES],
        [f"page at {each!r}" for each in ADDRESSES],
    )


def writes(probe: Probe) -> Outcome:
    """The address after each change."""
    return agree(probe.once(_look)[len(ADDRESSES)], WROTE, [f"address after change {at}" for at, _ in enumerate(WROTE)])


def follows(probe: Probe) -> Outcome:
    """The page after the address was changed."""
    found = probe.once(_look)[len(ADDRESSES) + 1]
    return agree(found, [view(each) for each in FOLLOWED], [f"page after {each!r}" for each in FOLLOWED])


def has_keys(probe: Probe) -> Outcome:
    """Keys."""
    wanted = [False, False, True, "o", "", True, True, False, True, "q"]
    names = [
        "focus at first",
        "focus after x",
        "focus after /",
        "text after x",
        "text after Escape",
        "rows after Escape",
    ]
    names += ["focus after Escape", "the / itself, outside", "the / itself, in the field", "Escape outside the field"]
    return agree(probe.once(_look)[len(ADDRESSES) + 2], wanted, names)


def fits(probe: Probe) -> Outcome:
    """Narrow and wide windows."""
    wanted = [[True, width >= 600, width >= 600, True] for width in WIDTHS]
    return agree(probe.once(_look)[-len(WIDTHS) :], wanted, [f"window of {width} pixels" for width in WIDTHS])


def keeps(probe: Probe) -> Outcome:
    """What the tasks before asked."""
    return min((clause.check(probe) for clause in SEARCHING.clauses), key=lambda each: each.share)


INTRO = """
Let people share what they see. The address of the page ends with `#` and parameters in the form of a query
(`#line=B2&search=Old+Mole&sort=to&down=1`): `line`, `search`, `sort` (the name of a column in small letters) and `down`
(`1` for backwards). Defaults are all lines, no text, `time`, and forwards.
"""
STATE = TaskPlan(
    "Tarn Ferry: addresses, keys, narrow windows",
    INTRO,
    {"board.js": "script of the page", "board.css": "style of the page"},
    (
        Clause(
            "read",
            "When it has loaded, the page shows what its address says, in its controls and heads too; a line that"
            " does not"
            " occur, a `sort` that is not a column, a `down` other than `1`, and other parameters count as not given.",
            reads,
            3,
        ),
        Clause(
            "write",
            "Each change of line, search or order is in the address at once, in the order `line`, `search` (as it"
            " was typed),"
            " `sort`, `down`, without those that have their default.",
            writes,
            2.5,
        ),
        Clause(
            "follow", "When the address changes after `#`, the page follows without being loaded again.", follows, 1.5
        ),
        Clause(
            "narrow",
            "In windows of less than 600 pixels the column Platform is not displayed, in wider ones it is; from 320"
            " pixels on"
            " the page is never wider than its window.",
            fits,
            1.5,
        ),
        Clause(
            "keys",
            "The key `/` outside of the search field sets the focus there and writes nothing, inside it is a"
            " character as any"
            " other; Escape in the field empties it and shows all rows again, and does nothing elsewhere.",
            has_keys,
            1.5,
        ),
        Clause("keep", "With addresses, all that the second task asked is still so.", keeps, 0.5),
    ),
)
