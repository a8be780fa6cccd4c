"""Values as Java or JavaScript source text: what BFCL's checker of these languages expects of a run.

The checker reads a text back by regular expressions, so a text inside a collection that contains a comma, a bracket or
a quotation mark may come back as another value. That is a property of the checker, not of the value.
"""

from typing import Any

from agenthard.audit.execution.bfcl.native import native_type


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
