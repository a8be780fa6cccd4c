"""Agents for ACE-Bench: those without a model, and the loop that lets a model play."""

from agenthard.ace.agents.episode import MAX_TURNS, Episode
from agenthard.ace.agents.llm import LlmSettings, play, trial_seed
from agenthard.ace.agents.noise import Noise
from agenthard.ace.agents.registry import BASES, LEADERBOARD, Agent, UnknownAgentError, find

__all__ = [
    "BASES",
    "LEADERBOARD",
    "MAX_TURNS",
    "Agent",
    "Episode",
    "LlmSettings",
    "Noise",
    "UnknownAgentError",
    "find",
    "play",
    "trial_seed",
]
