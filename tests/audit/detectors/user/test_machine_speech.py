import pytest

from agenthard.audit.detectors.support.machine_speech import machine_speech


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
