"""More sound tasks at the library desk, made from its tables: a question or a wish about each loan, book and hold.

They are plainer than those written by hand, and there are many of them: enough to plant flaws that need a simulated
user, a required text or recorded runs. An errand is kept when the library's own code carries out its calls without an
error.
"""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any

from agenthard.flows.demo.library_desk import EVENING, LIBRARY, LibraryDesk
from agenthard.flows.demo.scenario import Scenario, scenario_of

Entry = dict[str, Any]
_MOST_RENEWALS, _MOST_HOLDS = 2, 3
"""Limits of the rules L2 and L3."""
_SCENES = (
    "You come by every second week and like to be called by your first name.",
    "You stand in the rain before the branch and would like to be quick.",
    "You are planning the month at the kitchen table.",
    "Your tram leaves in ten minutes.",
    "You write with two fingers and keep it short.",
)
_DAYS, _HOURS, _BRANCHES = (7, 14, 21), (9, 11, 13, 15, 17), ("harbour", "hill", "mill")


def errands(known: Sequence[Scenario]) -> list[Scenario]:
    """Make the errands that none of the tasks at hand is about already.

    Args:
        known: the tasks of the library; errands are numbered after them.
    """
    done = {_signature(scenario) for scenario in known}
    found: list[Scenario] = []
    for entry in _entries():
        place = EVENING if entry.get("place") == EVENING.name else LIBRARY
        scenario = scenario_of(place, len(known) + len(found), entry)
        if _signature(scenario) not in done and _works(scenario):
            done.add(_signature(scenario))
            found.append(scenario)
    return found


def _signature(scenario: Scenario) -> str:
    truth = scenario.task.ground_truth
    return repr(
        ([(call.name, sorted(call.arguments.items())) for _, call in scenario.task.gold_calls()], truth.outputs)
    )


def _works(scenario: Scenario) -> bool:
    world = LibraryDesk()
    answers = [world.call(call.name, call.arguments) for turn in scenario.turns for call in turn.calls]
    said = str(answers[-1])
    return "error" not in answers[-1] and all(output in said for output in scenario.task.ground_truth.outputs)


def _entries() -> Iterator[Entry]:
    makers = (_due, _renewals, _shelfmarks, _authors, _holds, _given_up, _fines, _rooms)
    for number, (member, entry) in enumerate(entry for maker in makers for entry in maker()):
        name = LibraryDesk.initial["members"][member]["name"]
        scene = f"{_SCENES[number % len(_SCENES)]} You are in the {_BRANCHES[number % 3]} branch."
        difficulty = 0.3 + 0.05 * (number % 5)
        yield {"name": name, "identity": member, "scene": scene, "difficulty": difficulty, **entry}


def _loans() -> Iterator[tuple[str, str, str, Entry]]:
    for key, loan in LibraryDesk.initial["loans"].items():
        yield loan["member_id"], key, LibraryDesk.initial["books"][loan["book_id"]]["title"], loan


def _due() -> Iterator[tuple[str, Entry]]:
    for member, _, title, loan in _loans():
        other = (date.fromisoformat(loan["due"]) + timedelta(days=3)).isoformat()
        yield (
            member,
            {
                "ask": f"On which day do I have to bring back “{title}”?",
                "calls": [{"list_loans": {"member_id": member}}],
                "reply": f"“{title}” is due on {{output}}.",
                "output": loan["due"],
                "wrong_output": other,
            },
        )


def _renewals() -> Iterator[tuple[str, Entry]]:
    for number, (member, key, title, loan) in enumerate(_loans()):
        if loan["renewals"] < _MOST_RENEWALS:
            days = _DAYS[number % 3]
            yield (
                member,
                {
                    "ask": f"I am not through with “{title}” yet. Please renew it for {days} days.",
                    "calls": [{"list_loans": {"member_id": member}}, {"renew_loan": {"loan_id": key, "days": days}}],
                    "reply": "Done: {loan_id} is now due on {due}.",
                },
            )


