"""Proofs: an instance's claims are checked, and its solution shown to be the only one by an exact search."""

from ace.proof.certificate import digest
from ace.proof.search import Found, search
from ace.proof.stages import stages
from ace.proof.verify import Problem, Report, certified, verify

__all__ = ["Found", "Problem", "Report", "certified", "digest", "search", "stages", "verify"]
