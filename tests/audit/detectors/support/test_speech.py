"""Messages that no user writes."""

import pytest

from agenthard.audit.detectors.support.speech import assistant_speech, machine_speech, narration


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ('Let us see.\n<tool_call>\n{"name": "get_trip", "arguments": {}}\n</tool_call>', "writes a tool call"),
        ('{"name": "get_trip", "arguments": {"trip_id": "T1"}}', "writes a tool call"),
        ('<function=get_trip>{"trip_id": "T1"}</function>', "writes a tool call"),
        ("**Function call:** get_trip(T1)", "writes a tool call"),
        ('<tool_response>{"done": true}</tool_response>', "answers as a tool"),
        ("I will do it: cancel_trip(trip_id='T1', fee=3)", "writes a tool call"),
        ("getTrips()", "writes a tool call"),
        ("[Result] {'trips': 2}", "answers as a tool"),
        ("Here: {'trips': ['T1']}", "writes JSON"),
        ("HTTP/2 404\n\ngone", "answers as a tool"),
        ("Thanks.\nTool output: trip T1 is cancelled", "answers as a tool"),
        ('It says {"trip_id": "T1", "cabin": null}.', "writes JSON"),
        ("Thanks.<|im_end|>\n<|im_start|>assistant", "writes marks of a chat template"),
    ],
)
def test_what_only_a_program_writes_is_recognised(text: str, cue: str) -> None:
    found = machine_speech(text)
    assert found is not None and found.name == cue
    assert found.sentence in text


@pytest.mark.parametrize(
    "text",
    [
        "I get {error 7} when I log in, and {} when I do not.",
        'It is called {"Soup"}.',
        "Bring the passport(s) (or a copy=fine) for Ann (7) and f(x).",
        "The tool call you made failed, I think: nothing changed.",
        "My phone shows <no service> and the tool: none.",
        '<think>{"name": "get_trip", "arguments": {}}</think>Hello.',
        "a < b and tool > hammer",
        "",
    ],
)
def test_speech_is_not(text: str) -> None:
    assert machine_speech(text) is None


def test_a_json_object_that_the_user_heard_or_was_told_may_be_repeated() -> None:
    said = 'Please store {"theme": "dark"}.'
    assert machine_speech(said) is not None
    assert machine_speech(said, ['You want {"theme": "dark"} in your profile.']) is None


@pytest.mark.parametrize("piece", ['{"a":', '{"', "<tool", "tool call", "<|", "* "])
def test_long_text_ends(piece: str) -> None:
    assert (machine_speech(piece * 20_000) is None) == (machine_speech(piece * 50) is None)


@pytest.mark.parametrize(
    ("text", "cue"),
    [
        ("Hi! How can I assist you today?", "offers help"),
        ("Done. Is there anything else I can help you with?", "asks what else to do for the customer"),
        ("Is there anything else you need assistance with, Ada?", "asks what else to do for the customer"),
        ("If you have any further questions, feel free to ask.", "invites further questions"),
        ("Thank you for choosing us!", "thanks for choosing the company"),
        ("I'm here to assist you with your exchange.", "offers assistance"),
        ("Sure, could you please provide your order number?", "asks for the customer's data"),
        ("Before I go on, please share your membership number.", "asks for the customer's data"),
        ("Let me check your reservation.", "acts on the customer's order"),
        ("What else can I do for you?", "offers help"),
        ("We are required to confirm who you are.", "needs the customer's data"),
        ("Now you are all set, Ada.", "tells the customer that all is done"),
        ("Don't hesitate to write if you need any further help.", "invites further questions"),
        ("Please confirm your full name and zip code.", "asks for the customer's data"),
        ("I'll need your email address to find you.", "needs the customer's data"),
        ("It costs $30. Would you like to proceed with the booking?", "offers the customer a choice"),
        ("Would you like me to transfer you to a colleague?", "offers the customer a choice"),
        ("Your reservation AB12CD has been successfully cancelled.", "reports an act on the customer's order"),
        ("Your flights have been successfully changed.", "reports an act on the customer's order"),
        ("I've located your order, Ada.", "acts on the customer's order"),
        ("I'm checking the details of your reservation.", "acts on the customer's order"),
        ("I'm processing the downgrade for you now.", "acts for the customer"),
        ("I will transfer you to a human agent.", "transfers the customer"),
        ("According to our policy, that is not possible.", "mentions our policy"),
        ("You will receive a confirmation email shortly.", "promises a confirmation"),
        ("I am a customer service representative with Example Air.", "says it is the assistant"),
    ],
)
def test_an_assistants_sentence_is_recognised(text, cue):
    found = assistant_speech(text)
    assert [item.name for item in found] == [cue]
    assert found[0].sentence in text


@pytest.mark.parametrize(
    "text",
    [
        "Sure, I can provide my user ID: ada_1.",
        "Could you please help me cancel my order?",
        "Can you provide the order number?",
        "Let me check my reservation. Could you give me your direct number?",
        "What else can I do?",
        "Thank you for your patience. I'm looking for my confirmation email.",
        "I'll check my email and get back to you with the reservation ID.",
        "Is there anything else you need from me?",
        "Let me know if you need any more details from my side.",
        "Your flight was cancelled and I missed a meeting.",
        "I checked your return policy, and I want my money back.",
        "Could you give me your name, please?",
        "You're welcome! Have a great day, and thanks for confirming.",
        "The website says your order has been delivered, but it has not.",
        'I got a mail with "Your order has been cancelled." in it. Why?',
        "Would you like me to spell my name?",
        "I look forward to your response. I need your help with my return.",
        "",
    ],
)
def test_a_customers_sentence_is_not(text):
    assert assistant_speech(text) == []


def test_thoughts_do_not_count_but_what_follows_them_does():
    thought = "<think>The agent said: How can I help you today?</think>\nHello, my order is late."
    assert assistant_speech(thought) == []
    assert assistant_speech(thought + " I found your order.")[0].sentence == "I found your order."
    assert assistant_speech("<think>How can I help you today?") == []


def test_each_sentence_counts_once_and_in_order():
    text = "I found your order. Would you like to cancel it, or would you like to exchange it?"
    assert [cue.name for cue in assistant_speech(text)] == [
        "acts on the customer's order",
        "offers the customer a choice",
    ]


@pytest.mark.parametrize("piece", ["your ", "your order ", "I will now ", "would you like to ", '"', "<think>", "a"])
def test_long_text_without_sentences_ends(piece):
    # Backtracking over 20,000 pieces would take hours; one long sentence holds each cue at most once.
    cues = [cue.name for cue in assistant_speech(piece * 20_000)]
    assert len(cues) == len(set(cues))


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
def test_speech_is_not_narration(text: str) -> None:
    assert narration(text) is None


@pytest.mark.parametrize("piece", ["(the user ", "*", "[", "the user ", "The user is\n", "(nods", "( "])
def test_long_narration_ends(piece: str) -> None:
    assert (narration(piece * 20_000) is None) == (narration(piece * 50) is None)
