from typing import Any

import pytest

from agenthard.audit.detectors.environment import ToolDocImplementation
from agenthard.audit.shards import check_shard
from agenthard.taxonomy import EnvironmentSpec, Origin, Signature, Status, ToolSpec
from tests.builders import make_task


def code(*parameters: str, required: tuple[str, ...] = (), extra_keywords: bool = False) -> Signature:
    source = f"def drop(self, {', '.join(parameters)}):"
    origin = Origin(file="code/api.py", line=12)
    return Signature(
        parameters=parameters, required=required, extra_keywords=extra_keywords, source=source, origin=origin
    )


def claims(implementation: Signature | None, required: Any = ("receiver",)) -> list[str]:
    """Check one tool that documents ``receiver`` (required unless said otherwise) and the optional ``message_id``."""
    schema = {
        "type": "object",
        "properties": {"receiver": {"type": "string"}, "message_id": {"type": "integer"}},
        "required": list(required) if isinstance(required, tuple) else required,
    }
    tool = ToolSpec(name="drop", parameters=schema, implementation=implementation)
    result = check_shard([make_task(environment=EnvironmentSpec(tools=(tool,)))], {}, [ToolDocImplementation()])
    assert result.coverage[0].status is not Status.ERROR, result.coverage[0].reason
    return [hit.hit.claim for hit in result.hits]


def test_a_documented_parameter_that_the_code_does_not_take() -> None:
    assert claims(code("receiver", required=("receiver",))) == [
        "drop documents a parameter 'message_id' that its code does not take"
    ]


def test_a_parameter_documented_as_optional_that_the_code_needs() -> None:
    assert claims(code("receiver", "message_id", required=("receiver", "message_id"))) == [
        "drop documents 'message_id' as optional, and its code fails without it"
    ]


def test_a_needed_parameter_that_is_not_documented() -> None:
    assert claims(code("receiver", "message_id", "token", required=("receiver", "token"))) == [
        "The code of drop fails without 'token', which the documentation does not mention"
    ]


@pytest.mark.parametrize(
    "implementation",
    [
        code("receiver", "message_id", required=("receiver",)),
        code("receiver", "message_id"),
        code("receiver", "message_id", "verbose", required=("receiver",)),
        code("receiver", required=("receiver",), extra_keywords=True),
    ],
    ids=["equal", "documentation is stricter", "an undocumented default", "keywords are taken"],
)
def test_no_flaw(implementation: Signature) -> None:
    assert claims(implementation) == []


def test_a_broken_required_list_means_that_nothing_is_required() -> None:
    assert len(claims(code("receiver", "message_id", required=("receiver",)), required=None)) == 1


def test_without_code_nothing_is_checked() -> None:
    task = make_task()
    [row] = check_shard([task], {}, [ToolDocImplementation()]).coverage
    assert row.status is Status.NOT_CHECKED
    assert "agenthard fetch bfcl" in row.reason
