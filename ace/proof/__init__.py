"""Proofs: an instance's claims are checked, and its solution shown to be the only one by an exact search."""

from agenthard.ace.proof.certificate import digest
from agenthard.ace.proof.search import Found, search
from agenthard.ace.proof.stages import stages
from agenthard.ace.proof.verify import Problem, Report, certified, verify

__all__ = ["Found", "Problem", "Report", "certified", "digest", "search", "stages", "verify"]
