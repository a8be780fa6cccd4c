"""What goes wrong with instances: they cannot be read, or cannot be generated."""

from agenthard.audit.sources.formats.suite import MalformedInstanceError, Unreadable
from agenthard.play.errors import GenerationError, ImpossibleParametersError, UnmetConditionError

__all__ = [
    "GenerationError",
    "ImpossibleParametersError",
    "MalformedInstanceError",
    "UnmetConditionError",
    "Unreadable",
]
