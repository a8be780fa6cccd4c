"""The shell: commands that run in the workspace, without any network."""

from typing import Any

from agenthard.agency.tools.tool import Desk, Output, ToolFunction, path_below, text, tool
from agenthard.containment import CommandResult

SHELL = "/bin/sh"
KILLED = {
    "timeout": "the command took longer than it may",
    "output": "the command wrote more output than it may",
    "folder": "the workspace holds more than it may: remove files",
}


def _run_shell_command(desk: Desk, given: dict[str, Any]) -> Output:
    folder = path_below(given.get("directory", "."))
    command = [SHELL, "-c", given["command"]]
    if folder:
        command = [SHELL, "-c", 'cd -- "$1" && exec "$2" -c "$3"', SHELL, folder, SHELL, given["command"]]
    job, changed = desk.workspace.run(command, desk.seconds)
    return Output(spoken(job), None if job.ending == "exit" else "killed", job.exit_code, changed)


def spoken(done: CommandResult) -> str:
    """Say what a command did, as an agent reads it."""
    head = f"exit code: {done.exit_code}" if done.ending == "exit" else f"killed: {KILLED[done.ending]}"
    parts = [head]
    parts += [f"stdout:\n{done.stdout}"] if done.stdout else []
    parts += [f"stderr:\n{done.stderr}"] if done.stderr else []
    return "\n".join(parts)


SHELLS = (
    ToolFunction(
        tool(
            "run_shell_command",
            "Run a command with sh in the workspace. Nothing that it starts outlives it; the network is off.",
            ("command",),
            command=text("The command"),
            description=text("What it is for"),
            directory=text("Folder below the workspace in which it runs"),
        ),
        "shell",
        _run_shell_command,
        changes=True,
    ),
)
"""The tools of this group."""
