import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthard.audit.judge.prompt import answer_schema
from agenthard.audit.judge.verdict import Verdict
from agenthard.audit.judge.verify.verdict_parser import MOST_CHARACTERS, UnreadableVerdictError, read_verdict

IDS = ("incorrect-tool-call", "too-strict")
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
CALL = st.fixed_dictionaries(
    {
        "turn": st.integers(0, 9),
        "tool": WORDS,
        "requestor": st.sampled_from(["assistant", "user"]),
        "arguments": WORDS,
    }
)
READING = st.fixed_dictionaries(
    {
        "meaning": WORDS,
        "right": st.booleans(),
        "calls": st.lists(CALL, max_size=2),
        "says": st.lists(WORDS, max_size=2),
    }
)
ISSUE = st.fixed_dictionaries(
    {
        "category": st.sampled_from(IDS),
        "claim": WORDS,
        "reasoning_summary": WORDS,
        "severity": st.sampled_from(["affects_score", "may_affect_score", "cosmetic"]),
        "confidence": st.floats(0, 1),
        "evidence": st.lists(st.fixed_dictionaries({"passage": WORDS, "quote": WORDS, "shows": WORDS}), max_size=3),
        "fix": WORDS,
        "patch": st.lists(
            st.fixed_dictionaries({"op": st.sampled_from(["add", "remove", "replace"]), "path": WORDS, "value": WORDS}),
            max_size=2,
        ),
        "readings": st.lists(READING, max_size=2),
        "goal": st.lists(st.fixed_dictionaries({"pointer": WORDS, "value": WORDS}), max_size=2),
    }
)
FLAWED = st.fixed_dictionaries(
    {
        "reasoning": WORDS,
        "outcome": st.just("flawed"),
        "because": WORDS,
        "issues": st.lists(ISSUE, min_size=1, max_size=3),
    }
)
SOUND = st.fixed_dictionaries(
    {
        "reasoning": WORDS,
        "outcome": st.sampled_from(["not_flawed", "cannot_tell"]),
        "because": WORDS,
        "issues": st.just([]),
    }
)
VERDICT = st.one_of(FLAWED, SOUND)
FRAMES = (
    "{}",
    "\ufeff{}\n",
    "```json\n{}\n```",
    "```\n{}```",
    "Here is my verdict:\n{}",
    "Verdict:\n\n```json\n{}\n```\n",
    '<think>{{a}} or {{"b": 1}}?</think>\n{}',
    "<thinking>\nhm\n</thinking>```json\n{}\n```",
)


@settings(deadline=None)
@given(VERDICT, st.sampled_from(FRAMES), st.sampled_from([None, 2]), st.booleans())
def test_verdicts_survive_the_round_trip(value: dict[str, Any], frame: str, indent: int | None, plain: bool) -> None:
    text = frame.format(json.dumps(value, indent=indent, ensure_ascii=plain))
    verdict = read_verdict(text, IDS)
    assert json.loads(verdict.model_dump_json()) == value
    assert read_verdict(verdict.model_dump_json(), IDS) == verdict


def sound(**changes: Any) -> dict[str, Any]:
    return {"reasoning": "r", "outcome": "not_flawed", "because": "b", "issues": []} | changes


def flawed(**changes: Any) -> dict[str, Any]:
    issue = {
        "category": IDS[0],
        "claim": "c",
        "reasoning_summary": "s",
        "severity": "affects_score",
        "confidence": 0.9,
        "evidence": [{"passage": "/user", "quote": "q", "shows": "w"}],
        "fix": "",
        "patch": [],
        "readings": [],
        "goal": [],
    }
    return {"reasoning": "r", "outcome": "flawed", "because": "", "issues": [issue | changes]}


