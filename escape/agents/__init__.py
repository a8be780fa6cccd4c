"""Agents for escape rooms that need no model."""

from agenthard.escape.agents.registry import BASES, LEADERBOARD, Agent, find

__all__ = ["BASES", "LEADERBOARD", "Agent", "find"]
