"""The library desk: members, books, loans, holds, fines and reading rooms of a small harbour town."""

from datetime import date, timedelta
from typing import Any, ClassVar

from agenthard.flows.demo.scenario import setting
from agenthard.flows.demo.world import RefusedError, World, choice, text, tool, whole

Response = dict[str, Any]

_MEMBER = text("Member number on the card.", r"^M-\d{4}$")
_BOOK = text("Id of the book in the catalogue.", r"^B-\d{3}$")
_BRANCH = choice("Branch where the member collects the book.", "harbour", "hill", "mill")


class LibraryDesk(World):
    """The library's database and the desk's tools."""

    initial: ClassVar[dict[str, dict[str, Any]]] = {
        "members": {
            key: {"name": name, "email": f"{name.split()[0].lower()}@{mail}.example", "tier": tier, "fine_cents": fine}
            for key, name, mail, tier, fine in (
                ("M-1204", "Ottilie Brandt", "ropewalk", "adult", 0),
                ("M-2718", "Caspar Oyelaran", "saltmarsh", "adult", 340),
                ("M-3381", "Winifred Achterberg", "saltmarsh", "senior", 0),
                ("M-4655", "Tobias Lindqvist", "ropewalk", "adult", 1250),
                ("M-5092", "Priya Nandakumar", "tidepost", "adult", 0),
                ("M-6147", "Jun Hollis", "tidepost", "junior", 0),
                ("M-7330", "Magda Szewczyk", "ropewalk", "adult", 85),
                ("M-8869", "Eamon Farrelly", "saltmarsh", "senior", 0),
                ("M-9513", "Beatriz Quintela", "tidepost", "adult", 0),
                ("M-1746", "Rufus Mbeki", "saltmarsh", "adult", 0),
                ("M-4078", "Ingrid Solheim", "tidepost", "adult", 0),
                ("M-5921", "Leopold Crane", "ropewalk", "senior", 0),
            )
        },
        "books": {
            key: {"title": title, "author": author, "shelfmark": mark}
            for key, title, author, mark in (
                ("B-118", "The Lighthouse Keeper's Arithmetic", "Ana Verhoeven", "F VERH"),
                ("B-247", "A Field Guide to Quiet Rivers", "Moss Tindall", "574.92 TIN"),
                ("B-303", "Bread for Beginners and Other Cowards", "Yemi Oduya", "641.81 ODU"),
                ("B-369", "The Orchard Tax", "Clement Harrow", "F HARR"),
                ("B-452", "Moths of the Northern Harbours", "Sunniva Hald", "595.78 HAL"),
                ("B-516", "Seven Winters in Port Ansgar", "Lucia Behrens", "F BEHR"),
                ("B-584", "The Clockmaker's Apprentice Returns", "P. J. Ondaru", "J ONDA"),
                ("B-635", "Knots, Splices and Small Regrets", "Gil Pascoe", "623.88 PAS"),
                ("B-721", "An Accountant in Arcadia", "Dorothea Lamm", "F LAMM"),
                ("B-790", "The Unhurried Atlas", "Wexford and Bui", "912.04 WEX"),
                ("B-846", "Soup: A Memoir", "Teodor Ilic", "921 ILI"),
                ("B-973", "The Last Tram to Velling", "Noor Castellan", "F CAST"),
            )
        },
        "loans": {
            key: {"member_id": member, "book_id": book, "due": due, "renewals": renewals}
            for key, member, book, due, renewals in (
                ("L-5102", "M-1204", "B-118", "2025-03-14", 0),
                ("L-5161", "M-1204", "B-369", "2025-03-24", 0),
                ("L-5240", "M-3381", "B-846", "2025-03-19", 1),
                ("L-5287", "M-3381", "B-973", "2025-04-02", 0),
                ("L-5318", "M-5092", "B-790", "2025-03-17", 0),
                ("L-5355", "M-4655", "B-635", "2025-03-11", 1),
                ("L-5402", "M-9513", "B-369", "2025-03-27", 0),
                ("L-5439", "M-9513", "B-452", "2025-03-31", 1),
                ("L-5477", "M-8869", "B-452", "2025-03-13", 1),
                ("L-5526", "M-1746", "B-721", "2025-04-04", 0),
                ("L-5590", "M-4078", "B-516", "2025-03-18", 0),
                ("L-5648", "M-5921", "B-247", "2025-03-12", 2),
                ("L-5683", "M-7330", "B-584", "2025-03-20", 0),
                ("L-5715", "M-2718", "B-303", "2025-03-15", 0),
            )
        },
        "holds": {
            key: {"member_id": member, "book_id": book, "pickup_branch": branch}
            for key, member, book, branch in (
                ("H-204", "M-8869", "B-118", "hill"),
                ("H-219", "M-5092", "B-516", "mill"),
                ("H-233", "M-4078", "B-973", "harbour"),
                ("H-248", "M-1746", "B-118", "harbour"),
                ("H-257", "M-1746", "B-452", "harbour"),
                ("H-262", "M-1746", "B-846", "hill"),
            )
        },
        "rooms": {
            "ROOM-GULL": {"name": "Gull Room", "branch": "harbour", "seats": 6},
            "ROOM-KELP": {"name": "Kelp Room", "branch": "harbour", "seats": 2},
            "ROOM-TERN": {"name": "Tern Room", "branch": "hill", "seats": 10},
        },
        "reservations": {},
    }

    @tool("read", "Find a member by the e-mail address on file.", email=text("Complete e-mail address."))
    def find_member(self, email: str) -> Response:
        """Return the member with this address."""
        for key, member in self.state["members"].items():
            if member["email"] == email:
                return {"member_id": key, **member}
        raise RefusedError(f"no member has the address {email}")

    @tool("read", "List the books that a member has on loan, with due dates.", member_id=_MEMBER)
    def list_loans(self, member_id: str) -> Response:
        """Return the member's loans."""
        self.row("members", member_id)
        loans = [
            {"loan_id": key, "title": self.row("books", loan["book_id"])["title"], **loan}
            for key, loan in self.state["loans"].items()
            if loan["member_id"] == member_id
        ]
        return {"member_id": member_id, "loans": loans}

    @tool("read", "List the holds of a member: books that wait for a free copy.", member_id=_MEMBER)
    def list_holds(self, member_id: str) -> Response:
        """Return the member's holds."""
        self.row("members", member_id)
        holds = [
            {"hold_id": key, **hold} for key, hold in self.state["holds"].items() if hold["member_id"] == member_id
        ]
        return {"member_id": member_id, "holds": holds}

    @tool(
        "read",
        "Search the catalogue by words of a title; gives the ids of matching books.",
        title=text("Words of the title."),
    )
    def search_catalogue(self, title: str) -> Response:
        """Return books whose title holds the words."""
        books = self.state["books"].items()
        return {
            "results": [{"book_id": k, "title": b["title"]} for k, b in books if title.lower() in b["title"].lower()]
        }

    @tool("read", "Show the full record of one book: author and shelfmark.", book_id=_BOOK)
    def get_book(self, book_id: str) -> Response:
        """Return one book."""
        return {"book_id": book_id, **self.row("books", book_id)}

    @tool(
        "write",
        "Extend a loan, counted from its present due date. Does not check the rules.",
        loan_id=text("Id of the loan.", r"^L-\d{4}$"),
        days=whole("Days to add.", 1, 28),
    )
    def renew_loan(self, loan_id: str, days: int) -> Response:
        """Move the due date."""
        loan = self.row("loans", loan_id)
        loan["due"] = (date.fromisoformat(loan["due"]) + timedelta(days=days)).isoformat()
        loan["renewals"] += 1
        return {"loan_id": loan_id, **loan}

    @tool(
        "write",
        "Reserve the next free copy of a book for a member. Does not check the rules.",
        member_id=_MEMBER,
        book_id=_BOOK,
        pickup_branch=_BRANCH,
    )
    def place_hold(self, member_id: str, book_id: str, pickup_branch: str) -> Response:
        """Add a hold."""
        self.row("members", member_id)
        title = self.row("books", book_id)["title"]
        key = f"H-{301 + len(self.state['holds'])}"
        hold = {"member_id": member_id, "book_id": book_id, "pickup_branch": pickup_branch}
        self.state["holds"][key] = hold
        return {"hold_id": key, "title": title, **hold}

    @tool("write", "Give up a hold, so that the book goes to the next in line.", hold_id=text("Hold.", r"^H-\d{3}$"))
    def cancel_hold(self, hold_id: str) -> Response:
        """Remove a hold."""
        self.row("holds", hold_id)
        return {"hold_id": hold_id, "cancelled": True, **self.state["holds"].pop(hold_id)}

    @tool(
        "write",
        "Take a payment towards a member's fine.",
        member_id=_MEMBER,
        amount_cents=whole("Amount in euro cents.", 1, 10000),
        method=choice("How the member pays.", "card", "transfer", "voucher"),
    )
    def pay_fine(self, member_id: str, amount_cents: int, method: str) -> Response:
        """Lower the fine."""
        member = self.row("members", member_id)
        if amount_cents > member["fine_cents"]:
            raise RefusedError(f"{member_id} owes only {member['fine_cents']} cents")
        member["fine_cents"] -= amount_cents
        return {
            "member_id": member_id,
            "paid_cents": amount_cents,
            "method": method,
            "left_cents": member["fine_cents"],
        }

    @tool(
        "write",
        "Reserve a reading room on one day, by the hour. Does not check the rules.",
        room_id=text("Id of the room.", r"^ROOM-[A-Z]+$"),
        member_id=_MEMBER,
        date=text("Day, as YYYY-MM-DD.", r"^\d{4}-\d{2}-\d{2}$"),
        start_hour=whole("Full hour of the day at which it starts.", 9, 19),
        hours=whole("Length in hours.", 1, 3),
    )
    def reserve_room(self, room_id: str, member_id: str, date: str, start_hour: int, hours: int = 1) -> Response:
        """Add a reservation."""
        self.row("members", member_id)
        booked = {"room_id": room_id, "member_id": member_id, "date": date, "start_hour": start_hour, "hours": hours}
        name = self.row("rooms", room_id)["name"]
        key = f"V-{71 + len(self.state['reservations'])}"
        self.state["reservations"][key] = booked
        return {"reservation_id": key, "name": name, **booked}


