"""Agents for ACE-Bench: those without a model, and the loop that lets a model play."""

from ace.agents.episode import MAX_TURNS, Episode
from ace.agents.llm import LlmSettings, play, trial_seed
from ace.agents.noise import Noise
from ace.agents.registry import BASES, LEADERBOARD, Agent, UnknownAgent, find

__all__ = [
    "BASES",
    "LEADERBOARD",
    "MAX_TURNS",
    "Agent",
    "Episode",
    "LlmSettings",
    "Noise",
    "UnknownAgent",
    "find",
    "play",
    "trial_seed",
]
