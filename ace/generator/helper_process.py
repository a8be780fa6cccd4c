"""The life of a process that helps another: it never outlives it, and leaves Ctrl-C to it."""

import os
import signal
from multiprocessing import parent_process
from threading import Thread


def end_with_parent() -> None:
    """Makes this process end as soon as the one that started it is gone, even when that one was killed.

    Without it, the processes of a pool wait for work for ever after a ``kill -9``.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_after_parent, daemon=True).start()


def _end_after_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
