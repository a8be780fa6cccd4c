"""Exit codes, and how an error ends a command: one message with its code, never a traceback."""

from enum import IntEnum

from agenthard.models.errors import ModelError
from agenthard.taxonomy.errors import AgentHardError


class ExitCode(IntEnum):
    """What a command's exit code says; `EXIT_CODES` has the words."""

    CLEAN = 0
    DEFECTS = 1
    INCOMPLETE = 2
    INFRASTRUCTURE = 3
    USAGE = 64


EXIT_CODES = {
    ExitCode.CLEAN: "clean: everything was checked and nothing new is confirmed to be flawed",
    ExitCode.DEFECTS: "there is something to look at: new confirmed defects, findings that match",
    ExitCode.INCOMPLETE: "incomplete: a record could not be read, or a check ended in an error",
    ExitCode.INFRASTRUCTURE: "infrastructure: a disk, the network, a model, an interruption, a defect of AgentHard",
    ExitCode.USAGE: "usage: the call has to change, or a file that it names",
}
"""What the exit codes mean."""


class CommandError(AgentHardError):
    """A command cannot be carried out as it was given; the message says why and what to do next."""

    code = "AH801"
    remedy = "Do what the message says; finished work is kept."


class InfrastructureError(CommandError):
    """A command ended before its work was done: it was interrupted, a model stopped, code cannot be executed here."""

    code = "AH805"
    remedy = "Remove the cause that the message names, and run the same command again; finished work is kept."


class UsageError(AgentHardError, ValueError):
    """A call in Python that cannot be carried out as it was made; the message says what to do instead."""

    code = "AH810"
    remedy = "Do what the message says."


class RunFolderError(AgentHardError):
    """The folder cannot be used for this run; the message says what to do."""

    code = "AH802"
    remedy = "Give another folder with `--out`, or delete the folder."


class FolderInUseError(RunFolderError):
    """Another process is working in the folder."""

    code = "AH806"
    remedy = "Wait until the other process has ended, or give another folder with `--out`."


_OF_THE_CALL = frozenset(
    {
        *("AH001", "AH002", "AH003", "AH004", "AH005"),
        *("AH101", "AH103", "AH104", "AH106", "AH107", "AH108"),
        *("AH201", "AH203", "AH205", "AH206", "AH207", "AH401", "AH501", "AH502"),
        *("AH603", "AH604", "AH607", "AH610", "AH645", "AH646", "AH647", "AH648"),
        *("AH701", "AH702", "AH703", "AH704", "AH705", "AH706", "AH707", "AH708", "AH709", "AH715"),
        *("AH801", "AH802", "AH807", "AH810", "AH811", "AH812", "AH813"),
    }
)
"""Codes of errors after which the call has to change, or a file that it names."""


EXPECTED = (AgentHardError, OSError)
"""Errors that a command explains; any other one is a defect of AgentHard."""
FATAL = (CommandError, RunFolderError, ModelError, OSError)
"""Errors that end a run of many questions or episodes; others belong to one of them."""


def exit_code(error: type[BaseException]) -> ExitCode:
    """Return the exit code of a command that an error of this class ends."""
    of_the_call = getattr(error, "code", None) in _OF_THE_CALL
    return ExitCode.USAGE if of_the_call else ExitCode.INFRASTRUCTURE


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
