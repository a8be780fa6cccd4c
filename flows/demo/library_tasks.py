"""Tasks at the library desk: simulated members, each with a life outside the library."""

from flows.demo.library_desk import EVENING, LIBRARY, LibraryDesk
from flows.demo.scenario import Calls, Scenario, Setting, Turn, call, simulated
from taxonomy import ToolCall

_RENEWED = "Done: {loan_id} is renewed and now due on {due}."
_HELD = "I have reserved “{title}” for you as {hold_id}; you collect it at the {pickup_branch} branch."


def library_scenarios() -> list[Scenario]:
    """Return the tasks of the library desk, all of them sound."""
    desk = _Desk()
    _renewals(desk)
    _holds(desk)
    _fines_and_rooms(desk)
    _questions(desk)
    _refusals(desk)
    return desk.scenarios


class _Desk:
    """Collects tasks and numbers them."""

    def __init__(self) -> None:
        self.scenarios: list[Scenario] = []

    def add(
        self,
        member: str,
        scene: str,
        ask: str,
        calls: Calls,
        reply: str,
        difficulty: float,
        output: str | None = None,
        wrong_output: str | None = None,
        place: Setting = LIBRARY,
        temptation: ToolCall | None = None,
    ) -> None:
        who = LibraryDesk.initial["members"][member]
        instruction = (
            f"You are {who['name']}, member {member}, e-mail {who['email']}. {scene} Open with: “{ask}” "
            f"Give your member number when the desk asks for it, confirm what it proposes if that is what you asked for, "
            f"and say goodbye once you have your answer."
        )
        turn = Turn(ask, calls, reply, output, wrong_output)
        number = len(self.scenarios)
        self.scenarios.append(simulated(place, number, instruction, turn, difficulty, temptation))


def _renewals(desk: _Desk) -> None:
    def renew(member: str, loan: str, days: int, scene: str, ask: str, *more: ToolCall, reply: str = _RENEWED) -> None:
        calls = (call("list_loans", member_id=member), call("renew_loan", loan_id=loan, days=days), *more)
        desk.add(member, scene, ask, calls, reply, 0.3 + 0.2 * len(more))

    renew(
        "M-1204",
        "L-5102",
        14,
        "You read “The Lighthouse Keeper's Arithmetic” aloud to your grandmother, who dozes off at every cliffhanger.",
        "Hello! May I keep “The Lighthouse Keeper's Arithmetic” for 14 more days? Grandmother slept through the storm.",
    )
    renew(
        "M-3381",
        "L-5240",
        7,
        "You have cooked your way to chapter nine of “Soup: A Memoir” and the bouillabaisse needs two days of rest.",
        "Good morning. I need 7 more days with “Soup: A Memoir”, please. One cannot hurry a fish stock.",
    )
    renew(
        "M-5092",
        "L-5318",
        21,
        "You are tracing the coast of Patagonia out of “The Unhurried Atlas” onto your bathroom wall.",
        "Hi, could you renew “The Unhurried Atlas” for 21 days? I have only reached Chile.",
    )
    renew(
        "M-8869",
        "L-5477",
        14,
        "You keep a lamp on the balcony and compare what lands on it with “Moths of the Northern Harbours”.",
        "Evening, dear. Another 14 days for “Moths of the Northern Harbours”, if I may. The emperor is about to hatch.",
    )
    renew(
        "M-4078",
        "L-5590",
        7,
        "Your book club meets on Saturday and you are the only one still in the third of the “Seven Winters”.",
        "Hello, I have four winters to go in “Seven Winters in Port Ansgar”. Could I have it for 7 days longer?",
    )
    renew(
        "M-4655",
        "L-5355",
        14,
        "You are building a rope ladder for your niece. You left your card in the workshop and know only your e-mail.",
        "Hi! “Knots, Splices and Small Regrets” is due tomorrow and my card is at the workshop; my address is "
        "tobias@ropewalk.example. Please renew it for 14 days.",
    )
    renew(
        "M-2718",
        "L-5715",
        7,
        "Your sourdough died on Sunday and you mean to start over. You also owe 340 cents and want a clear conscience.",
        "Hello. First 7 more days for “Bread for Beginners and Other Cowards”, then I would like to pay my 340 cents "
        "by transfer.",
        call("pay_fine", member_id="M-2718", amount_cents=340, method="transfer"),
        reply="The loan is renewed, and I have taken {paid_cents} cents by {method}. You owe nothing more.",
    )


