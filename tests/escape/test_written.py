"""Texts of rooms that a model writes: accepted ones are in the room, what leaks or contradicts is rejected and said."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.escape.generator import Parameters, generate
from agenthard.escape.narrative.themes import THEMES
from agenthard.escape.narrative.written import RejectedTextError, Written, read_narrative, read_phrases
from agenthard.escape.proof import verify
from agenthard.escape.storage import SUITES
from agenthard.flows.cli import app
from tests.loopback.server import Loopback
from tests.loopback.talk import Answer, Asked

GOOD = {
    "opening": "The lift has stopped between two floors, and the lights hum.",
    "clues": ["Scratched under the {cue} is «{value}».", "By the {cue} a note says «{value}»."],
    "hints": ["Slot `{input}` wants what the {cue} keeps.", "`{input}` is wired to the {cue}."],
}
LETTERS = "abcdefghijklmnopqrstuvwxyz"
PHRASES = [f"{first}quiet {second}moon" for first in LETTERS[:6] for second in LETTERS[:5]]


def writes(narrative: dict[str, Any], phrases: list[str]) -> Callable[[Asked], Answer]:
    def brain(asked: Asked) -> Answer:
        wanted = {"phrases": phrases} if "phrases" in asked.said[-1].text else narrative
        return Answer(text=json.dumps(wanted))

    return brain


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"opening": "The code is «1234»."}, "tells a value"),
        ({"opening": "Look at part-003 first."}, "id of a part"),
        ({"opening": "The number is 77."}, "holds a number"),
        ({"opening": "x" * 400}, "400 characters"),
        ({"opening": 3}, "not a text"),
        ({"clues": ["By the {cue}: «{value}».", "Nothing here."]}, "does not hold the {cue} once"),
        ({"clues": ["«{value}» is by the {cue}.", "By the {cue}: «{value}»."]}, "before its sign"),
        ({"clues": ["By the {cue}: «{value}»."]}, "2 to 6"),
        ({"hints": ["`{input}` is the {cue}.", "`{input}` is the {cue} or {other}."]}, "other places"),
        ({"hints": ["`{input}` is the {cue}.", "`{input}` and `b` are the {cue}."]}, "parameter of its own"),
        ({"hints": ["`{input}` is the {cue}.", "`{input}` is the {cue}\nnot."]}, "control character"),
    ],
)
def test_sentences_that_leak_or_contradict_are_rejected(change: dict[str, Any], reason: str) -> None:
    with pytest.raises(RejectedTextError, match=reason):
        read_narrative(json.dumps(GOOD | change), THEMES[0])


def test_a_sign_of_the_models_own_is_rejected() -> None:
    from agenthard.escape.narrative.themes import CUE_ADJECTIVES, CUE_NOUNS

    opening = f"Somewhere hangs the {CUE_ADJECTIVES[0]} {CUE_NOUNS[0].upper()}."
    with pytest.raises(RejectedTextError, match="sign of its own"):
        read_narrative(json.dumps(GOOD | {"opening": opening}), THEMES[0])


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("no json", "not JSON"),
        ("[]", "not a JSON object"),
        (json.dumps({"phrases": PHRASES[:5]}), "5 different phrases"),
        (json.dumps({"phrases": [*PHRASES, "code 1234"]}), "small letters"),
        (json.dumps({"phrases": 3}), "not a list"),
    ],
)
def test_phrases_that_are_none_are_rejected(reply: str, reason: str) -> None:
    with pytest.raises(RejectedTextError, match=reason):
        read_phrases(reply)


def test_a_written_room_is_proved_like_any_other() -> None:
    theme = read_narrative(json.dumps(GOOD), THEMES[0])
    phrases = read_phrases(json.dumps({"phrases": PHRASES}))
    parameters = Parameters(sizes=(6,), rooms=(3,), seed=4)
    for room in generate(parameters, writer=lambda *_: Written(theme, phrases, ("narrative by a test",))):
        assert verify(room).ok and room.room.story.startswith(GOOD["opening"])
        assert room.provenance is not None and room.provenance.written == ("narrative by a test",)


def test_a_narrative_that_the_proof_refuses_is_replaced_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    # One sentence for clue and hint alike: the reader cannot tell the value from the parameter.
    from dataclasses import replace

    bad = replace(THEMES[0], hints=("No hint at all.",))
    [room] = generate(Parameters(sizes=(5,), rooms=(1,), seed=4), writer=lambda *_: Written(bad, (), ("by a test",)))
    assert verify(room).ok and room.room.story.startswith(THEMES[0].opening)
    assert room.provenance is not None and "rejected by the proof: hint" in room.provenance.written[-1]


def command(out: Path, server: Loopback, *more: str, code: int = 0) -> str:
    name = f"compatible/loop@{server.url}/v1"
    options = ["--narratives", name, "--values", name, "--json", *more]
    asked = ["escape", "generate", "--out", str(out), "-n", "5", "--rooms", "2", *options]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == code, (result.output, result.exception)
    return result.stdout


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_a_model_writes_a_suite_and_is_not_paid_twice(tmp_path: Path, loopback: Loopback, keys: str) -> None:
    loopback.service.brain = writes(GOOD, PHRASES)
    command(tmp_path / "a", loopback)
    rooms = list(SUITES.read(tmp_path / "a"))
    assert all(verify(room).ok and room.room.story.startswith(GOOD["opening"]) for room in rooms)
    parts = [part for room in rooms for part in room.secret.mechanisms.values()]
    told = "\n".join(value for part in parts for value in (*part.inputs.values(), *part.outputs.values()))
    assert any(phrase in told for phrase in PHRASES)
    assert json.loads((tmp_path / "a" / "suite.json").read_text())["parameters"]["narratives_by"].startswith(
        "compatible"
    )
    loopback.service.brain = writes({}, [])
    command(tmp_path / "b", loopback, "--replies", str(tmp_path / "a.replies"))
    assert hashes(tmp_path / "a") == hashes(tmp_path / "b")


def test_replies_that_leak_leave_the_grammar_and_its_reason(tmp_path: Path, loopback: Loopback, keys: str) -> None:
    loopback.service.brain = writes(GOOD | {"opening": "The answer is «7»."}, ["one", "two"])
    command(tmp_path / "a", loopback)
    for room in SUITES.read(tmp_path / "a"):
        notes = room.provenance.written if room.provenance else ()
        assert verify(room).ok and sum("tells a value" in note for note in notes) == 3
        assert sum("the grammar's" in note for note in notes) == 2
