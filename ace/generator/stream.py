"""A suite as a stream of instances, in order, from one process or several."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context

from agenthard.ace.errors import GenerationError
from agenthard.ace.generator.making import make
from agenthard.ace.generator.parameters import Cell, Parameters
from agenthard.ace.instance import Instance
from agenthard.taxonomy.system import follow_parent

_BATCH = 4
"""Instances that a process makes before it returns them."""
_AHEAD = 3
"""Batches that each further process has before it: it never waits, and at the end little is left to wait for."""
_WAITING = 8
"""Most batches per process that are made or being made and not yet taken: bounds the memory."""


def generate(parameters: Parameters, start: int = 0, workers: int = 1) -> Iterator[Instance]:
    """Yields the instances of a suite, each proved.

    Each instance has a random generator of its own, so neither the number of workers nor where a suite is taken up
    changes a byte. Memory does not grow with the suite.

    Args:
        parameters: The suite.
        start: How many instances to skip: those that an interrupted run has written already.
        workers: Processes to use, this one included; 1 starts no other.

    Yields:
        ``parameters.count - start`` instances, in the order of ``parameters.cells()``.

    Raises:
        GenerationError: An instance met no attempt's conditions; the message says which.
    """
    cells = islice(parameters.cells(), start, None)
    if workers <= 1:
        for cell in cells:
            yield make(parameters, cell)
        return
    others = ProcessPoolExecutor(workers - 1, mp_context=get_context("spawn"), initializer=follow_parent)
    line: deque[Future[list[Instance]]] = deque()
    try:
        for batch in iter(lambda: list(islice(cells, _BATCH)), []):
            if sum(not each.done() for each in line) < _AHEAD * (workers - 1):
                line.append(others.submit(_make_batch, parameters, batch))
            else:
                line.append(_made_here(parameters, batch))
            while line and (line[0].done() or len(line) >= _WAITING * workers):
                yield from line.popleft().result()
        while line:
            yield from line.popleft().result()
    finally:
        others.shutdown(cancel_futures=True)


def _made_here(parameters: Parameters, cells: list[Cell]) -> Future[list[Instance]]:
    """A batch made in this process; a failure waits for its turn, so that what comes before it is yielded."""
    made: Future[list[Instance]] = Future()
    try:
        made.set_result(_make_batch(parameters, cells))
    except GenerationError as failed:
        made.set_exception(failed)
    return made


def _make_batch(parameters: Parameters, cells: list[Cell]) -> list[Instance]:
    return [make(parameters, cell) for cell in cells]
