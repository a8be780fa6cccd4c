import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthard.audit.execution.workers import WorkerLimits, WorkerPool

SCRIPT = Path(__file__).with_name("misbehaving.py")
LIMITS = WorkerLimits(wall_seconds=30, cpu_seconds=1, memory_bytes=512 << 20, file_bytes=1 << 20, answer_bytes=1 << 20)


@pytest.fixture
def pool() -> Iterator[WorkerPool]:
    made = WorkerPool(Path(sys.executable), SCRIPT, LIMITS)
    yield made
    made.close()
