"""A limit on the CPU time of one check on one task: a check that does not end becomes an error row, not a hang.

The limit is about a hundred times what the slowest check needs for a task of a real benchmark, so reaching it says
something about the input, not about the machine. CPU time is counted, so a busy machine changes nothing. The signal
interrupts Python code and regular expressions. Other C code (a distance of two long texts) cannot be interrupted, so
checks keep its input short. Worker processes have their own limits.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from agenthard.taxonomy.errors import AgentHardError

SECONDS = 60.0
"""CPU seconds that one check may take on one task."""
CONCLUSION_SECONDS = 600.0
"""CPU seconds that one check may take to conclude from all tasks."""


class CheckTimeoutError(AgentHardError):
    """A check took too long; the message says how long and what to do."""

    code = "AH202"
    remedy = "Nothing, if few tasks are affected: they count as not checked. Else report the check and the task."


class _Expired(BaseException):
    """Raised where the time is over. Not an Exception, so that no check can swallow it."""


class _Limits:
    """The limits of this process."""

    installed = False
    """Whether the signal is handled."""
    active = 0
    """How many blocks are limited now, one inside the other."""

    def expire(self, number: int, frame: FrameType | None) -> None:
        """Stop the innermost limited block."""
        if self.active:
            raise _Expired


_limits = _Limits()


def _can_interrupt() -> bool:
    return threading.get_ident() == threading.main_thread().ident and hasattr(signal, "setitimer")


@contextmanager
def cpu_limits() -> Iterator[None]:
    """Prepare for many limits in the block: handling the signal begins once, which takes longer than most checks."""
    if _limits.installed or not _can_interrupt():
        yield
        return
    before = signal.signal(signal.SIGPROF, _limits.expire)
    _limits.installed = True
    try:
        yield
    finally:
        _limits.installed = False
        signal.signal(signal.SIGPROF, before)


class cpu_limit:  # noqa: N801 - used like a function, and faster than a generator: it is entered for every check
    """Stop a block after a number of CPU seconds of this process.

    Signals reach only the main thread of a process, and the timer exists on POSIX only: elsewhere nothing is limited.
    Worker processes run shards in their main thread.

    Raises:
        CheckTimeoutError: the time was over.
    """

    __slots__ = ("_installed", "_limited", "_outer", "_seconds")

    def __init__(self, seconds: float = SECONDS) -> None:
        """Limit the block.

        Args:
            seconds: the limit.
        """
        self._seconds = seconds

    def __enter__(self) -> None:
        self._limited = _can_interrupt()
        if not self._limited:
            return
        self._installed = None if _limits.installed else cpu_limits()
        if self._installed:
            self._installed.__enter__()
        _limits.active += 1
        # It fires again every second: a cleanup that takes long is stopped as well.
        self._outer, _ = signal.setitimer(signal.ITIMER_PROF, self._seconds, 1.0)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if not self._limited:
            return
        _limits.active -= 1
        signal.setitimer(signal.ITIMER_PROF, self._outer)
        if self._installed:
            self._installed.__exit__(None, None, None)
        if kind is _Expired:
            raise CheckTimeoutError(
                f"stopped after {self._seconds:g} s of CPU time; nothing is said about this task. Look for texts or "
                "lists of unusual length in it, and report the file if there are none"
            ) from None
