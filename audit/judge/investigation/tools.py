"""The tools of an investigating judge, and the validation of the arguments that a model sends to them."""

import json
from typing import Any, NoReturn

from agenthard.audit.detectors.support.schema import safe_validator
from agenthard.audit.judge.investigation.calls import why_no_replay, why_no_trial
from agenthard.audit.judge.investigation.lookups import states
from agenthard.audit.judge.investigation.results import InvalidLookupError
from agenthard.models.request import Call, Tool
from agenthard.taxonomy.task import AgentTask

_TEXT = {"type": "string", "minLength": 1, "maxLength": 500}
_OFFSET = {"type": "integer", "minimum": 0, "description": "Entries to pass over, to see more of a long list."}
_NAME = {"type": "string", "description": "Name of the agent's tool."}
_ARGUMENTS = {"type": "object", "description": "Arguments of the call."}
_NUMBER = {"type": "integer", "minimum": 1}


def _tool(name: str, description: str, required: tuple[str, ...] = (), /, **properties: dict[str, Any]) -> Tool:
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return Tool(name=name, description=description, parameters=schema)


LOOK_UP = _tool(
    "look_up",
    "Read a place of the task: a record, a table, a text. Without `at` it lists what the state holds.",
    at={
        "type": "string",
        "description": (
            "A label of the material, or a JSON Pointer like it (/environment/state/users/u1), a path below the state "
            "(users/u1), or the id of one record (u1)."
        ),
    },
    where={
        "type": "object",
        "description": (
            'Of a table only the members with these values, such as {"status": "pending"}; "/" leads into a member: '
            '{"address/zip": "10001"}.'
        ),
    },
    offset=_OFFSET,
)
SEARCH_STATE = _tool(
    "search_state",
    "Find a text in all values and keys of the state, whatever its case; the hits come with their places.",
    ("text",),
    text=_TEXT,
    offset=_OFFSET,
)
SEARCH_POLICY = _tool(
    "search_policy",
    "Find the paragraphs of the policy, of what the user says or is told, and of the tools' documentation that hold "
    "these words.",
    ("text",),
    text=_TEXT,
)
REPLAY_GOLD = _tool(
    "replay_gold",
    "Replay the ground truth in the benchmark's environment: what its calls return, or what they change.",
    first=_NUMBER | {"description": "Number of the first call shown, from 1."},
    last=_NUMBER | {"description": "Number of the last call carried out; all when left out."},
    show={
        "type": "string",
        "enum": ["responses", "state"],
        "description": "What the calls return, or what they change.",
    },
)
TRY_CALL = _tool(
    "try_call",
    "Carry out one call of the agent's tools in the benchmark's environment, after the first calls of the ground "
    "truth, and see what it returns and changes. Nothing of it lasts.",
    ("name", "arguments"),
    name=_NAME,
    arguments=_ARGUMENTS,
    after={"type": "integer", "minimum": 0, "description": "Calls of the ground truth that go before it; 0 for none."},
)
VALIDATE_CALL = _tool(
    "validate_call",
    "Check a call against the documentation of the agent's tools: names, required arguments, types, choices, bounds.",
    ("name", "arguments"),
    name=_NAME,
    arguments=_ARGUMENTS,
)


def tools_for(task: AgentTask) -> tuple[Tool, ...]:
    """Return the tools that can find out anything about a task."""
    offered = [LOOK_UP, SEARCH_POLICY]
    if states(task):
        offered.append(SEARCH_STATE)
    if task.environment.tools:
        offered.append(VALIDATE_CALL)
    if why_no_replay(task) is None:
        offered.append(REPLAY_GOLD)
    if task.environment.tools and why_no_trial(task) is None:
        offered.append(TRY_CALL)
    return tuple(offered)


LONGEST = 20_000
"""Characters that arguments may have."""


def read_arguments(call: Call, tool: Tool) -> dict[str, Any]:
    """Read the arguments of a call.

    Args:
        call: As the model wrote it.
        tool: What it calls.

    Raises:
        InvalidLookupError: They are not what the tool takes.
    """
    if len(call.arguments) > LONGEST:
        raise InvalidLookupError(f"the arguments have {len(call.arguments):,} characters; {LONGEST:,} are the most")
    try:
        arguments = json.loads(call.arguments or "{}", parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise InvalidLookupError(f"the arguments are not a JSON object: {error}") from error
    if not isinstance(arguments, dict):
        raise InvalidLookupError(f"the arguments are not a JSON object but {type(arguments).__name__}")
    if not _well_formed(json.dumps(arguments, ensure_ascii=False)):
        raise InvalidLookupError("the arguments hold half a character (a lone surrogate)")
    faults = sorted(safe_validator(tool.parameters).iter_errors(arguments), key=lambda fault: list(fault.path))
    if faults:
        raise InvalidLookupError("; ".join(fault.message[:200] for fault in faults[:3]))
    return arguments


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not valid JSON")


def _well_formed(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
