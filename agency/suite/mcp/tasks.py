"""The tasks of the MCP scenario: an inventory, tidying up, and merging duplicates."""

from collections import Counter
from collections.abc import Callable

from agenthard.agency.judges import Check, Outcome, Probe
from agenthard.agency.suite.kit import Clause, TaskPlan, agree, canonical, field
from agenthard.agency.suite.mcp.desk import Visit, visit
from agenthard.agency.suite.mcp.model import Document, drawn, inventory, merged, tidied

EMPTY: Document = {**drawn(80, 7), "items": {}}
ONE = drawn(81, 1)
WRITES = ("move_item", "set_lock", "add_tag", "merge_items")


def writes(found: Visit) -> list[dict[str, object]]:
    """Return the calls that change something and were not refused for being busy."""
    return [each for each in found.calls if each["tool"] in WRITES and not each["busy"]]


def visits(program: str, stores: tuple[Document, ...]) -> Callable[[Probe], list[Visit]]:
    """Return a look that runs a program on some stores."""
    return lambda probe: [visit(probe, program, store) for store in stores]


INVENTORY_STORES = (drawn(82, 23), EMPTY, ONE, drawn(83, 14))
_inventory = visits("inventory.py", INVENTORY_STORES)
TIDY_STORES = (drawn(84, 24), drawn(85, 30, full=0.97), drawn(86, 21, full=0.6))
_tidy = visits("tidy.py", TIDY_STORES)
BUSY_INVENTORY: Document = {**INVENTORY_STORES[0], "busy": 3}
_busy_inventory = visits("inventory.py", (BUSY_INVENTORY,))
BUSY_TIDY: Document = {**TIDY_STORES[1], "busy": 4}
_busy_tidy = visits("tidy.py", (BUSY_TIDY,))
MERGE_STORES = (drawn(87, 24, full=0.9), drawn(88, 26, busy=3, full=0.97), drawn(89, 24, busy=2, full=1.0))
_merge = visits("merge.py", MERGE_STORES)


def reports(look: Callable[[Probe], list[Visit]], wanted: list[Document], *names: str) -> Check:
    """Return a check of members of the reports."""

    def check(probe: Probe) -> Outcome:
        found = [[field(each.report, name) for name in names] for each in probe.once(look)]
        right = [[each[name] for name in names] for each in wanted]
        return agree(found, right, [f"{' and '.join(names)} of store {at}" for at, _ in enumerate(right, 1)])

    return check


def counts_materials(probe: Probe) -> Outcome:
    """Materials, and no other members."""
    found = [each.report for each in probe.once(_inventory)]
    wanted = [inventory(each) for each in INVENTORY_STORES]
    members = [sorted(each) if isinstance(each, dict) else None for each in found]
    first = agree(members, [["materials", "oldest", "shelves"]] * 4, ["members of the report"] * 4)
    return first if first.share < 1 else reports(_inventory, wanted, "materials")(probe)


def reads_once(probe: Probe) -> Outcome:
    """Every page and every item once, and no change."""
    visited = zip(probe.once(_inventory), INVENTORY_STORES, strict=True)
    return next((wrong for found, store in visited if (wrong := _read_once(found, store)).share < 1), Outcome(1.0))


def _read_once(found: Visit, store: Document) -> Outcome:
    answered = [each for each in found.calls if not each["busy"]]
    calls = Counter(map(canonical, answered))
    read = {each["item"] for each in answered if each["tool"] == "read_item"}
    if writes(found) or found.items != store["items"]:
        return Outcome(0.0, "the program changes the store")
    if read != set(store["items"]) or max(calls.values(), default=0) != 1:
        return Outcome(0.0, "an item is not read, or a call is made twice")
    return Outcome(1.0)


def ends(look: Callable[[Probe], list[Visit]], wanted: list[Document], *names: str) -> Check:
    """Return a check of members of all items afterwards; tags in any order."""

    def view(items: Document) -> Document:
        return {
            item: {name: sorted(each[name]) if name == "tags" else each[name] for name in names}
            for item, each in items.items()
        }

    def check(probe: Probe) -> Outcome:
        found = [view(each.items) for each in probe.once(look)]
        untouched = [not writes(each) for each in probe.once(look)]
        if all(untouched):
            return Outcome(0.0, "the program changes nothing")
        names_of = [f"{' and '.join(names)} of items in store {at}" for at, _ in enumerate(wanted, 1)]
        return agree(found, [view(each["items"]) for each in wanted], names_of)

    return check


TIDIED = [tidied(each) for each in TIDY_STORES]
MERGED = [merged(each) for each in MERGE_STORES]


def moves_once(probe: Probe) -> Outcome:
    """One move for each item that has to move, and locks only where they are in the way."""
    visited = zip(probe.once(_tidy), TIDY_STORES, TIDIED, strict=True)
    done = all(_only_needed(found, store, after) for found, store, (after, _) in visited)
    return Outcome(1.0) if done else Outcome(0.0, "the program makes other calls than those that are needed")


def _only_needed(found: Visit, store: Document, after: Document) -> bool:
    items = store["items"]
    moved = {name for name in items if items[name]["shelf"] != after["items"][name]["shelf"]}
    locked = {name for name in moved if items[name]["locked"]}
    calls = Counter((each["tool"], each.get("item")) for each in writes(found))
    wanted = Counter({("move_item", name): 1 for name in moved})
    wanted.update({("set_lock", name): 2 for name in locked})
    wanted.update({("add_tag", name): 1 for name in items if items[name]["tags"] != after["items"][name]["tags"]})
    return calls == wanted


