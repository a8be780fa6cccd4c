"""Things that are looked at, and two that are unlocked."""

from agenthard.escape.templates.declare import thing

ITEMS = (
    *(
        thing(name, "item", "holds a text", [], "text:T the text on it")
        for name in ("note", "diary", "plaque", "poster")
    ),
    *(thing(name, "item", "shows a number", [], "number:B the number on it") for name in ("ledger", "dial", "ticket")),
    *(
        thing(name, "item", "carries rows of bytes", [], "bytes:H the bytes on it")
        for name in ("hex_tape", "microfilm")
    ),
    thing("key_card", "item", "carries a key", [], "key:K the key on it"),
    thing("crystal", "item", "carries a vector", [], "vector:V the vector in it"),
    *(thing(name, "item", "stores a file", [], "file:F the file on it") for name in ("usb_stick", "cassette")),
    thing("punch_card", "item", "carries a program", [], "program:C the program on it"),
    thing("locked_case", "lock", "opens for a number and holds a text", ["pin:B the number"], "text:T the text in it"),
    thing("locked_drive", "lock", "opens for a text and stores a file", ["pass:T the text"], "file:F the file on it"),
)
