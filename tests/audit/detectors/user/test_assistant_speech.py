import pytest

from agenthard.audit.detectors.support.assistant_speech import assistant_speech


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
        ("According to our policy, that is not possible.", "speaks of our policy"),
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
