"""Signals from the model-by-task matrix; they order the review queue and never drop a task."""

from agenthard.audit.detectors.responses.all_fail import AllFail
from agenthard.audit.detectors.responses.all_pass import AllPass
from agenthard.audit.detectors.responses.consensus_against_gold import ConsensusAgainstGold
from agenthard.audit.detectors.responses.few_pass import FewPass
from agenthard.audit.detectors.responses.flaky_trials import FlakyTrials
from agenthard.audit.detectors.responses.negative_discrimination import NegativeDiscrimination
from agenthard.audit.detectors.responses.same_missing_text import SameMissingText
from agenthard.audit.detectors.responses.same_wrong_value import SameWrongValue

__all__ = [
    "AllFail",
    "FewPass",
    "AllPass",
    "NegativeDiscrimination",
    "ConsensusAgainstGold",
    "SameWrongValue",
    "FlakyTrials",
    "SameMissingText",
]
