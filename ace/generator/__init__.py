"""The generator: instances with a proved unique solution, and nothing but the rules to find it by."""

from agenthard.ace.errors import GenerationError, ImpossibleParametersError
from agenthard.ace.generator.making import generator_of, make
from agenthard.ace.generator.parameters import Cell, Parameters
from agenthard.ace.generator.stream import generate

__all__ = ["Cell", "GenerationError", "ImpossibleParametersError", "Parameters", "generate", "generator_of", "make"]