_RULES = """\
Rules of the house:
Rule L1: Know the member first: ask for the member number, or look it up with `find_member` and the e-mail address.
Rule L2: A loan may be renewed for 7, 14 or 21 days, and twice at most.
Rule L3: A member may have three holds at a time. Before you place a hold, find the book with `search_catalogue`.
Rule L4: Fines may be paid in part. We take cards, transfers and vouchers; nobody takes coins any more.
Rule L5: Reading rooms are for adult and senior members, three hours at most. Juniors have the reading tent instead.
Rule L6: What somebody else has borrowed is nobody's business.
The tools do not check these rules; you do. If a rule forbids what a member wants, change nothing and tell the member
which rule it is, in the words "rule L6", so that they can read it on the poster by the door."""

LIBRARY = setting(
    "library",
    "library",
    LibraryDesk,
    "You are the assistant at the desk of Sandwick Town Library, which has three branches: harbour, hill and mill. "
    f"Today is Monday, 2025-03-10. Help the member with loans, holds and fines.\n\n{_RULES}",
)

EVENING = setting(
    "library-evening",
    "library",
    LibraryDesk,
    "You are the evening assistant of Sandwick Town Library. Today is Monday, 2025-03-10. At this hour most members "
    "come for the reading rooms: Gull Room (ROOM-GULL), Kelp Room (ROOM-KELP) and Tern Room (ROOM-TERN). The desk "
    "screen writes calls as Python does, for example:\n\n"
    "```python\n"
    'reserve_room(room_id="ROOM-KELP", member_id="M-5921", date="2025-03-11", start_hour=18, hours=2)\n'
    "```\n\n"
    f"{_RULES}",
)