WHOLE = json.dumps(flawed())
DEEP = 50_000
MALFORMED = {
    "empty": ("", "no JSON object"),
    "prose": ("This task is not flawed.", "no JSON object"),
    "refusal": ("I'm sorry, but I can't help with that.", "no JSON object"),
    "list": (f"[{WHOLE}]", "nothing after it"),
    "string": (json.dumps(WHOLE), "not one JSON object"),
    "number": ("42", "no JSON object"),
    "null": ("null", "no JSON object"),
    "two objects": (WHOLE + WHOLE, "nothing after it"),
    "two fences": (f"```json\n{WHOLE}\n```\n```json\n{WHOLE}\n```", "nothing after it"),
    "words behind": (f"{WHOLE}\nI hope this helps!", "nothing after it"),
    "words behind a fence": (f"```json\n{WHOLE}\n```\nI hope this helps!", "nothing after it"),
    "braces before": (f"For {{x}} the verdict is {WHOLE}", "not one JSON object"),
    "closing brace before": (f"Of }} the verdict is {WHOLE}", "braces precede"),
    "thoughts alone": (f"<think>{WHOLE}</think>", "no JSON object"),
    "open thoughts": (f"<think>{WHOLE}", "thoughts"),
    "comment": (WHOLE.replace("{", "{ // mine\n", 1), "not one JSON object"),
    "single quotes": (str(flawed()), "not one JSON object"),
    "trailing comma": (WHOLE[:-1] + ",}", "not one JSON object"),
    "double field": ('{"outcome": "flawed", ' + json.dumps(sound())[1:], "'outcome' is given twice"),
    "double inner field": (WHOLE.replace('"claim": "c"', '"claim": "c", "claim": "d"'), "'claim' is given twice"),
    "many double fields": ("{" + '"a": 1, ' * 20_000 + '"a": 1}', "'a' is given twice"),
    "NaN": (WHOLE.replace("0.9", "NaN"), "NaN is not a number"),
    "Infinity": (WHOLE.replace("0.9", "-Infinity"), "-Infinity is not a number"),
    "overflow": (WHOLE.replace("0.9", "1e999"), "confidence"),
    "too sure": (json.dumps(flawed(confidence=1.5)), "confidence"),
    "in words": (json.dumps(flawed(confidence="high")), "confidence"),
    "number as text": (json.dumps(flawed(confidence="0.9")), "confidence"),
    "truth as number": (json.dumps(flawed(confidence=True)), "confidence"),
    "long number": (WHOLE.replace("0.9", "9" * 10_000), "not one JSON object"),
    "wrong severity": (json.dumps(flawed(severity="grave")), "severity"),
    "wrong outcome": (json.dumps(sound(outcome="sound")), "outcome"),
    "wrong operation": (json.dumps(flawed(patch=[{"op": "move", "path": "/a", "value": ""}])), "patch"),
    "unknown category": (json.dumps(flawed(category="vibes")), "'vibes' is not one of incorrect-tool-call, too-strict"),
    "sound with issues": (json.dumps(flawed() | {"outcome": "not_flawed"}), "not_flawed with 1 issues"),
    "flawed without issues": (json.dumps(sound(outcome="flawed")), "flawed with 0 issues"),
    "unknown field": (json.dumps(sound(score=1)), "score"),
    "missing field": (json.dumps({k: v for k, v in sound().items() if k != "because"}), "because"),
    "null field": (json.dumps(sound(reasoning=None)), "reasoning"),
    "evidence as text": (json.dumps(flawed(evidence="the user says so")), "evidence"),
    "schema instead of an object": (json.dumps(answer_schema(IDS)), "not a verdict"),
    "deep lists": ('{"reasoning": ' + "[" * DEEP + "]" * DEEP + "}", "deep"),
    "deep objects": ('{"a":' * (MOST_CHARACTERS // 6), "nested too deeply"),
    "open braces": ("{" * MOST_CHARACTERS, "not one JSON object"),
    "half a pair": (WHOLE.replace('"c"', '"\\ud800"'), "not a verdict"),
    "half a pair as it is": (WHOLE.replace('"c"', '"\ud800"'), "not a verdict"),
    "line break in a text": (WHOLE.replace('"c"', '"c\n"'), "not one JSON object"),
    "NUL": ("\x00" + WHOLE + "\x00", "nothing after it"),
    "five megabytes": (json.dumps(flawed(claim="x" * 5_000_000)), "5,000,"),
    "five megabytes of space": (" " * 5_000_000, "5,000,000 characters"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_answers(name: str) -> None:
    text, reason = MALFORMED[name]
    with pytest.raises(UnreadableVerdictError) as failed:
        read_verdict(text, IDS)
    assert reason in str(failed.value)
    assert len(str(failed.value)) < 2_000


@settings(max_examples=150, deadline=None)
@given(VERDICT, st.data())
def test_broken_answers_raise_nothing_else(value: dict[str, Any], data: st.DataObject) -> None:
    """Cut, doubled, and with something wrong put in at any place."""
    text = json.dumps(value)
    at = data.draw(st.integers(1, len(text) - 1))
    broken = data.draw(
        st.sampled_from(
            [
                text[:at],
                text[at:],
                text + text[at:],
                text[:at] + "\x00" + text[at:],
                text.replace('"outcome"', '"verdict"', 1),
                text[:-1] + ', "outcome": "flawed"}',
                text[:-1] + ', "more": NaN}',
                f'[{text}, "{at}"]',
            ]
        )
    )
    with pytest.raises(UnreadableVerdictError):
        read_verdict(broken, IDS)


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(
        st.text(st.characters(exclude_categories=())),
        st.recursive(
            st.one_of(st.none(), st.booleans(), st.floats(), st.integers(), st.text()),
            lambda inner: st.one_of(
                st.lists(inner), st.dictionaries(st.sampled_from([*Verdict.model_fields, "x"]), inner)
            ),
        ).map(json.dumps),
    )
)
def test_whatever_is_no_verdict_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableVerdictError):
        read_verdict(text, IDS)
