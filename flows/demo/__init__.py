"""The benchmarks of ``agenthard demo``, with known flaws.

A library desk and a parcel service with simulated models, and a small suite of ACE-Bench.
"""

from agenthard.flows.demo.ace_suite import write_ace_demo
from agenthard.flows.demo.seeding import KeyEntry
from agenthard.flows.demo.writing import ANSWER_KEY, DemoBenchmark, write_demo

__all__ = ["ANSWER_KEY", "DemoBenchmark", "KeyEntry", "write_ace_demo", "write_demo"]
