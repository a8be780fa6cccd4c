"""Stores that are drawn, and what the programs have to do with them: for the grader only."""

import copy
import random
from collections import Counter
from typing import Any

ROOMS = ("cold", "dark", "dry")
MATERIALS = ("glass", "ink", "metal", "paper", "silk", "wood")
Document = dict[str, Any]


def drawn(seed: int, count: int, busy: int = 0, *, full: float = 0.8) -> Document:
    """Draw a store; the rules differ from store to store.

    Args:
        seed: what it depends on.
        count: number of items.
        busy: every so many-th call is refused; 0 for none.
        full: how much of the shelves is used.
    """
    draw = random.Random(seed)
    names = [f"{draw.choice('KLMN')}{each}" for each in draw.sample(range(10, 99), 6)]
    shelves = {name: {"room": ROOMS[at % 3], "capacity": 1 + int(count / full / 6)} for at, name in enumerate(names)}
    places = [name for name in names for _ in range(1 + int(count / full / 6))]
    draw.shuffle(places)
    titles = [f"{a} {b}" for a in ("Map of", "Letter from", "Bowl of", "View of") for b in ("Aro", "Belt", "Cray")]
    items = {}
    for at, number in enumerate(draw.sample(range(100, 999), count)):
        title = draw.choice(titles)
        if draw.random() < 0.5:
            title = draw.choice([title.upper(), f" {title}", title.replace(" ", "  "), f"{title} "])
        items[f"i{number}"] = {
            "title": title,
            "maker": draw.choice(["Ruiz", "Okoro"]),
            "year": draw.choice([1790, 1791]),
            "material": draw.choice(MATERIALS),
            "shelf": places[at],
            "tags": draw.sample(["blue", "loan", "rare", "torn"], draw.randint(0, 2)),
            "locked": draw.random() < 0.25,
        }
    rules = [f"{material}: {draw.choice(ROOMS)}" for material in draw.sample(MATERIALS, 6)]
    return {"shelves": shelves, "items": items, "rules": "\n".join(rules) + "\n", "busy": busy}


def inventory(store: Document) -> Document:
    """Return the report of the first task."""
    items = store["items"]
    on = {name: sorted(each for each in items if items[each]["shelf"] == name) for name in store["shelves"]}
    oldest = min(items, key=lambda each: (items[each]["year"], each), default=None)
    return {"shelves": on, "materials": dict(Counter(each["material"] for each in items.values())), "oldest": oldest}


def used(store: Document, shelf: str) -> int:
    """Count the items on a shelf."""
    return sum(each["shelf"] == shelf for each in store["items"].values())


def tidied(store: Document) -> tuple[Document, Document]:
    """Return a store as the second task leaves it, and its report."""
    store = copy.deepcopy(store)
    room_of = dict(line.split(": ") for line in store["rules"].splitlines())
    moved, homeless = 0, []
    for name in sorted(store["items"]):
        item = store["items"][name]
        room = room_of[item["material"]]
        if store["shelves"][item["shelf"]]["room"] == room:
            continue
        free = [
            each
            for each, shelf in sorted(store["shelves"].items())
            if shelf["room"] == room and used(store, each) < shelf["capacity"]
        ]
        if free:
            item["shelf"] = free[0]
            moved += 1
        else:
            homeless.append(name)
            item["tags"] += ["homeless"]
    return store, {"moved": moved, "homeless": homeless}


def merged(store: Document) -> tuple[Document, Document]:
    """Return a store as the third task leaves it, and its report."""
    store = copy.deepcopy(store)
    items = store["items"]
    report: Document = {"merged": [], "skipped": []}
    kept: dict[tuple[object, ...], str] = {}
    for name in sorted(items):
        item = items[name]
        key = (" ".join(item["title"].lower().split()), item["maker"], item["year"])
        keep = kept.setdefault(key, name)
        if keep == name:
            continue
        shelf = items[keep]["shelf"]
        if item["shelf"] != shelf and used(store, shelf) >= store["shelves"][shelf]["capacity"]:
            report["skipped"].append([keep, name])
            continue
        items[keep]["tags"] += [tag for tag in item["tags"] if tag not in items[keep]["tags"]]
        items[keep]["locked"] = items[keep]["locked"] or item["locked"]
        del items[name]
        report["merged"].append([keep, name])
    return store, report
