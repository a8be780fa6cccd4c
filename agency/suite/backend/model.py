"""What the service has to answer: a model of it in Python, for the grader only."""

import hashlib
import json
import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

SIZES = "SML"
STATES = ("stored", "collected", "blocked", "returned")
Answer = tuple[int, object]


def error(status: int, word: str) -> Answer:
    """Return a refusal."""
    return status, {"error": word}


@dataclass
class Parcel:
    """A parcel and what happened to it."""

    id: int
    recipient: str
    size: str
    locker: str
    day: int
    state: str = "stored"
    wrong: int = 0

    @property
    def code(self) -> str:
        """What the recipient shows."""
        return hashlib.sha256(f"{self.id}:{self.recipient}".encode()).hexdigest()[:6]

    def shown(self) -> dict[str, object]:
        """Return what every client may know."""
        return {
            "id": self.id,
            "recipient": self.recipient,
            "size": self.size,
            "locker": self.locker,
            "state": self.state,
        }


@dataclass
class Wall:
    """The service: one wall of lockers."""

    lockers: list[dict[str, str]]
    parcels: list[Parcel] = field(default_factory=list)
    day: int = 0
    events: list[dict[str, object]] = field(default_factory=list)
    keys: dict[str, tuple[object, Answer]] = field(default_factory=dict)

    def answer(self, method: str, target: str, body: str | None, key: str | None = None) -> Answer:
        """Answer a request."""
        parts = urlsplit(target)
        route = re.fullmatch(r"/parcels/([0-9]+)(/pickup)?", parts.path)
        known = {"/parcels": "GET POST", "/lockers": "GET", "/days": "POST", "/events": "GET"}
        methods = ("POST" if route[2] else "GET") if route else known.get(parts.path, "")
        if not methods:
            return error(404, "unknown")
        if method not in methods.split():
            return error(405, "method")
        if route:
            found = [each for each in self.parcels if each.id == int(route[1])]
            if not found:
                return error(404, "unknown")
            return self._pick_up(found[0], body) if route[2] else (200, found[0].shown())
        if parts.path == "/parcels":
            return self._store(body, key) if method == "POST" else self._list(parts.query)
        if parts.path == "/lockers":
            return 200, [{**each, "parcel": self._inside(each["id"])} for each in self.lockers]
        return self._pass(body) if parts.path == "/days" else (200, [*self.events])

    def _inside(self, locker: str) -> int | None:
        held = [each.id for each in self.parcels if each.locker == locker and each.state in ("stored", "blocked")]
        return held[0] if held else None

    def _note(self, parcel: Parcel) -> None:
        self.events.append({"event": parcel.state, "parcel": parcel.id, "day": self.day})

    def _store(self, body: str | None, key: str | None) -> Answer:
        document = _read(body)
        if key is not None and key in self.keys:
            asked, given = self.keys[key]
            return given if asked == document else error(422, "key")
        recipient, size = document.get("recipient"), document.get("size")
        if not isinstance(recipient, str) or not recipient.strip() or size not in ("S", "M", "L"):
            return error(400, "invalid")
        free = [each for each in self.lockers if self._inside(each["id"]) is None]
        fit = [each for each in free if SIZES.index(each["size"]) >= SIZES.index(size)]
        if not fit:
            return error(409, "full")
        locker = min(fit, key=lambda each: SIZES.index(each["size"]))
        parcel = Parcel(len(self.parcels) + 1, recipient, size, locker["id"], self.day)
        self.parcels.append(parcel)
        self._note(parcel)
        given = 201, {"id": parcel.id, "locker": parcel.locker, "code": parcel.code}
        if key is not None:
            self.keys[key] = document, given
        return given

    def _pick_up(self, parcel: Parcel, body: str | None) -> Answer:
        code = _read(body).get("code")
        if not isinstance(code, str):
            return error(400, "invalid")
        refusals = {"collected": (409, "collected"), "blocked": (423, "blocked"), "returned": (410, "returned")}
        if parcel.state in refusals:
            return error(*refusals[parcel.state])
        if code == parcel.code:
            parcel.state = "collected"
            self._note(parcel)
            return 200, parcel.shown()
        parcel.wrong += 1
        if parcel.wrong == 3:
            parcel.state = "blocked"
            self._note(parcel)
        return error(403, "code")

    def _list(self, query: str) -> Answer:
        asked = parse_qsl(query, keep_blank_values=True)
        options = dict(asked)
        limit, offset, state = options.get("limit", "20"), options.get("offset", "0"), options.get("state")
        numbers = all(re.fullmatch("[0-9]{1,6}", each) for each in (limit, offset))
        if not options.keys() <= {"limit", "offset", "state", "recipient"} or len(options) < len(asked):
            return error(400, "invalid")
        if not numbers or not 1 <= int(limit) <= 100 or (state is not None and state not in STATES):
            return error(400, "invalid")
        found = [
            each.shown()
            for each in self.parcels
            if state in (None, each.state) and options.get("recipient") in (None, each.recipient)
        ]
        return 200, {"total": len(found), "parcels": found[int(offset) : int(offset) + int(limit)]}

    def _pass(self, body: str | None) -> Answer:
        days = _read(body).get("days")
        if type(days) is not int or days < 1:
            return error(400, "invalid")
        self.day += days
        for parcel in self.parcels:
            if parcel.state in ("stored", "blocked") and self.day - parcel.day >= 7:
                parcel.state = "returned"
                self._note(parcel)
        return 200, {"day": self.day}


def _read(body: str | None) -> dict[str, object]:
    try:
        document = json.loads(body or "")
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}
