"""Tool calls that a model writes into its text, for models that their server gives no calls of their own.

Two forms are read, either between ``<tool_call>`` tags: a JSON object with name and arguments, and the tags
``<function=NAME><parameter=KEY>``. Drafts in a model's thinking are not calls: text before ``</think>`` is skipped.
"""

import json
import re
from typing import Any

from agenthard.models.request import Call

_THOUGHTS = re.compile(r".*</think>", re.DOTALL)
_CALL = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_FUNCTION = re.compile(r"\s*<function=([^>]+)>(.*?)(?:</function>\s*)?\Z", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([^>]+)>\n?(.*?)\n?(?:</parameter>|\Z)", re.DOTALL)


def text_calls(text: str, first: int) -> tuple[Call, ...]:
    """Reads the tool calls in a text.

    Args:
        text: What the model said, without its thoughts where the server tells them apart.
        first: Number that goes into the id of the first call, so that ids differ within an episode.

    Returns:
        The calls in order. What cannot be read becomes a call without a name, whose arguments are the text as written.
    """
    said = _THOUGHTS.sub("", text)
    return tuple(_call(f"text_{first + number}", body) for number, body in enumerate(_CALL.findall(said)))


def _call(id: str, body: str) -> Call:
    if tagged := _FUNCTION.match(body):
        name, inside = tagged.groups()
        values = {key.strip(): _value(text) for key, text in _PARAMETER.findall(inside)}
        return Call(id=id, name=name.strip(), arguments=json.dumps(values))
    try:
        written = json.loads(body)
        arguments = written.get("arguments", {})
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        return Call(id=id, name=str(written["name"]), arguments=text)
    except (ValueError, KeyError, AttributeError, RecursionError):
        return Call(id=id, name="", arguments=body)


def _value(text: str) -> Any:
    """A value as JSON where it is some, else the text itself."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
