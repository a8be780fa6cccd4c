"""Seeded faults: flaws planted into sound tasks, to measure what an audit finds of each category."""

from agenthard.audit.faults.answer_key import ANSWER_KEY, BENCHMARK, MANIFEST, PlantedFault, read_key
from agenthard.audit.faults.operator import Fault, Operator, Sound
from agenthard.audit.faults.planting import Planted, plant, with_runs, write_planted
from agenthard.audit.faults.registry import operator_table, operators
from agenthard.audit.faults.soundness import sound_tasks

__all__ = [
    "ANSWER_KEY",
    "BENCHMARK",
    "MANIFEST",
    "Fault",
    "Operator",
    "Planted",
    "PlantedFault",
    "Sound",
    "operator_table",
    "operators",
    "plant",
    "read_key",
    "sound_tasks",
    "with_runs",
    "write_planted",
]
