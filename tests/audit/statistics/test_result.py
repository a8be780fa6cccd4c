from math import inf, nan

import pytest
from pydantic import ValidationError

from agenthard.audit.statistics import Estimate, Undefined
from agenthard.audit.statistics.result import undefined


@pytest.mark.parametrize("value", [nan, inf, -inf])
def test_an_estimate_is_never_nan_or_infinite(value: float) -> None:
    with pytest.raises(ValidationError, match="finite numbers only"):
        Estimate(value=value, n=1, of=1, unit="tasks", method="mean")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"n": 3}, "exceeds the 2 tasks"),
        ({"low": 0.1}, "two ends"),
        ({"low": 0.6, "high": 0.4, "level": 0.95}, "low <= high"),
        ({"low": 0.4, "high": 0.6}, "level"),
        ({"low": 0.4, "high": 0.6, "level": 95}, "less than 1"),
    ],
)
def test_contradictions_are_refused(fields: dict[str, float], message: str) -> None:
    complete = {"value": 0.5, "n": 2, "of": 2, "unit": "tasks", "method": "mean"} | fields
    with pytest.raises(ValidationError, match=message):
        Estimate.model_validate(complete)


def test_an_undefined_result_says_why() -> None:
    assert undefined("one model was given").reason == "undefined because one model was given"
    with pytest.raises(ValidationError, match="undefined because"):
        Undefined(reason="no value")
