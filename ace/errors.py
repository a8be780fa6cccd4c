"""What goes wrong with instances: they cannot be read, or cannot be generated."""

from dataclasses import dataclass

from agenthard.taxonomy.errors import AgentHardError


class MalformedInstanceError(AgentHardError, ValueError):
    """Text that is not in the layout it should be in; the message says where and what is wrong."""

    code = "AH610"
    remedy = "Correct the file at the place that the message names, or generate it again."


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An instance that could not be read."""

    index: int
    """Its position in the file's list, from 0."""
    id: str | None
    """Its id, where it has one."""
    reason: str
    """Where it departs from the layout, and how."""
    part: str = ""
    """In a format that spreads an instance over several files, the one it is about: "puzzles" or "answers"."""


class ImpossibleParametersError(AgentHardError):
    """No instance with these parameters can exist; said before any work is done."""

    code = "AH607"
    remedy = "Change the parameters as the message says; nothing was written."


class UnmetConditionError(AgentHardError):
    """One attempt missed a condition; the generator tries again."""

    code = "AH608"
    remedy = "Nothing: the generator tries again with other draws."

    def __init__(self, condition: str, detail: str) -> None:
        """Names the condition.

        Args:
            condition: Its name, the same for every miss.
            detail: What happened this time.
        """
        super().__init__(f"{condition}: {detail}")
        self.condition = condition
        self.detail = detail


class GenerationError(AgentHardError, RuntimeError):
    """Every attempt missed a condition; the message says which, how often, and what to change."""

    code = "AH609"
    remedy = "Change the parameter that the message names, or the seed; finished instances are kept."
