"""ACE-Bench instances as sets of candidates, for the shortcut probes of ``agenthard.audit.probes``."""

from agenthard.ace.probes.candidates import candidates_of
from agenthard.ace.probes.look_ahead import look_ahead

__all__ = ["candidates_of", "look_ahead"]
