"""Signals from the model-by-task matrix; they order the review queue and never drop a task."""

from audit.detectors.responses.all_fail import AllFail
from audit.detectors.responses.all_pass import AllPass
from audit.detectors.responses.consensus_against_gold import ConsensusAgainstGold
from audit.detectors.responses.few_pass import FewPass
from audit.detectors.responses.flaky_trials import FlakyTrials
from audit.detectors.responses.negative_discrimination import NegativeDiscrimination

__all__ = ["AllFail", "FewPass", "AllPass", "NegativeDiscrimination", "ConsensusAgainstGold", "FlakyTrials"]
