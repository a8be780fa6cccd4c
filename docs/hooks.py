"""Pages that mkdocs generates from the code: options of all commands, and error codes."""

from collections.abc import Iterator

import click
import typer.main
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from agenthard.errors import BY_CODE
from agenthard.flows.cli import app

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
    lines = ["# Error codes", "", "Every exception derives from `ah.errors.AgentHardError` and has a stable `code`."]
    for prefix, part in PARTS.items():
        lines += ["", f"## {prefix}: {part}", "", "| code | exception | meaning | remedy |", "|---|---|---|---|"]
        for code, kind in sorted(BY_CODE.items()):
            if code.startswith(prefix):
                meaning = " ".join((kind.__doc__ or "").split())
                lines.append(f"| {code} | `{kind.__name__}` | {meaning} | {kind.remedy} |")
    return "\n".join(lines) + "\n"
