"""The Berkeley Function Calling Leaderboard, versions 3 and 4, in its own layout."""

from agenthard.audit.sources.bfcl.source import BFCL

__all__ = ["BFCL"]
