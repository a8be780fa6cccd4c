"""The base of all exceptions that AgentHard raises.

Each kind has a stable code. The hundreds say which part raises it:
AH0 records and files, AH1 sources, AH2 checks, decisions and repairs, AH3 execution, AH4 judges, AH5 models,
AH6 ACE-Bench, AH7 statistics and reports, AH8 commands.
"""

from typing import ClassVar


class AgentHardError(Exception):
    """Anything AgentHard cannot do; the message says what, where, why, and what to do."""

    code: ClassVar[str] = "AH000"
    """Stable code of the kind; ``agenthard explain CODE`` documents it."""
    remedy: ClassVar[str] = "Read the message: it names the item, the reason and the next command."
    """What a reader can do about it."""


class MissingExtraError(AgentHardError, ImportError):
    """A feature needs a package that only an extra installs; the message names the command that installs it."""

    code = "AH001"
    remedy = "Install the extra with the command that the message names."

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs packages that are not installed; next: pip install 'agenthard[{extra}]'")
