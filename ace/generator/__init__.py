"""The generator: instances with a proved unique solution, and nothing but the rules to find it by."""

from ace.generator.errors import GenerationFailed, ImpossibleParameters
from ace.generator.making import GENERATOR, make
from ace.generator.parameters import Cell, Parameters
from ace.generator.stream import generate

__all__ = ["GENERATOR", "Cell", "GenerationFailed", "ImpossibleParameters", "Parameters", "generate", "make"]
