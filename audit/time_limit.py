"""A limit on the CPU time of one check on one task: what does not come to an end is an error row, not a hang.

The limit is generous, some hundred times what the slowest check needs for a task of a real benchmark, so whether it is
reached says something about the input and not about the machine. CPU time is counted, so a busy machine changes
nothing. The signal reaches Python code and regular expressions, which look for signals while they match; C code that
does neither (a distance of two long texts) is kept short by the checks themselves. Environments that run in processes
of their own have limits of their own.
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


@contextmanager
def cpu_limit(seconds: float = SECONDS) -> Iterator[None]:
    """Stop what runs inside after a number of CPU seconds of this process.

    Signals reach only the main thread of a process, and there is no such timer outside POSIX: elsewhere nothing is
    limited. Worker processes run shards in their main thread.

    Args:
        seconds: the limit.

    Raises:
        CheckTimeoutError: the time was over.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    active = True

    def expire(number: int, frame: FrameType | None) -> None:
        if active:
            raise _Expired

    before = signal.signal(signal.SIGPROF, expire)
    # It fires again every second: a cleanup that takes long is stopped as well.
    outer, _ = signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    except _Expired:
        active = False
        raise CheckTimeoutError(
            f"stopped after {seconds:g} s of CPU time; nothing is said about this task. Look for texts or lists of "
            "unusual length in it, and report the file if there are none"
        ) from None
    finally:
        active = False
        signal.setitimer(signal.ITIMER_PROF, outer)
        signal.signal(signal.SIGPROF, before)
