"""The process of a command: which signals interrupt it, and what the processes it starts may import."""

import os
import signal
from types import FrameType


class _Terminated(KeyboardInterrupt):
    """A signal asked the command to end.

    Not KeyboardInterrupt itself: where that is raised in code that Python executes from text, as dataclasses do while
    a module is imported, Python ends with SIGINT instead of the exit code, although the exception was handled.
    """


def interrupt_on_termination() -> None:
    """Let SIGINT, SIGTERM and SIGHUP interrupt the command, so that it stops its processes.

    A signal that the parent process ignores, as ``nohup`` does, stays ignored.
    """
    for number in filter(None, (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", None))):  # Windows: no SIGHUP
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise _Terminated


def protect_children() -> None:
    """Let no interpreter that this process starts import modules from the folder that it is started in.

    ``python -m`` (Prefect's server, pip) and ``python -c`` (processes of a pool) look there first, so a ``timeit.py``
    in the folder where a command is given would run in the place of Python's own.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
