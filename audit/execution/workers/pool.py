"""Workers of one benchmark, handed out one per thread and used again."""

import atexit
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from weakref import WeakSet

from agenthard.audit.execution.workers.limits import Limits
from agenthard.audit.execution.workers.worker import Worker


class WorkerPool:
    """Hands out workers. There are as many as are held at the same time; those given back wait for the next."""

    def __init__(self, python: Path, script: Path, limits: Limits | None = None, arguments: Sequence[str] = ()) -> None:
        """Prepare; nothing is started yet.

        Args:
            python: interpreter of the virtual environment that has the benchmark.
            script: file with ``setup()``, see :class:`Worker`.
            limits: what a process may use.
            arguments: what ``setup`` is called with.
        """
        self._python = python
        self._script = script
        self._limits = limits
        self._arguments = tuple(arguments)
        self._idle: list[Worker] = []
        self._all: WeakSet[Worker] = WeakSet()
        self._owner = os.getpid()
        self._lock = threading.Lock()
        atexit.register(self.close)

    def lease(self) -> Worker:
        """Hand out a worker that no one else holds; a process that was forked from ours never shares one with it."""
        with self._lock:
            if self._owner != os.getpid():
                self._owner, self._idle, self._all = os.getpid(), [], WeakSet()
            worker = self._idle.pop() if self._idle else self._new()
            self._all.add(worker)
            return worker

    def _new(self) -> Worker:
        return Worker(self._python, self._script, self._limits, self._arguments)

    def give_back(self, worker: Worker) -> None:
        """Take a worker back; its process is ended, so that the next holder meets a new one."""
        worker.restart()
        with self._lock:
            self._idle.append(worker)

    def close(self) -> None:
        """End all workers, held ones too."""
        with self._lock:
            workers, self._idle, self._all = list(self._all), [], WeakSet()
        for worker in workers if self._owner == os.getpid() else ():
            worker.close()
