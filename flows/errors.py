"""Exit codes, and the errors that end a command with one clear message."""

from enum import IntEnum

from agenthard.audit.decisions.policy import PolicyError
from agenthard.audit.execution.environment import UnavailableError
from agenthard.audit.sources.base import SourceError
from agenthard.flows.run_folder import RunFolderError
from agenthard.models.errors import ModelError
from agenthard.taxonomy.categories import TaxonomyError
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
    """A command cannot go on; the message says why and what to do next."""

    code = "AH801"


EXPECTED = (
    CommandError,
    SourceError,
    PolicyError,
    TaxonomyError,
    RunFolderError,
    ModelError,
    UnavailableError,
    OSError,
)


def error_message(error: BaseException) -> str:
    """Turn an error into one message."""
    if not isinstance(error, EXPECTED):
        return (
            f"unexpected {type(error).__name__}: {error}. This is a defect of AgentHard; what is finished is kept. "
            "Set AGENTHARD_DEBUG=1 to see where it happened"
        )
    if isinstance(error, OSError) and not isinstance(error, (SourceError, RunFolderError)):
        return f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
    return str(error)
