"""The process of a command: which signals interrupt it, and what the processes it starts may import."""

import os
import signal
from types import FrameType


def interrupt_on_termination() -> None:
    """Let SIGTERM and SIGHUP interrupt the command as Ctrl-C does, so that it stops its processes and says so.

    A signal that whoever started us has ignored, as ``nohup`` does, stays ignored.
    """
    for number in filter(None, (signal.SIGTERM, getattr(signal, "SIGHUP", None))):  # Windows has no SIGHUP
        if signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def protect_children() -> None:
    """Let no interpreter that this process starts import modules from the folder that it is started in.

    ``python -m`` (Prefect's server, pip) and ``python -c`` (processes of a pool) look there first, so a ``timeit.py``
    in the folder where a command is given would run in the place of Python's own.
    """
    os.environ["PYTHONSAFEPATH"] = "1"
