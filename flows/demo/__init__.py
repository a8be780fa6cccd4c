"""The benchmarks of ``agenthard demo``, with known flaws.

`benchmark` writes a library desk and a parcel service with recorded runs, from the files in ``data/``. `ace_suite`
generates a small suite of ACE-Bench, and `ace_flaws` makes some of its instances wrong. `room_suite` generates escape
rooms and makes one wrong in each known way.
"""

from agenthard.flows.demo.ace_suite import write_ace_demo
from agenthard.flows.demo.benchmark import (
    ANSWER_KEY,
    DemoBenchmark,
    KeyEntry,
    ScoredEntry,
    score_audit,
    write_demo,
    write_sound_demo,
)
from agenthard.flows.demo.room_suite import write_room_demo

__all__ = [
    "ANSWER_KEY",
    "DemoBenchmark",
    "KeyEntry",
    "ScoredEntry",
    "score_audit",
    "write_ace_demo",
    "write_demo",
    "write_room_demo",
    "write_sound_demo",
]
