"""Shortcut probes: ways of guessing an answer that has to be worked out, measured against chance.

The battery works on any benchmark that offers candidates. ``read_scene`` reads what a task states,
``run_battery`` measures, ``render`` writes the result for people.
"""

from agenthard.audit.probes.battery import run_battery
from agenthard.audit.probes.candidates import CandidatesError, CandidateSet, Rule, Scene, read_scene
from agenthard.audit.probes.report import GiveAway, LookAhead, ProbeReport, ProbeResult, render

__all__ = [
    "CandidateSet",
    "CandidatesError",
    "GiveAway",
    "LookAhead",
    "ProbeReport",
    "ProbeResult",
    "Rule",
    "Scene",
    "read_scene",
    "render",
    "run_battery",
]
