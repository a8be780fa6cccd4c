"""Domains of τ²-bench whose agent searches a knowledge base: they have prompts instead of a policy, and documents.

The benchmark composes the prompt in code (``retrieval.py``): a *variant* names a template of ``prompts/``, and its
tools search the documents in one way or another. The variant that runs by default is read; the code is parsed and never
imported.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agenthard.audit.sources.tau.python_source import parse_source
from agenthard.audit.sources.tau.records import UnreadableDomainError
from agenthard.audit.sources.tau.tool_files import load_json

PROMPTS, DOCUMENTS = "prompts", "documents"
RETRIEVAL, MIXINS = "retrieval.py", "retrieval_mixins.py"
DEFAULT, VARIANTS = "DEFAULT_RETRIEVAL_VARIANT", "RETRIEVAL_VARIANTS"
"""Names in ``retrieval.py`` of the variant that runs by default, and of the table of all variants."""
SET_BY_CODE = "(The benchmark's code says here with which embedding model the dense search works.)"
"""Written in place of a part of a template that the code fills with its own sentence."""
_COMPONENT = re.compile(r"\{\{component:(\w+)\}\}")
_PLACE = re.compile(r"\{\{\w+\}\}")


def default_template(code: Path, name: str) -> str:
    """Return the file name of the prompt template that the benchmark uses by default.

    Args:
        code: ``retrieval.py``.
        name: its name in messages.

    Raises:
        UnreadableDomainError: when the file cannot be read, or does not define it.
    """
    tree, _ = parse_source(code, name)
    values = dict(_assigned(tree))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    default, table = values.get(DEFAULT), values.get(VARIANTS)
    variant = default.value if isinstance(default, ast.Constant) else None
    for key, value in zip(table.keys, table.values, strict=True) if isinstance(table, ast.Dict) else ():
        if isinstance(key, ast.Constant) and key.value == variant and isinstance(value, ast.Call):
            maker = functions.get(value.func.id) if isinstance(value.func, ast.Name) else None
            template = next((text for node in (value, maker) if node for text in _templates(node)), None)
            if template is not None:
                return template
    expected = f"{DEFAULT} and, in {VARIANTS}, a prompt template of that name"
    raise UnreadableDomainError(name, f"cannot tell which prompt the benchmark uses by default; expected {expected}")


def _assigned(tree: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield what is assigned to names at the top of a module."""
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.expr):
            yield target.id, value


def _templates(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value.endswith(".md"):
            yield part.value


def prompt_files(folder: Path, template: str) -> list[Path]:
    """List a template of a domain and those of its components that exist."""
    path = folder / PROMPTS / template
    named = _COMPONENT.findall(path.read_text(encoding="utf-8")) if path.is_file() else []
    parts = [folder / PROMPTS / "components" / f"{component}.md" for component in dict.fromkeys(named)]
    return [file for file in (path, *parts) if file.is_file()]


def compose_prompt(folder: Path, template: str, name: str) -> str:
    """Compose a prompt: components in their places, and a note where the code writes a sentence.

    Args:
        folder: folder of the domain's data.
        template: file name of the template.
        name: name of the domain's folder in messages.

    Raises:
        UnreadableDomainError: when the template or a component is missing or not UTF-8.
    """

    def read(*parts: str) -> str:
        try:
            return folder.joinpath(PROMPTS, *parts).read_text(encoding="utf-8")
        except (OSError, ValueError) as error:
            raise UnreadableDomainError(
                f"{name}/{'/'.join((PROMPTS, *parts))}", f"cannot read the prompt: {error}"
            ) from error

    text = _COMPONENT.sub(lambda found: read("components", f"{found.group(1)}.md"), read(template))
    return _PLACE.sub(SET_BY_CODE, text)


def named_in(prompt: str, tool: str) -> bool:
    """Tell whether a prompt names a tool as code.

    >>> named_in("Use `shell`, as in `grep -r`.", "shell"), named_in("Use `shell`, as in `grep -r`.", "grep")
    (True, False)
    """
    return f"`{tool}`" in prompt


def document_files(folder: Path) -> list[Path]:
    """List the files of the knowledge base in order."""
    return sorted((folder / DOCUMENTS).glob("*.json"))


def read_documents(folder: Path, name: str) -> dict[str, dict[str, Any]]:
    """Read the knowledge base: title and content by the document's id.

    Raises:
        UnreadableDomainError: when a document is not JSON, or lacks its id or its content.
    """
    found = {}
    for path in document_files(folder):
        file = f"{name}/{DOCUMENTS}/{path.name}"
        value = load_json(path, file)
        if not isinstance(value, dict) or not {"id", "title", "content"} <= value.keys():
            raise UnreadableDomainError(file, "expected an object with id, title and content")
        found[str(value["id"])] = {"title": value["title"], "content": value["content"]}
    return found
