"""Arguments of a look-up: text of a model, which may be cut off, of the wrong kind, or no JSON at all."""

import json
from typing import Any, NoReturn

from agenthard.audit.detectors.support.schema import safe_validator
from agenthard.audit.judge.investigation.found import InvalidLookupError
from agenthard.models.request import Call, Tool

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
        raise InvalidLookupError(f"the arguments are no JSON object: {error}") from error
    if not isinstance(arguments, dict):
        raise InvalidLookupError(f"the arguments are no JSON object but {type(arguments).__name__}")
    if not _well_formed(json.dumps(arguments, ensure_ascii=False)):
        raise InvalidLookupError("the arguments hold half a character (a lone surrogate)")
    faults = sorted(safe_validator(tool.parameters).iter_errors(arguments), key=lambda fault: list(fault.path))
    if faults:
        raise InvalidLookupError("; ".join(fault.message[:200] for fault in faults[:3]))
    return arguments


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _well_formed(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
