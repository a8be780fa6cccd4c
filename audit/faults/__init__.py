"""Seeded faults: flaws planted into sound tasks, to measure what an audit finds of each category."""

from audit.faults.key import ANSWER_KEY, BENCHMARK, MANIFEST, PlantedFault, read_key
from audit.faults.operator import Fault, Operator, Sound
from audit.faults.page import operator_table
from audit.faults.planting import Planted, plant, with_runs
from audit.faults.registry import operators
from audit.faults.soundness import sound_tasks
from audit.faults.writing import write_planted

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
