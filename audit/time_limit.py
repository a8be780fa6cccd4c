"""A limit on the CPU time of one check on one task: a check that does not end becomes an error row, not a hang.

The limit is about a hundred times what the slowest check needs for a task of a real benchmark, so reaching it says
something about the input, not about the machine. CPU time is counted, so a busy machine changes nothing. The signal
interrupts Python code and regular expressions. Other C code (a distance of two long texts) cannot be interrupted, so
checks keep its input short. Worker processes have their own limits.
"""

import math
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
    """The limits of this process: a timer ticks while any is set, and each tick is taken from the innermost."""

    owner: int | None = None
    """Thread that the ticks interrupt; None while the timer is off."""
    tick = 1.0
    """CPU seconds between two ticks."""
    left = math.inf
    """CPU seconds that are left to the innermost limited block."""

    def expire(self, number: int, frame: FrameType | None) -> None:
        """Stop the innermost limited block when its time is over, and at each later tick: cleaning up may take long."""
        self.left -= self.tick
        if self.left <= 0:
            raise _Expired


_limits = _Limits()


@contextmanager
def cpu_limits(tick: float = 1.0) -> Iterator[None]:
    """Prepare for many limits in the block: to start a timer for each takes longer than most checks.

    Args:
        tick: CPU seconds by which a limit may be exceeded.
    """
    main = threading.main_thread().ident
    if _limits.owner is not None or threading.get_ident() != main or not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGPROF, _limits.expire)
    _limits.owner, _limits.tick, _limits.left = main, tick, math.inf
    signal.setitimer(signal.ITIMER_PROF, tick, tick)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        _limits.owner = None
        signal.signal(signal.SIGPROF, before)


class cpu_limit:  # noqa: N801 - used like a function, and faster than a generator: it is entered for every check
    """Stop a block after a number of CPU seconds of this process.

    Signals reach only the main thread of a process, and the timer exists on POSIX only: elsewhere nothing is limited.
    Worker processes run shards in their main thread.

    Raises:
        CheckTimeoutError: the time was over.
    """

    __slots__ = ("_alone", "_limited", "_outer", "_seconds")

    def __init__(self, seconds: float = SECONDS) -> None:
        """Limit the block.

        Args:
            seconds: the limit.
        """
        self._seconds = seconds

    def __enter__(self) -> None:
        self._alone = None
        if _limits.owner is None:
            self._alone = cpu_limits(min(1.0, self._seconds / 10))
            self._alone.__enter__()
        self._limited = _limits.owner == threading.get_ident()
        if self._limited:
            self._outer, _limits.left = _limits.left, self._seconds

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if self._limited:
            _limits.left += self._outer - self._seconds
        if self._alone:
            self._alone.__exit__(None, None, None)
        if kind is _Expired and self._limited:
            raise CheckTimeoutError(
                f"stopped after {self._seconds:g} s of CPU time; nothing is said about this task. Look for texts or "
                "lists of unusual length in it, and report the file if there are none"
            ) from None
