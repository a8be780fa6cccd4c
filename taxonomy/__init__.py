"""What an agent task is made of and what can be wrong with it: records, and categories as data."""

from agenthard.taxonomy.finding import Coverage, Evidence, Finding, Level, Proof, Severity, Status, Tier, finding_id
from agenthard.taxonomy.record import Origin, Record
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    Signature,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from agenthard.taxonomy.trajectory import Judgement, RunStatus, Trajectory

__all__ = [
    "AgentTask",
    "Check",
    "Coverage",
    "EnvironmentSpec",
    "EvaluationSpec",
    "Evidence",
    "Finding",
    "GroundTruth",
    "Judgement",
    "Level",
    "Message",
    "Origin",
    "Proof",
    "Record",
    "RunStatus",
    "Severity",
    "Signature",
    "Status",
    "Tier",
    "ToolCall",
    "ToolSpec",
    "Trajectory",
    "UserSpec",
    "finding_id",
]
