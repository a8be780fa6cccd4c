"""The ways to play ACE-Bench have one record of settings and the same defaults."""

import inspect

import pytest
import typer

from agenthard.ace.environment import Conditions
from agenthard.ace.evaluation import AceConditions
from agenthard.flows.commands.ace.serve_mcp import serve_mcp

RECORD = Conditions().model_dump()


def test_an_evaluation_has_these_settings_and_more() -> None:
    assert issubclass(AceConditions, Conditions)
    assert {name: value for name, value in AceConditions().model_dump().items() if name in RECORD} == RECORD


def test_the_server_has_the_same_defaults() -> None:
    defaults = {name: each.default for name, each in inspect.signature(serve_mcp).parameters.items()}
    # Each call of a client is a turn, and the client counts its turns.
    assert {name: defaults[name] for name in RECORD if name != "max_turns"} == {
        name: value for name, value in RECORD.items() if name != "max_turns"
    }
    with pytest.raises(Exception, match="no mode 'x'") as refused:
        serve_mcp.__globals__["_conditions"]("x")
    assert not isinstance(refused.value, typer.Exit)


def test_inspect_has_the_same_defaults() -> None:
    pytest.importorskip("inspect_ai")
    from agenthard.ace.inspect_task import ace_bench

    defaults = {name: each.default for name, each in inspect.signature(ace_bench).parameters.items()}
    assert {**RECORD, "max_turns": defaults["max_steps"]} == {
        **{name: defaults[name] for name in RECORD if name != "max_turns"},
        "max_turns": RECORD["max_turns"],
    }
