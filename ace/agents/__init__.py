"""Agents for ACE-Bench that need no model."""

from agenthard.ace.agents.episode import MAX_TURNS, Episode
from agenthard.ace.agents.noise import Noise
from agenthard.ace.agents.registry import BASES, LEADERBOARD, Agent, find
from agenthard.play.registry import UnknownAgentError

__all__ = [
    "BASES",
    "LEADERBOARD",
    "MAX_TURNS",
    "Agent",
    "Episode",
    "Noise",
    "UnknownAgentError",
    "find",
]
