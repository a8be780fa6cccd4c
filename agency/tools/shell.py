"""The shell: commands that run as a job, without any network."""

from typing import Any

from agenthard.agency.tools.tool import Desk, Output, ToolFunction, path_below, text, tool
from agenthard.containment import JobResult

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


def spoken(job: JobResult) -> str:
    """Say what a job did, as an agent reads it."""
    head = f"exit code: {job.exit_code}" if job.ending == "exit" else f"killed: {KILLED[job.ending]}"
    parts = [head]
    parts += [f"stdout:\n{job.stdout}"] if job.stdout else []
    parts += [f"stderr:\n{job.stderr}"] if job.stderr else []
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
