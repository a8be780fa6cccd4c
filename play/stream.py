"""Instances made one by one, in order, in one process or several."""

import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from typing import TypeVar

from agenthard.play.errors import GenerationError
from agenthard.taxonomy.system import follow_parent

Job = TypeVar("Job")
Made = TypeVar("Made")

_BATCH = 4
"""Instances that a process makes before it returns them."""
_AHEAD = 8
"""Batches that each further process has before it, so that it does not wait while this process makes one."""
_WAITING = 16
"""Most batches per process that are made or being made and not yet taken: bounds the memory."""
_COLLECT_AFTER = 50_000
"""Objects after which a process looks for cycles of references, of which instances have none."""


def in_order(make: Callable[[Job], Made], jobs: Iterable[Job], workers: int = 1) -> Iterator[Made]:
    """Yields what is made of jobs, in the order of the jobs, whatever the number of processes.

    Each job has to carry what it needs, its random generator above all. Memory does not grow with the number of jobs.

    Args:
        make: Makes one; a function of a module, so that another process can import it.
        jobs: What to make.
        workers: Processes to use, this one included; 1 starts no other.

    Yields:
        One each.

    Raises:
        GenerationError: One could not be made; those before it were yielded.
    """
    before = gc.get_threshold()
    gc.set_threshold(_COLLECT_AFTER)
    try:
        yield from (make(job) for job in jobs) if workers <= 1 else _shared_out(make, jobs, workers)
    finally:
        gc.set_threshold(*before)


def _shared_out(make: Callable[[Job], Made], jobs: Iterable[Job], workers: int) -> Iterator[Made]:
    """Make instances here and in other processes."""
    rest = iter(jobs)
    others = ProcessPoolExecutor(workers - 1, mp_context=get_context("spawn"), initializer=_start)
    line: deque[tuple[list[Job], Future[list[Made]]]] = deque()
    try:
        for batch in iter(lambda: list(islice(rest, _BATCH)), []):
            if sum(not made.done() for _, made in line) < _AHEAD * (workers - 1):
                line.append((batch, others.submit(_make_batch, make, batch)))
            else:
                line.append((batch, _made_here(make, batch)))
            while line and (line[0][1].done() or len(line) >= _WAITING * workers):
                yield from _taken(make, line)
        while line:
            yield from _taken(make, line)
    finally:
        others.shutdown(cancel_futures=True)


def _start() -> None:
    """Set up another process."""
    follow_parent()
    gc.set_threshold(_COLLECT_AFTER)


def _taken(make: Callable[[Job], Made], line: deque[tuple[list[Job], Future[list[Made]]]]) -> list[Made]:
    """Take the first batch; until it is made, make here what no process has begun, the last batch first."""
    first = line[0][1]
    for at in range(len(line) - 1, -1, -1):
        if first.done():
            break
        batch, made = line[at]
        if made.cancel():
            line[at] = (batch, _made_here(make, batch))
            first = line[0][1]
    line.popleft()
    return first.result()


def _made_here(make: Callable[[Job], Made], batch: list[Job]) -> Future[list[Made]]:
    """A batch made in this process; a failure waits for its turn, so that what comes before it is yielded."""
    made: Future[list[Made]] = Future()
    try:
        made.set_result(_make_batch(make, batch))
    except GenerationError as failed:
        made.set_exception(failed)
    return made


def _make_batch(make: Callable[[Job], Made], batch: list[Job]) -> list[Made]:
    return [make(job) for job in batch]
