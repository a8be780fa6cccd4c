"""The benchmark of ``agenthard demo``: a library desk and a parcel service, with known flaws and simulated models."""

from flows.demo.seeding import KeyEntry
from flows.demo.writing import ANSWER_KEY, DemoBenchmark, write_demo

__all__ = ["ANSWER_KEY", "DemoBenchmark", "KeyEntry", "write_demo"]
