"""The environment of ACE-Bench: the tools an agent calls, the grid they change, and what an episode came to."""

from agenthard.ace.environment.budgets import Budgets
from agenthard.ace.environment.conditions import Conditions
from agenthard.ace.environment.environment import Environment, ToolAnswer
from agenthard.ace.environment.mode import Mode
from agenthard.ace.environment.playable import UnplayableError
from agenthard.ace.environment.result import Result
from agenthard.ace.environment.tools import Kind, Parameter, Tool, declare
from agenthard.play.ending import Ending

__all__ = [
    "ToolAnswer",
    "Budgets",
    "Conditions",
    "Ending",
    "Environment",
    "Kind",
    "Mode",
    "Parameter",
    "Result",
    "Tool",
    "UnplayableError",
    "declare",
]