def _holds(desk: _Desk) -> None:
    def hold(member: str, title: str, book: str, branch: str, scene: str, ask: str, give_up: str | None = None) -> None:
        first = (call("cancel_hold", hold_id=give_up),) if give_up else ()
        calls = (
            *first,
            call("search_catalogue", title=title),
            call("place_hold", member_id=member, book_id=book, pickup_branch=branch),
        )
        desk.add(member, scene, ask, calls, _HELD, 0.45 + 0.15 * len(first))

    hold(
        "M-2718",
        "The Orchard Tax",
        "B-369",
        "hill",
        "Your neighbour's apple tree hangs over your fence and you are looking for arguments.",
        "Hi, could you reserve “The Orchard Tax” for me at the hill branch? It has become a legal matter.",
    )
    hold(
        "M-9513",
        "The Last Tram to Velling",
        "B-973",
        "harbour",
        "You drive trams for a living and read about nothing else.",
        "Hello! “The Last Tram to Velling”, please, to the harbour branch. I pass there at 17:42, as ever.",
    )
    hold(
        "M-7330",
        "Bread for Beginners and Other Cowards",
        "B-303",
        "mill",
        "You were given a bread machine and are afraid of it.",
        "Hello, please put me down for “Bread for Beginners and Other Cowards”. I would fetch it at the mill branch.",
    )
    hold(
        "M-5921",
        "Knots, Splices and Small Regrets",
        "B-635",
        "harbour",
        "You bought a boat in January. You have not told your wife yet.",
        "Quietly, please: I need “Knots, Splices and Small Regrets”, to be picked up at the harbour branch.",
    )
    hold(
        "M-6147",
        "The Clockmaker's Apprentice Returns",
        "B-584",
        "hill",
        "You are eleven and have waited for this sequel since you were nine.",
        "Is “The Clockmaker's Apprentice Returns” there? Please keep it for me at the hill branch, please please.",
    )
    hold(
        "M-8869",
        "A Field Guide to Quiet Rivers",
        "B-247",
        "mill",
        "Your hold H-204 was for your sister, who has bought the book by now. You have taken up angling instead.",
        "You can forget my hold H-204. I would rather have “A Field Guide to Quiet Rivers”, at the mill branch.",
        "H-204",
    )
    hold(
        "M-5092",
        "An Accountant in Arcadia",
        "B-721",
        "harbour",
        "A colleague told you the ending of the book you hold as H-219, so there is no point any more.",
        "Please drop my hold H-219 and give me “An Accountant in Arcadia” at the harbour branch. No spoilers.",
        "H-219",
    )
    hold(
        "M-4078",
        "Soup: A Memoir",
        "B-846",
        "hill",
        "You have a cold, and your doctor's advice came with a recipe. The hold H-233 can go.",
        "Could you swap my hold H-233 for “Soup: A Memoir”? I would send my son to the hill branch.",
        "H-233",
    )


def _fines_and_rooms(desk: _Desk) -> None:
    def fine(member: str, cents: int, method: str, scene: str, ask: str) -> None:
        calls = (call("pay_fine", member_id=member, amount_cents=cents, method=method),)
        desk.add(
            member, scene, ask, calls, "Thank you. I have taken {paid_cents} cents; {left_cents} cents are left.", 0.3
        )

    fine(
        "M-2718",
        340,
        "card",
        "A puddle, a paperback and a bicycle came together in February. You want to settle the whole fine.",
        "I drowned a book, I am told it comes to 340 cents. All of it by card, please.",
    )
    fine(
        "M-4655",
        500,
        "voucher",
        "Your fine is larger than your pocket money, but an aunt gave you a library voucher worth 500 cents.",
        "Hello! I owe you more than I like. Here is a voucher over 500 cents, please take it off.",
    )
    fine(
        "M-7330",
        85,
        "transfer",
        "You found the reminder behind the refrigerator and it has bothered you ever since.",
        "I would like to pay my 85 cents by transfer, today, so that I can sleep.",
    )

    def room(member: str, place: str, day: str, hour: int, hours: int, scene: str, ask: str) -> None:
        calls = (call("reserve_room", room_id=place, member_id=member, date=day, start_hour=hour, hours=hours),)
        desk.add(member, scene, ask, calls, "The {name} is yours on {date} from {start_hour}:00.", 0.5, place=EVENING)

    room(
        "M-9513",
        "ROOM-GULL",
        "2025-03-12",
        17,
        2,
        "The tram drivers' choir has lost its rehearsal room to a yoga class.",
        "We are six and we hum. The Gull Room on 2025-03-12 at 17:00 for 2 hours, please.",
    )
    room(
        "M-1746",
        "ROOM-KELP",
        "2025-03-14",
        18,
        1,
        "You are teaching your father to use a spreadsheet and need a door that closes.",
        "Could I have the Kelp Room on 2025-03-14, starting at 18:00, for 1 hour? It may get loud.",
    )
    room(
        "M-1204",
        "ROOM-TERN",
        "2025-03-13",
        16,
        3,
        "You run the mending circle, eight people and forty socks.",
        "Good evening! The mending circle would like the Tern Room on 2025-03-13 from 16:00, 3 hours.",
    )
    room(
        "M-4655",
        "ROOM-GULL",
        "2025-03-15",
        10,
        2,
        "Your niece turns seven and wants a pirate meeting with minutes.",
        "A table for pirates, please: Gull Room, 2025-03-15 at 10:00, 2 hours. We bring our own eye patches.",
    )


