"""What goes wrong when instances are generated."""

from agenthard.taxonomy.errors import AgentHardError


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
