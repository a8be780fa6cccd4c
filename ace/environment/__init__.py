"""The environment of ACE-Bench: the tools an agent calls, the grid they change, and what an episode came to."""

from ace.environment.budgets import Budgets
from ace.environment.environment import Environment, ToolAnswer
from ace.environment.mode import Mode
from ace.environment.playable import Unplayable
from ace.environment.result import Ending, Result
from ace.environment.tools import Kind, Parameter, Tool, declare

__all__ = [
    "ToolAnswer",
    "Budgets",
    "Ending",
    "Environment",
    "Kind",
    "Mode",
    "Parameter",
    "Result",
    "Tool",
    "Unplayable",
    "declare",
]
