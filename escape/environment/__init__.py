"""The environment of a room: five calls, what they show, how they fail, and what an episode came to."""

from agenthard.escape.environment.conditions import Conditions, Execution, Feedback, budget_for
from agenthard.escape.environment.environment import Environment

__all__ = ["Conditions", "Environment", "Execution", "Feedback", "budget_for"]
