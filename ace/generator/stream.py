"""A suite as a stream of instances, in order, from one process or several."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context

from ace.generator.making import make
from ace.generator.parameters import Cell, Parameters
from ace.instance import Instance

_BATCH = 8
"""Instances that a process makes before it hands them over."""
_WAITING = 3
"""Batches per process that are made or wait at a time: bounds the memory."""


def generate(parameters: Parameters, start: int = 0, workers: int = 1) -> Iterator[Instance]:
    """Yields the instances of a suite, each proved.

    Each instance has a random generator of its own, so neither the number of workers nor where a suite is taken up
    changes a byte. Memory does not grow with the suite.

    Args:
        parameters: The suite.
        start: How many instances to skip: those that an interrupted run has written already.
        workers: Processes to use; 1 stays in this one.

    Yields:
        ``parameters.count - start`` instances, in the order of ``parameters.cells()``.

    Raises:
        GenerationFailed: An instance met no attempt's conditions; the message says which.
    """
    cells = islice(parameters.cells(), start, None)
    if workers <= 1:
        for cell in cells:
            yield make(parameters, cell)
        return
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        waiting: deque[Future[list[Instance]]] = deque()
        for batch in iter(lambda: list(islice(cells, _BATCH)), []):
            waiting.append(pool.submit(_make_batch, parameters, batch))
            if len(waiting) >= _WAITING * workers:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def _make_batch(parameters: Parameters, cells: list[Cell]) -> list[Instance]:
    return [make(parameters, cell) for cell in cells]
