import pytest

from agenthard.audit.detectors.support.narration import narration


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("(The customer takes the parcel and walks off.)", "(The customer takes the parcel and walks off.)"),
        ("Fine. [The caller is not amused.]", "[The caller is not amused.]"),
        ("*The user thinks for a while.* Well, no.", "*The user thinks for a while.*"),
        ("*sighs* Then cancel it.", "*sighs*"),
        ("*(Leans back, smiling)* And the other one?", "*(Leans back, smiling)*"),
        ("(checks her phone) It is AB12CD.", "(checks her phone)"),
        ("[She slowly nods]", "[She slowly nods]"),
        ("[The line goes dead]", "[The line goes dead]"),
        ("(The agent transfers the call.)", "(The agent transfers the call.)"),
        ("[END OF CONVERSATION]", "[END OF CONVERSATION]"),
        ("[silence]", "[silence]"),
        ("_The customer looks for the receipt_", "_The customer looks for the receipt_"),
        ("Bye.\n== the guest closes the window ==", "== the guest closes the window =="),
        ("{The user takes the offer}", "{The user takes the offer}"),
        ("[Customer pulls out a card]", "[Customer pulls out a card]"),
        ("*hands over the receipt*", "*hands over the receipt*"),
        ("(biting her lips) The other one.", "(biting her lips)"),
        ("Then the customer, by now angry, asks for a refund.", "Then the customer, by now angry, asks for a refund"),
        ("Narrator: it rains.", "Narrator: it rains."),
        ("(waiting for the agent's reply)", "(waiting for the agent's reply)"),
        ("The user sighs and asks for a refund.", "The user sighs and asks for a refund"),
        ("OK.\nThe caller reluctantly agrees to this.", "The caller reluctantly agrees to this"),
    ],
)
def test_what_a_narrator_tells_is_recognised(text: str, told: str) -> None:
    found = narration(text)
    assert found is not None and found.name == "narrates what happens"
    assert found.sentence == told


@pytest.mark.parametrize(
    "text",
    [
        "Two of them (the agent I spoke to confirmed this).",
        "Your colleague (the representative was nice) said no.",
        "(the call ended abruptly last time)",
        "I called twice (no answer).",
        "(waiting since May)",
        "[includes the tax], {customer details}, <user groups>, *is the point*",
        "The price (ends in May) and the offer (covers the trip).",
        "The flight (leaves at 5 pm) and the bus (takes an hour).",
        "The user ID is ada_1.",
        "The user manual says so, and the customer service line agrees.",
        "The customer is always right.",
        "(the customer reviews are good)",
        "2*nods*3, *really* and *sigh*",
        'The note says "The customer wants a refund."',
        "<think>The user asks for a refund.</think>Hello.",
        "[AB12CD](https://trips.example)",
        "",
    ],
)
def test_speech_is_not(text: str) -> None:
    assert narration(text) is None


@pytest.mark.parametrize("piece", ["(the user ", "*", "[", "the user ", "The user is\n", "(nods", "( "])
def test_long_text_ends(piece: str) -> None:
    assert (narration(piece * 20_000) is None) == (narration(piece * 50) is None)
