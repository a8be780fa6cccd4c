"""The tasks that Inspect knows by name: ``inspect eval agenthard/ace_bench -T path=FILE``."""

from agenthard.ace.inspect_task import ace_bench
from agenthard.escape.inspect_task import escape_rooms

__all__ = ["ace_bench", "escape_rooms"]
