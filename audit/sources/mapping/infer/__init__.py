"""Proposing a mapping for files of an unknown benchmark."""

from agenthard.audit.sources.mapping.infer.proposal import Proposal
from agenthard.audit.sources.mapping.infer.propose import infer

__all__ = ["Proposal", "infer"]