def _books(field: str, ask: str, reply: str) -> Iterator[tuple[str, Entry]]:
    members, books = list(LibraryDesk.initial["members"]), list(LibraryDesk.initial["books"].items())
    for number, (key, book) in enumerate(books):
        yield (
            members[(number * 5 + len(field)) % len(members)],
            {
                "ask": ask.format(title=book["title"]),
                "calls": [{"search_catalogue": {"title": book["title"]}}, {"get_book": {"book_id": key}}],
                "reply": reply,
                "output": book[field],
                "wrong_output": books[number - 1][1][field],
            },
        )


def _shelfmarks() -> Iterator[tuple[str, Entry]]:
    return _books("shelfmark", "Under which shelfmark do I find “{title}”?", "It stands under {output}.")


def _authors() -> Iterator[tuple[str, Entry]]:
    return _books("author", "Who is named as the author of “{title}”?", "That is by {output}.")


def _holds() -> Iterator[tuple[str, Entry]]:
    held = [(hold["member_id"], hold["book_id"]) for hold in LibraryDesk.initial["holds"].values()]
    owned = [(loan["member_id"], loan["book_id"]) for loan in LibraryDesk.initial["loans"].values()]
    for number, member in enumerate(LibraryDesk.initial["members"]):
        if sum(holder == member for holder, _ in held) >= _MOST_HOLDS:
            continue
        free = [key for key in LibraryDesk.initial["books"] if (member, key) not in (*held, *owned)]
        for book, branch in ((free[number % len(free)], "mill"), (free[(number + 4) % len(free)], "hill")):
            title = LibraryDesk.initial["books"][book]["title"]
            hold = {"member_id": member, "book_id": book, "pickup_branch": branch}
            yield (
                member,
                {
                    "ask": f"Please reserve “{title}” for me; I collect it at the {branch} branch.",
                    "calls": [{"search_catalogue": {"title": title}}, {"place_hold": hold}],
                    "reply": "“{title}” is reserved for you as {hold_id}.",
                },
            )


def _given_up() -> Iterator[tuple[str, Entry]]:
    for key, hold in LibraryDesk.initial["holds"].items():
        title = LibraryDesk.initial["books"][hold["book_id"]]["title"]
        yield (
            hold["member_id"],
            {
                "ask": f"Somebody lent me “{title}”, so you can give up my hold on it.",
                "calls": [{"list_holds": {"member_id": hold["member_id"]}}, {"cancel_hold": {"hold_id": key}}],
                "reply": "The hold {hold_id} is given up.",
            },
        )


def _fines() -> Iterator[tuple[str, Entry]]:
    for member, record in LibraryDesk.initial["members"].items():
        for cents, method in ((record["fine_cents"] // 2, "voucher"), (record["fine_cents"] - 10, "card")):
            if cents > 0:
                yield (
                    member,
                    {
                        "ask": f"I want to pay {cents} cents of my fine by {method}.",
                        "calls": [{"pay_fine": {"member_id": member, "amount_cents": cents, "method": method}}],
                        "reply": "Thank you; {left_cents} cents are left.",
                    },
                )


def _rooms() -> Iterator[tuple[str, Entry]]:
    rooms = list(LibraryDesk.initial["rooms"].items())
    grown = [key for key, member in LibraryDesk.initial["members"].items() if member["tier"] != "junior"]
    for number, member in enumerate((*grown, *grown)):
        key, room = rooms[number % len(rooms)]
        day, hour, hours = f"2025-03-{17 + number % 12:02}", _HOURS[number % 5], 1 + number % 3
        booked = {"room_id": key, "member_id": member, "date": day, "start_hour": hour, "hours": hours}
        yield (
            member,
            {
                "place": EVENING.name,
                "ask": f"May I have the {room['name']} on {day} from {hour}:00, for {hours} h?",
                "calls": [{"reserve_room": booked}],
                "reply": "The {name} is yours: {reservation_id}.",
            },
        )
