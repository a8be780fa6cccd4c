"""The page that mkdocs generates from the command line: the options of all commands."""

from collections.abc import Iterator
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from agenthard.flows.command_table import COMMANDS, load_command

EVERYWHERE = ("help", "quiet", "verbose", "log_level", "log_json")
"""Options that every command has."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated page."""
    files.append(File.generated(config, "reference/options.md", content=options_page()))
    return files


def options_page() -> str:
    """Write the arguments and options of every command, from its own help."""
    lines = ["# Options of all commands", "", "Generated from the command line itself."]
    for name, command in (pair for each in sorted(COMMANDS) for pair in _commands(load_command(each), each)):
        text = " ".join((command.help or "").split("\b")[0].split())
        lines += ["", f"## {name}", "", text, ""]
        rows = [(_name(each), _help(each)) for each in command.params if each.name not in EVERYWHERE]
        if rows:
            lines += ["| argument or option | meaning |", "|---|---|"]
            lines += [f"| `{option}` | {text.replace('|', chr(92) + '|')} |" for option, text in rows]
    return "\n".join(lines) + "\n"


def _commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    for name, each in sorted(getattr(command, "commands", {}).items()):
        yield from _commands(each, f"{path} {name}")
    if not hasattr(command, "commands"):
        yield path, command


def _name(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return (parameter.name or "").upper()
    return ", ".join(parameter.opts)


def _help(parameter: Any) -> str:
    return " ".join((getattr(parameter, "help", None) or "").split())
