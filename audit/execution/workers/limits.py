"""What a worker process may use."""

from pydantic import Field

from taxonomy.record import Record

MIB = 1 << 20


class Limits(Record):
    """Limits of one worker process; time limits hold for one answer, such as the verdict on one attempt."""

    wall_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for one answer."""
    cpu_seconds: int = Field(default=10, gt=0)
    """Most processor time for one answer, in whole seconds."""
    memory_bytes: int = Field(default=1024 * MIB, gt=0)
    """Most address space (RLIMIT_AS), the interpreter included."""
    file_bytes: int = Field(default=16 * MIB, ge=0)
    """Largest file that may be written (RLIMIT_FSIZE)."""
    answer_bytes: int = Field(default=64 * MIB, gt=0)
    """Longest answer, as JSON."""
