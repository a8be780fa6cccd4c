"""Judges of what a task left: rules that programs decide."""

from agenthard.agency.judges.probe import Probe, ProbeError
from agenthard.agency.judges.rule import Check, Grade, Outcome, grade, metric_share

__all__ = ["Check", "Grade", "Outcome", "Probe", "ProbeError", "grade", "metric_share"]
