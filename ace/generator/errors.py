"""Why an instance could not be made."""


class ImpossibleParameters(Exception):
    """No instance with these parameters can exist; said before any work is done."""


class Unmet(Exception):
    """One attempt missed a condition, which the message names; the generator tries again."""


class GenerationFailed(RuntimeError):
    """Every attempt missed a condition; the message says which, how often, and what to change."""
