import json
from typing import Any

import pytest

from agenthard.audit.judge.verdict import paper_fields
from agenthard.audit.judge.verify.verdict_parser import read_verdict
from tests.audit.judge.test_reading import IDS, flawed, sound


def issues(*kinds: tuple[str, float, str]) -> dict[str, Any]:
    every = [
        flawed(severity=severity, confidence=confidence, category=category, reasoning_summary=f"{category}!")["issues"]
        for severity, confidence, category in kinds
    ]
    return flawed() | {"issues": [issue for [issue] in every]}


@pytest.mark.parametrize(
    ("answer", "summary", "category", "is_flawed"),
    [
        (sound(), "b", None, False),
        (sound(outcome="cannot_tell", because="No policy."), "No policy.", None, None),
        (flawed(), "s", "incorrect-tool-call", True),
        (issues(("cosmetic", 0.9, IDS[0]), ("affects_score", 0.6, IDS[1])), "too-strict!", "too-strict", True),
        (issues(("cosmetic", 0.6, IDS[0]), ("cosmetic", 0.9, IDS[1])), "too-strict!", "too-strict", True),
    ],
)
def test_the_four_fields(answer: dict[str, Any], summary: str, category: str | None, is_flawed: bool | None) -> None:
    fields = paper_fields(read_verdict(json.dumps(answer), IDS))
    assert (fields.reasoning, fields.reasoning_summary) == ("r", summary)
    assert (fields.error_category, fields.is_flawed) == (category, is_flawed)
