"""Exit codes, and how an error ends a command: one message with its code, never a traceback."""

from enum import IntEnum

from agenthard.models.errors import ModelError
from agenthard.taxonomy.errors import AgentHardError


class ExitCode(IntEnum):
    """What a command's exit code says."""

    CLEAN = 0
    """Everything was checked and nothing new is confirmed to be flawed."""
    DEFECTS = 1
    """There are new confirmed defects."""
    INCOMPLETE = 2
    """Some task could not be read, or some check ended in an error."""
    INFRASTRUCTURE = 3
    """The command could not do its work: a path, a file, a network."""


class CommandError(AgentHardError):
    """A command cannot continue; the message says why and what to do next."""

    code = "AH801"
    remedy = "Do what the message says; finished work is kept."


class UsageError(AgentHardError, ValueError):
    """A call in Python that cannot be carried out as it was made; the message says what to do instead."""

    code = "AH810"
    remedy = "Do what the message says."


class RunFolderError(AgentHardError):
    """The folder cannot be used for this run; the message says what to do."""

    code = "AH802"
    remedy = "Wait for the other process, give another folder with `--out`, or delete the folder."


EXPECTED = (AgentHardError, OSError)
"""Errors that a command explains; any other one is a defect of AgentHard."""
FATAL = (CommandError, RunFolderError, ModelError, OSError)
"""Errors that end a run of many questions or episodes; others belong to one of them."""


def error_message(error: BaseException) -> str:
    """Turn an error into one message: ``error AH101: …``, or ``error: …`` where the system refused something."""
    if isinstance(error, AgentHardError):
        return f"error {error.code}: {_reason(error)}"
    if isinstance(error, OSError):
        return f"error: {_reason(error)}"
    return (
        f"error: unexpected {type(error).__name__}: {error}. This is a defect of AgentHard; finished work is kept. "
        "Set AGENTHARD_DEBUG=1 to see where it happened"
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename:
        return f"{error.strerror or error}: {error.filename}"
    return str(error)