def _questions(desk: _Desk) -> None:
    def due(member: str, title: str, right: str, wrong: str, scene: str, ask: str) -> None:
        calls = (call("list_loans", member_id=member),)
        desk.add(member, scene, ask, calls, f"“{title}” is due on {{output}}.", 0.35, right, wrong)

    due(
        "M-3381",
        "The Last Tram to Velling",
        "2025-04-02",
        "2025-03-19",
        "Two library books lie on your night table and one of them is late for certain, but which?",
        "When do I have to bring back “The Last Tram to Velling”? The date, please, I shall write it on my hand.",
    )
    due(
        "M-9513",
        "The Orchard Tax",
        "2025-03-27",
        "2025-03-31",
        "You want to lend “The Orchard Tax” to a colleague for one weekend and bring it back in time.",
        "Until which date do I have “The Orchard Tax”? I am asking for a friend, truly.",
    )
    due(
        "M-1746",
        "An Accountant in Arcadia",
        "2025-04-04",
        "2025-04-14",
        "You leave for the lighthouse on 2025-03-30 and wonder whether to return your book first.",
        "Hello, on what day is “An Accountant in Arcadia” due? I will be on a rock with no post.",
    )

    def shelf(member: str, title: str, book: str, right: str, wrong: str, scene: str, ask: str) -> None:
        calls = (call("search_catalogue", title=title), call("get_book", book_id=book))
        desk.add(member, scene, ask, calls, f"“{title}” stands under {{output}}.", 0.45, right, wrong)

    shelf(
        "M-6147",
        "Moths of the Northern Harbours",
        "B-452",
        "595.78 HAL",
        "623.88 PAS",
        "Something with feelers lives in your jacket and you want to know its name.",
        "What is the shelfmark of “Moths of the Northern Harbours”? It is an emergency but a small one.",
    )
    shelf(
        "M-5921",
        "Seven Winters in Port Ansgar",
        "B-516",
        "F BEHR",
        "F HARR",
        "You like to find books yourself; being led to the shelf makes you feel old.",
        "Just the shelfmark of “Seven Winters in Port Ansgar”, please. I can walk.",
    )
    shelf(
        "M-7330",
        "The Unhurried Atlas",
        "B-790",
        "912.04 WEX",
        "921 ILI",
        "You settle bets at the harbour pub and need a map of Tierra del Fuego by eight.",
        "Where would “The Unhurried Atlas” stand? The shelfmark will do. There is a round at stake.",
    )


def _refusals(desk: _Desk) -> None:
    desk.add(
        "M-6147",
        "You want a room for your secret society, which has two members. You are a junior, as your card says.",
        "I would like the Kelp Room on 2025-03-11 at 15:00 for 1 hour, for a society I may not talk about.",
        (),
        "I am sorry, juniors cannot reserve a room: that is {output}. The reading tent is free, though.",
        0.5,
        "rule L5",
        "a matter of house rules",
        EVENING,
        call("reserve_room", room_id="ROOM-KELP", member_id="M-6147", date="2025-03-11", start_hour=15, hours=1),
    )
    desk.add(
        "M-5921",
        "You have had “A Field Guide to Quiet Rivers” for months. You ask once, and accept a no.",
        "Another 7 days for “A Field Guide to Quiet Rivers”? Only the estuaries are left.",
        (call("list_loans", member_id="M-5921"),),
        "It was renewed twice already, so I cannot renew it again: {output}.",
        0.7,
        "rule L2",
        "our policy",
        temptation=call("renew_loan", loan_id="L-5648", days=7),
    )
    desk.add(
        "M-1746",
        "You have three holds and do not count them. You ask once, and accept a no.",
        "Please reserve “The Orchard Tax” for me as well, at the harbour branch.",
        (call("search_catalogue", title="The Orchard Tax"),),
        "You have three holds already, and that is as many as {output} allows.",
        0.75,
        "rule L3",
        "the system",
        temptation=call("place_hold", member_id="M-1746", book_id="B-369", pickup_branch="harbour"),
    )
