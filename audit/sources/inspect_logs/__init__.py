"""Logs of Inspect (extra ``inspect``): their samples as tasks, and what the models did as runs."""

from agenthard.audit.sources.inspect_logs.source import InspectLogs

__all__ = ["InspectLogs"]