def still_work(probe: Probe) -> Outcome:
    """The programs of the tasks before, with a server that is busy at times."""
    (counted,), (tidy,) = probe.once(_busy_inventory), probe.once(_busy_tidy)
    once = _read_once(counted, BUSY_INVENTORY)
    if once.share < 1 or canonical(counted.report) != canonical(inventory(BUSY_INVENTORY)):
        return Outcome(0.0, f"inventory.py with a busy server: {once.reason or 'another report'}")
    after, report = tidied(BUSY_TIDY)
    left = {name: {**each, "tags": sorted(each["tags"])} for name, each in tidy.items.items()}
    right = {name: {**each, "tags": sorted(each["tags"])} for name, each in after["items"].items()}
    if left != right or not _only_needed(tidy, BUSY_TIDY, after):
        return Outcome(0.0, "tidy.py with a busy server leaves something else, or makes other calls than are needed")
    said = {name: field(tidy.report, name) for name in report}
    return Outcome(1.0) if said == report else Outcome(0.0, "tidy.py with a busy server: another report")


def retries(probe: Probe) -> Outcome:
    """Calls that were refused because the server was busy are made again, at once."""
    for found, (after, _) in zip(probe.once(_merge)[1:], MERGED[1:], strict=True):
        for each, again in zip(found.calls, [*found.calls[1:], None], strict=True):
            if each["busy"] and (again is None or again != {**each, "busy": False}):
                return Outcome(0.0, "a call that was refused is not made again at once")
        if set(found.items) != set(after["items"]):
            return Outcome(0.0, "other items are left than should be")
    return Outcome(1.0)


INVENTORY = TaskPlan(
    "Museum store: inventory",
    "README.md explains the store. Write a program that makes an inventory; it works on any store.",
    {"inventory.py": "program; its arguments are the command of the server that it starts"},
    (
        Clause(
            "shelves",
            "The program prints a JSON object in which `shelves` has, for every shelf, the sorted list of the ids"
            " of the"
            " items on it.",
            reports(_inventory, [inventory(each) for each in INVENTORY_STORES], "shelves"),
            4,
        ),
        Clause(
            "materials",
            "`materials` has the number of items of each material that occurs; the object has no members but `shelves`,"
            " `materials` and `oldest`.",
            counts_materials,
            2,
        ),
        Clause(
            "oldest",
            "`oldest` is the id of the item of the earliest year, of several the first in order of their ids, or"
            " null in an"
            " empty store.",
            reports(_inventory, [inventory(each) for each in INVENTORY_STORES], "oldest"),
            2,
        ),
        Clause("once", "The program reads every item, makes no call twice, and changes nothing.", reads_once, 2),
    ),
)
TIDY = TaskPlan(
    "Museum store: tidying up",
    "The resource `store://rules` says which material belongs into which room. Write a program that puts items"
    " where they"
    " belong.",
    {"tidy.py": "program; its arguments are the command of the server that it starts"},
    (
        Clause(
            "place",
            "In order of their ids, each item that lies in a wrong room is moved to the first shelf, in order of"
            " names, of"
            " the right room that has a free place at that time; other items stay where they are.",
            ends(_tidy, [each for each, _ in TIDIED], "shelf"),
            4,
        ),
        Clause(
            "homeless",
            "An item for which no place exists stays and gets the tag `homeless`; no other tags change, and all"
            " items are"
            " locked or not as they were.",
            ends(_tidy, [each for each, _ in TIDIED], "tags", "locked"),
            2.5,
        ),
        Clause(
            "needed",
            "Each item is moved at most once, only locked items that are moved are unlocked and locked again, once"
            " each, and"
            " no other call changes anything.",
            moves_once,
            2,
        ),
        Clause(
            "report",
            "The program prints a JSON object with `moved`, the number of moved items, and `homeless`, the sorted"
            " ids of"
            " those without a place.",
            reports(_tidy, [each for _, each in TIDIED], "moved", "homeless"),
            1.5,
        ),
    ),
)
MERGE = TaskPlan(
    "Museum store: duplicates",
    "Items with equal title (letters in either case and any spaces count as equal), maker and year are one item"
    " that was"
    " entered more than once. Write a program that merges them. The server may be busy and refuse a call.",
    {
        "merge.py": "program; its arguments are the command of the server that it starts",
        "inventory.py": "the program of the first task, for a server that may be busy",
        "tidy.py": "the program of the second task, for a server that may be busy",
    },
    (
        Clause(
            "merge",
            "In order of ids, each item that equals one with a lower id is merged into the one with the lowest id,"
            " on the"
            " shelf of that one; where it lies on another shelf and that shelf has no free place at that time, it"
            " stays as"
            " it is.",
            ends(_merge, [each for each, _ in MERGED], "shelf", "title", "material"),
            4,
        ),
        Clause(
            "state",
            "An item into which others were merged has all their tags, and is locked if it or one of them was; all"
            " else is"
            " as it was.",
            ends(_merge, [each for each, _ in MERGED], "tags", "locked", "maker", "year"),
            2.5,
        ),
        Clause(
            "busy",
            "A call that is refused with a text that holds `busy` is made again at once, until it is not, so that the"
            " same items are left as if the server had never been busy.",
            retries,
            2,
        ),
        Clause(
            "before",
            "`inventory.py` and `tidy.py` still do all that was asked of them, now also where the server is busy; a"
            " call that is made again for that reason does not count as made twice.",
            still_work,
        ),
        Clause(
            "report",
            "The program prints a JSON object with `merged` and `skipped`, lists of `[id that is kept, id of the"
            " other]` in"
            " the order in which it came to them.",
            reports(_merge, [each for _, each in MERGED], "merged", "skipped"),
            1.5,
        ),
    ),
)
