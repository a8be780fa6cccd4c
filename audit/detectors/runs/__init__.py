"""Checks of recorded runs: what the harness, the tools, the simulator or the judge did, and not the agent."""

from agenthard.audit.detectors.runs.answer_in_feedback import AnswerInFeedback
from agenthard.audit.detectors.runs.crash_signature import CrashSignature
from agenthard.audit.detectors.runs.dead_attempt import DeadAttempt
from agenthard.audit.detectors.runs.infrastructure_error_scored import InfrastructureErrorScored
from agenthard.audit.detectors.runs.judge_sees_model import JudgeSeesModel
from agenthard.audit.detectors.runs.non_monotone_retry import NonMonotoneRetry
from agenthard.audit.detectors.runs.replayed_verdict import ReplayedVerdict
from agenthard.audit.detectors.runs.simulator_caused_failure import SimulatorCausedFailure
from agenthard.audit.detectors.runs.simulator_leak import SimulatorLeak
from agenthard.audit.detectors.runs.state_contradiction import StateContradiction
from agenthard.audit.detectors.runs.tool_response_contradiction import ToolResponseContradiction
from agenthard.audit.detectors.runs.verdict_without_evidence import VerdictWithoutEvidence

__all__ = [
    "DeadAttempt",
    "InfrastructureErrorScored",
    "VerdictWithoutEvidence",
    "NonMonotoneRetry",
    "CrashSignature",
    "SimulatorLeak",
    "SimulatorCausedFailure",
    "ToolResponseContradiction",
    "StateContradiction",
    "ReplayedVerdict",
    "AnswerInFeedback",
    "JudgeSeesModel",
]
