"""Judges of what a task left: rules that programs decide, and panels of models that read or see."""

from agenthard.agency.judges.blind import Blinder, BlindnessError
from agenthard.agency.judges.exhibit import Exhibit
from agenthard.agency.judges.grades import CriterionGrade, Grade
from agenthard.agency.judges.panel import Panel, PanelGrade, judge, panel_agreement
from agenthard.agency.judges.probe import Probe, ProbeError
from agenthard.agency.judges.rule import Check, Outcome, grade, metric_share

__all__ = [
    "Blinder",
    "BlindnessError",
    "Check",
    "CriterionGrade",
    "Exhibit",
    "Grade",
    "Outcome",
    "Panel",
    "PanelGrade",
    "Probe",
    "ProbeError",
    "grade",
    "judge",
    "metric_share",
    "panel_agreement",
]
