"""A suite as a stream of instances, in order, from one process or several."""

from collections.abc import Iterator
from functools import partial
from itertools import islice

from agenthard.ace.generator.making import make
from agenthard.ace.generator.parameters import Parameters
from agenthard.ace.instance import Instance
from agenthard.play.stream import in_order


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
    return in_order(partial(make, parameters), islice(parameters.cells(), start, None), workers)
