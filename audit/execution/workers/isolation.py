"""What contains benchmark code: the refusal to run it without a layer, and the limits of a worker process."""

from pydantic import Field

from agenthard.audit.execution.environment import UnavailableError
from agenthard.taxonomy.record import Record


class WeakIsolationError(UnavailableError):
    """A layer is missing, and the user did not allow that."""

    code = "AH309"
    remedy = "Run on Linux with the layer that the message names, or accept the risk with `--allow-weak-isolation`."


MIB = 1 << 20


class WorkerLimits(Record):
    """Limits of worker processes: for one answer (the verdict on one attempt), one request, and a whole process."""

    wall_seconds: float = Field(default=20.0, gt=0)
    """Longest wait for one answer."""
    cpu_seconds: int = Field(default=10, gt=0)
    """Most processor time for one answer, in whole seconds."""
    request_seconds: float = Field(default=300.0, gt=0)
    """Longest time for all answers to one request, or to all attempts at one task."""
    process_cpu_seconds: int = Field(default=600, gt=0)
    """Most processor time of one process, which it cannot raise (RLIMIT_CPU)."""
    host_cpu_seconds: int = Field(default=7200, gt=0)
    """Most processor time of the process that imports the benchmark and forks the others."""
    memory_bytes: int = Field(default=1024 * MIB, gt=0)
    """Most address space (RLIMIT_AS), the interpreter included."""
    file_bytes: int = Field(default=16 * MIB, ge=0)
    """Largest file that may be written (RLIMIT_FSIZE)."""
    folder_bytes: int = Field(default=64 * MIB, gt=0)
    """What all files of a process may take together (size of a file system in memory)."""
    folder_entries: int = Field(default=4096, gt=0)
    """How many files and folders a process may make."""
    open_files: int = Field(default=256, gt=0)
    """How many files a process may have open (RLIMIT_NOFILE)."""
    answer_bytes: int = Field(default=16 * MIB, gt=0)
    """Longest answer, as JSON; a longer one is never decoded."""
    request_bytes: int = Field(default=64 * MIB, gt=0)
    """Most bytes of all answers to one request."""
