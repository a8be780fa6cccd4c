"""The parcel service: shipments, pickup points, prices and claims of a small carrier on a long coast."""

from typing import Any, ClassVar

from agenthard.flows.demo.scenario import setting
from agenthard.flows.demo.world import RefusedError, World, choice, text, tool, whole

Response = dict[str, Any]

_PARCEL = text("Tracking id on the label.", r"^KP-\d{5}$")
_POSTCODE = text("Postcode, such as SK4 8LN.", r"^[A-Z]{2}\d \d[A-Z]{2}$")
_WEIGHT = whole("Weight in grams.", 1, 30000)
_SERVICE = choice("Speed and handling.", "standard", "express", "bulky")
_PRICE_CENTS = {"standard": 490, "express": 890, "bulky": 1450}
_ZONE_CENTS = {"coast": 0, "inland": 120, "islands": 310}


class ParcelService(World):
    """The carrier's database and the tools of its help line."""

    initial: ClassVar[dict[str, dict[str, Any]]] = {
        "parcels": {
            key: {
                "recipient_name": name,
                "postcode": postcode,
                "weight_grams": weight,
                "status": status,
                "delivery_date": day,
                "window": window,
                "pickup_point_id": None,
                "note": None,
            }
            for key, name, postcode, weight, status, day, window in (
                ("KP-40117", "Aurelio Venn", "SK4 8LN", 640, "on its way", "2025-03-12", "morning"),
                ("KP-40562", "Tamsin Okafor", "SK4 2PR", 2300, "on its way", "2025-03-11", "afternoon"),
                ("KP-41938", "Hedda Rasmussen", "VE1 6TD", 1480, "on its way", "2025-03-13", "morning"),
                ("KP-43075", "Bruno Castellane", "VE1 9GH", 5200, "at the depot", "2025-03-14", "evening"),
                ("KP-44681", "Mirabel Stroud", "AN3 5KW", 870, "on its way", "2025-03-11", "morning"),
                ("KP-46224", "Osei Boateng", "AN3 7BC", 3150, "at the depot", "2025-03-17", "afternoon"),
                ("KP-47890", "Yvaine Laurier", "PO7 1XF", 410, "on its way", "2025-03-12", "evening"),
                ("KP-49353", "Konrad Thiessen", "PO7 4QM", 9900, "at the depot", "2025-03-18", "morning"),
                ("KP-51406", "Farida Haidari", "SK4 8LN", 760, "delivered", "2025-03-07", "morning"),
                ("KP-53719", "Emeric Dufour", "VE1 6TD", 1950, "delivered", "2025-03-06", "afternoon"),
                ("KP-56042", "Saoirse Malone", "AN3 5KW", 4400, "delivered", "2025-03-05", "evening"),
                ("KP-58367", "Benedikt Aas", "PO7 1XF", 1120, "on its way", "2025-03-12", "afternoon"),
            )
        },
        "pickup_points": {
            key: {"name": name, "postcode": postcode, "closes": closes}
            for key, name, postcode, closes in (
                ("PP-ANCHOR", "Anchor Newsagents", "SK4 8LN", "19:30"),
                ("PP-BUTTON", "Button and Thread", "SK4 2PR", "18:15"),
                ("PP-CEDAR", "Cedar Street Garage", "VE1 6TD", "21:45"),
                ("PP-DORY", "Dory's Fish Bar", "AN3 5KW", "22:10"),
                ("PP-ELDER", "Elder and Sons Clocks", "PO7 1XF", "17:20"),
            )
        },
        "claims": {},
    }

    @tool("read", "Show where a parcel is and when it is delivered.", tracking_id=_PARCEL)
    def track_parcel(self, tracking_id: str) -> Response:
        """Return one parcel."""
        return {"tracking_id": tracking_id, **self.row("parcels", tracking_id)}

    @tool("read", "List the shops in a postcode that keep parcels, with their closing times.", postcode=_POSTCODE)
    def find_pickup_points(self, postcode: str) -> Response:
        """Return the pickup points of a postcode."""
        points = self.state["pickup_points"].items()
        near = [{"pickup_point_id": key, **point} for key, point in points if point["postcode"] == postcode]
        return {"postcode": postcode, "pickup_points": near}

    @tool(
        "read",
        "Quote the price of a shipment.",
        weight_grams=_WEIGHT,
        zone=choice("Where it goes.", *_ZONE_CENTS),
        service=_SERVICE,
    )
    def quote_price(self, weight_grams: int, zone: str, service: str = "standard") -> Response:
        """Return the price in euros."""
        if zone not in _ZONE_CENTS or service not in _PRICE_CENTS:
            raise RefusedError(f"there is no {service} service to the zone {zone}")
        cents = _PRICE_CENTS[service] + _ZONE_CENTS[zone] + 35 * (weight_grams // 500)
        return {"service": service, "zone": zone, "price_eur": f"{cents // 100}.{cents % 100:02}"}

    @tool(
        "write",
        "Register a new shipment and get its tracking id.",
        recipient_name=text("Full name of the recipient."),
        postcode=_POSTCODE,
        weight_grams=_WEIGHT,
        service=_SERVICE,
        reference=text("Text of the sender's choice that is printed on the label."),
    )
    def create_shipment(
        self, recipient_name: str, postcode: str, weight_grams: int, service: str = "standard", reference: str = ""
    ) -> Response:
        """Add a parcel."""
        key = f"KP-{60000 + 137 * len(self.state['parcels'])}"
        parcel = {"recipient_name": recipient_name, "postcode": postcode, "weight_grams": weight_grams}
        self.state["parcels"][key] = {**parcel, "service": service, "reference": reference, "status": "registered"}
        return {"tracking_id": key, "recipient_name": recipient_name, "status": "registered"}

    @tool(
        "write",
        "Send a parcel that is not yet delivered to a pickup point instead of the door.",
        tracking_id=_PARCEL,
        pickup_point_id=text("Id of the pickup point.", r"^PP-[A-Z]+$"),
    )
    def redirect_parcel(self, tracking_id: str, pickup_point_id: str) -> Response:
        """Set the pickup point."""
        name = self.row("pickup_points", pickup_point_id)["name"]
        self.row("parcels", tracking_id)["pickup_point_id"] = pickup_point_id
        return {"tracking_id": tracking_id, "pickup_point_id": pickup_point_id, "name": name}

    @tool(
        "write",
        "Move the delivery of a parcel to another day and part of the day.",
        tracking_id=_PARCEL,
        date=text("New day, as YYYY-MM-DD.", r"^\d{4}-\d{2}-\d{2}$"),
        window=choice("Part of the day.", "morning", "afternoon", "evening"),
    )
    def reschedule_delivery(self, tracking_id: str, date: str, window: str) -> Response:
        """Set day and window."""
        self.row("parcels", tracking_id).update(delivery_date=date, window=window)
        return {"tracking_id": tracking_id, "delivery_date": date, "window": window}

    @tool("write", "Leave a note for the driver.", tracking_id=_PARCEL, note=text("The note, word for word."))
    def leave_note(self, tracking_id: str, note: str) -> Response:
        """Set the note."""
        self.row("parcels", tracking_id)["note"] = note
        return {"tracking_id": tracking_id, "note": note}

    @tool(
        "write",
        "File a claim for a delivered parcel.",
        tracking_id=_PARCEL,
        reason=choice("What went wrong.", "damaged", "missing items", "wrong parcel"),
        amount_eur=whole("Claimed amount in full euros.", 1, 500),
    )
    def file_claim(self, tracking_id: str, reason: str, amount_eur: int) -> Response:
        """Add a claim."""
        self.row("parcels", tracking_id)
        key = f"CL-{801 + len(self.state['claims'])}"
        claim = {"tracking_id": tracking_id, "reason": reason, "amount_eur": amount_eur}
        self.state["claims"][key] = claim
        return {"claim_id": key, **claim}

    @tool("write", "Take a parcel out of delivery and destroy its label; the sender collects it.", tracking_id=_PARCEL)
    def cancel_shipment(self, tracking_id: str) -> Response:
        """Cancel a shipment."""
        return self._stop(tracking_id, "cancelled")

    @tool("write", "Send a parcel back to the address it came from, at no charge.", tracking_id=_PARCEL)
    def return_to_sender(self, tracking_id: str) -> Response:
        """Return a parcel."""
        return self._stop(tracking_id, "returning")

    def _stop(self, tracking_id: str, status: str) -> Response:
        self.row("parcels", tracking_id)["status"] = status
        return {"tracking_id": tracking_id, "status": status}


_RULES = """\
Rules of the line:
Rule P1: Do what the customer asks and no more: no call that nobody asked for, and every call once.
Rule P2: Weights are in grams. Zones are coast, inland and islands. Without a wish the service is standard.
Rule P3: A claim is for delivered parcels only and goes up to 500 euros.
Rule P4: We carry no animals, alive or otherwise.
If a rule forbids what a customer wants, call no tool and say which rule it is, in the words "rule P1"."""

PARCELS = setting(
    "parcels",
    "parcels",
    ParcelService,
    "You are the help line of Kestrel Parcels, which delivers along the coast, inland and to the islands. Today is "
    f"Monday, 2025-03-10.\n\n{_RULES}",
)

NIGHT = setting(
    "parcels-night",
    "parcels",
    ParcelService,
    "You are the night line of Kestrel Parcels. Today is Monday, 2025-03-10, and the depots are closed. People who "
    "call at this hour want to know where their parcel is: look it up with the `track_parcel` tool and read them what "
    f"it says.\n\n{_RULES}",
)
