"""Pages that mkdocs generates from the code: options of all commands, and error codes."""

import ast
from collections.abc import Iterator
from pathlib import Path

import click
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from agenthard.flows.cli import app

ROOT = Path(__file__).parents[1]
PACKAGES = ("agenthard", "ace", "audit", "flows", "models", "reports", "taxonomy")
PARTS = {
    "AH0": "records and files",
    "AH1": "sources",
    "AH2": "checks, decisions and repairs",
    "AH3": "execution",
    "AH4": "judges",
    "AH5": "models",
    "AH6": "ACE-Bench",
    "AH7": "statistics and reports",
    "AH8": "commands",
}
"""Which part raises the errors of a hundred."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for name, content in (("options", options_page()), ("errors", errors_page())):
        files.append(File.generated(config, f"reference/{name}.md", content=content))
    return files


def options_page() -> str:
    """Write the arguments and options of every command, from its own help."""
    lines = ["# Options of all commands", "", "Generated from the command line itself."]
    for name, command in _commands(typer.main.get_command(app), ""):
        text = " ".join((command.help or "").split("Example:")[0].split())
        lines += ["", f"## {name}", "", text, ""]
        rows = [(_name(each), _help(each)) for each in command.params if each.name != "help"]
        if rows:
            lines += ["| argument or option | meaning |", "|---|---|"]
            lines += [f"| `{option}` | {text.replace('|', chr(92) + '|')} |" for option, text in rows]
    return "\n".join(lines) + "\n"


def _commands(command: click.Command, path: str) -> Iterator[tuple[str, click.Command]]:
    if isinstance(command, click.Group):
        for name, each in sorted(command.commands.items()):
            yield from _commands(each, f"{path} {name}".strip())
    else:
        yield path, command


def _name(parameter: click.Parameter) -> str:
    if isinstance(parameter, click.Argument):
        return (parameter.name or "").upper()
    return ", ".join(parameter.opts)


def _help(parameter: click.Parameter) -> str:
    return " ".join((getattr(parameter, "help", None) or "").split())


def errors_page() -> str:
    """Write every error code with what it means, from the classes themselves."""
    lines = ["# Error codes", "", "Every exception derives from `agenthard.errors.AgentHardError` and has a stable `code`."]
    found = sorted(_errors())
    for prefix, part in PARTS.items():
        rows = [each for each in found if each[0].startswith(prefix)]
        lines += ["", f"## {prefix}: {part}", "", "| code | exception | meaning |", "|---|---|---|"]
        lines += [f"| {code} | `{name}` | {' '.join(doc.split())} |" for code, name, doc in rows]
    return "\n".join(lines) + "\n"


def _errors() -> Iterator[tuple[str, str, str]]:
    """Yield code, name and docstring of every exception. Files are parsed, since importing some of them runs them."""
    for path in sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                for code in filter(None, map(_code, node.body)):
                    yield code, node.name, ast.get_docstring(node) or ""


def _code(statement: ast.stmt) -> str | None:
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
        name, value = statement.targets[0], statement.value.value
        if isinstance(name, ast.Name) and name.id == "code" and str(value).startswith("AH"):
            return str(value)
    return None
