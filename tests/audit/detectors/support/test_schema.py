"""Hostile schemas end with a message, never with a hang or a download."""

import pytest
from referencing.exceptions import Unresolvable

from agenthard.audit.detectors.support import schema as module
from agenthard.audit.detectors.support.schema import safe_validator, violations


def test_a_catastrophic_pattern_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATTERN_SECONDS", 0.2)
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a|a)*$"}}}
    with pytest.raises(ValueError, match="takes too long"):
        violations({"a": "a" * 60 + "!"}, schema, lambda value, rule: False)


def test_a_remote_reference_is_not_followed() -> None:
    with pytest.raises(Exception) as caught:
        list(safe_validator({"$ref": "http://127.0.0.1:9/schema.json"}).iter_errors({}))
    assert isinstance(caught.value, Unresolvable) or isinstance(caught.value.__cause__, Unresolvable)


def test_patterns_still_decide() -> None:
    schema = {"type": "string", "pattern": "^[0-9]{3}$"}
    assert list(safe_validator(schema).iter_errors("123")) == []
    assert len(list(safe_validator(schema).iter_errors("12a"))) == 1
    named = {"type": "object", "patternProperties": {"^n_": {"type": "integer"}}, "additionalProperties": False}
    assert len(list(safe_validator(named).iter_errors({"n_a": "x", "other": 1}))) == 1
    closed = {"type": "object", "properties": {"a": {}}, "additionalProperties": False}
    assert len(list(safe_validator(closed).iter_errors({"b": 1}))) == 1
