"""Parts of a task record in the form that BFCL's checkers take: documentation, answers, calls."""

from typing import Any

from agenthard.audit.sources.formats.tool_docs import NATIVE_TYPE
from agenthard.taxonomy.accepted import ANY_OF, is_any_of, is_optional
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

LANGUAGES = {"python": "Python", "java": "Java", "javascript": "JavaScript"}
"""Names of languages as the checker knows them."""

_TYPES = {
    "python": {"object": "dict", "array": "array", "number": "float", "string": "string", "boolean": "boolean"},
    "java": {"object": "HashMap", "array": "ArrayList", "number": "double", "string": "String", "boolean": "boolean"},
    "javascript": {"object": "dict", "array": "array", "number": "float", "string": "String", "boolean": "Boolean"},
}
"""For each type of JSON Schema one of BFCL's; several that its checker treats alike share one (array and tuple)."""


def documentation(tool: ToolSpec) -> dict[str, Any]:
    """Return what the checker reads of a function's documentation: its name, types, and required parameters."""
    properties = tool.parameters.get("properties", {})
    return {
        "name": tool.name,
        "parameters": {
            "properties": {name: _documented(schema, tool.language) for name, schema in properties.items()},
            "required": tool.parameters.get("required", []),
        },
    }


def _documented(schema: dict[str, Any], language: str) -> dict[str, Any]:
    found = {"type": native_type(schema, language)}
    if isinstance(schema.get("items"), dict):
        found["items"] = {"type": native_type(schema["items"], language)}
    return found


def native_type(schema: dict[str, Any], language: str) -> Any:
    """Return BFCL's name of a type; no type means any."""
    if NATIVE_TYPE in schema:
        return schema[NATIVE_TYPE]
    return _TYPES[language].get(schema.get("type", ""), schema.get("type", "any"))


def answer(call: ToolCall) -> dict[str, Any]:
    """Return an accepted call of a ground truth as BFCL writes it: lists of values, "" for what may be left out."""
    return {call.name: {name: _accepted(value) for name, value in call.arguments.items()}}


def _accepted(value: Any) -> Any:
    if is_any_of(value):
        return [_accepted(item) for item in value[ANY_OF]] + ([""] if is_optional(value) else [])
    if isinstance(value, dict):
        return {key: _accepted(item) for key, item in value.items()}
    return [_accepted(item) for item in value] if isinstance(value, list) else value


def gold_texts(task: AgentTask) -> list[list[str]]:
    """Return the calls of a multi-turn ground truth as the benchmark writes them."""
    return [[call.text or python_call(call) for call in turn] for turn in task.ground_truth.turns]


def python_call(call: ToolCall) -> str:
    """Write a call as Python source; the source text counts only where it could not be read.

    >>> python_call(ToolCall(name="sort", arguments={"file_name": "a.txt", "reverse": True}, positional=1))
    "sort('a.txt', reverse=True)"
    """
    if not call.name and call.text is not None:
        return call.text
    values = [
        repr(value)
        if index < call.positional
        else f"{name}={value!r}"
        if name.isidentifier()
        else f"**{{{name!r}: {value!r}}}"
        for index, (name, value) in enumerate(call.arguments.items())
    ]
    return f"{call.name}({', '.join(values)})"


def written(value: Any, schema: dict[str, Any], language: str) -> Any:
    """Write the argument of a call; a Python value, and a text that is not a collection, is written unchanged.

    Args:
        value: the argument.
        schema: its JSON Schema.
        language: python, java or javascript.
    """
    if language == "python" or isinstance(value, str):
        return value
    if language == "javascript":
        return _javascript(value)
    kind = native_type(schema, language)
    if isinstance(value, list) and kind == "Array":
        return f"new Object[]{{{', '.join(map(_java, value))}}}"
    return _java(value)


def _java(value: Any) -> str:
    if isinstance(value, list):
        return (
            f"new ArrayList<>() {{{{ {' '.join(f'add({_java(item)});' for item in value)} }}}}"
            if value
            else "new ArrayList<>()"
        )
    if isinstance(value, dict):
        puts = " ".join(f'put("{key}", {_java(item)});' for key, item in value.items())
        return f"new HashMap<>() {{{{ {puts} }}}}"
    return _scalar(value)


def _javascript(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_javascript, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_javascript(item)}' for key, item in value.items())}}}"
    return _scalar(value)


def _scalar(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else f'"{value}"' if isinstance(value, str) else str(value)
