"""Checks of recorded runs: what the harness, the tools, the simulator or the judge did, and not the agent."""

from audit.detectors.runs.answer_in_feedback import AnswerInFeedback
from audit.detectors.runs.crash_signature import CrashSignature
from audit.detectors.runs.dead_attempt import DeadAttempt
from audit.detectors.runs.infrastructure_error_scored import InfrastructureErrorScored
from audit.detectors.runs.non_monotone_retry import NonMonotoneRetry
from audit.detectors.runs.replayed_verdict import ReplayedVerdict
from audit.detectors.runs.simulator_caused_failure import SimulatorCausedFailure
from audit.detectors.runs.simulator_leak import SimulatorLeak
from audit.detectors.runs.state_contradiction import StateContradiction
from audit.detectors.runs.tool_response_contradiction import ToolResponseContradiction
from audit.detectors.runs.verdict_without_evidence import VerdictWithoutEvidence

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
]
