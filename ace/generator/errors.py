"""Why an instance could not be made."""


class ImpossibleParameters(Exception):
    """No instance with these parameters can exist; said before any work is done."""


class Unmet(Exception):
    """One attempt missed a condition; the generator tries again."""

    def __init__(self, condition: str, detail: str) -> None:
        """Names the condition.

        Args:
            condition: Its name, the same for every miss.
            detail: What happened this time.
        """
        super().__init__(f"{condition}: {detail}")
        self.condition = condition
        self.detail = detail


class GenerationFailed(RuntimeError):
    """Every attempt missed a condition; the message says which, how often, and what to change."""
