"""The tasks of a large benchmark as a sequence that keeps them in a temporary file, and few of them in memory."""

import io
import pickle
import tempfile
import zlib
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from threading import Lock
from typing import Any, overload

from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

MOST_HELD = 5_000
"""Tasks that are held in memory; of a larger benchmark, all are kept in a file."""
BLOCK = 250
"""Tasks that are written and read together."""
HELD_BLOCKS = 4
"""Blocks in memory."""


def held_or_stored(tasks: Iterable[AgentTask]) -> Sequence[AgentTask]:
    """Return the tasks as a tuple, or as `StoredTasks` if there are more than `MOST_HELD`."""
    rest = iter(tasks)
    first = tuple(islice(rest, MOST_HELD + 1))
    return first if len(first) <= MOST_HELD else StoredTasks(chain(first, rest))


class StoredTasks(Sequence[AgentTask]):
    """Tasks in a temporary file, which the system removes when the process ends. Safe to read from several threads.

    Every access makes records that are equal to those given; they are the same objects only while their block is in
    memory. An environment that several tasks of one block share stays in memory, so that it is one object for all
    tasks: checks remember what they compute for it.
    """

    def __init__(self, tasks: Iterable[AgentTask]) -> None:
        """Write the tasks; one block of them is held at a time."""
        # Pickle is safe here: the file has no name, so only this process writes and reads it.
        self._file = tempfile.TemporaryFile(prefix="agenthard-tasks-")
        self._ends = [0]
        self._count = 0
        self._environments: list[EnvironmentSpec] = []
        self._held: OrderedDict[int, tuple[AgentTask, ...]] = OrderedDict()
        self._lock = Lock()
        numbers: dict[int, int] = {}
        rest = iter(tasks)
        while block := tuple(islice(rest, BLOCK)):
            self._write(block, numbers)

    def _write(self, block: tuple[AgentTask, ...], numbers: dict[int, int]) -> None:
        uses = Counter(id(task.environment) for task in block)
        for task in block:
            key = id(task.environment)
            if uses[key] > 1 and key not in numbers:
                numbers[key] = len(self._environments)
                self._environments.append(task.environment)
        content = io.BytesIO()
        _Pickler(content, numbers).dump(block)
        self._file.write(zlib.compress(content.getvalue(), 1))
        self._ends.append(self._file.tell())
        self._count += len(block)

    def _block(self, number: int) -> tuple[AgentTask, ...]:
        with self._lock:
            block = self._held.get(number)
            if block is None:
                self._file.seek(self._ends[number])
                packed = self._file.read(self._ends[number + 1] - self._ends[number])
                block = _Unpickler(io.BytesIO(zlib.decompress(packed)), self._environments).load()
                self._held[number] = block
                if len(self._held) > HELD_BLOCKS:
                    self._held.popitem(last=False)
            self._held.move_to_end(number)
            return block

    def _between(self, start: int, stop: int) -> Iterator[AgentTask]:
        while start < stop:
            number, first = divmod(start, BLOCK)
            part = self._block(number)[first : first + stop - start]
            yield from part
            start += len(part)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[AgentTask]:
        return self._between(0, self._count)

    @overload
    def __getitem__(self, index: int) -> AgentTask: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[AgentTask, ...]: ...
    def __getitem__(self, index: int | slice) -> AgentTask | tuple[AgentTask, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._count)
            return tuple(self._between(start, stop) if step == 1 else map(self.__getitem__, range(start, stop, step)))
        number, position = divmod(range(self._count)[index], BLOCK)
        return self._block(number)[position]


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, numbers: dict[int, int]) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._numbers = numbers

    def persistent_id(self, value: Any) -> int | None:
        return self._numbers.get(id(value)) if isinstance(value, EnvironmentSpec) else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, environments: Sequence[EnvironmentSpec]) -> None:
        super().__init__(stream)
        self._environments = environments

    def persistent_load(self, number: int) -> EnvironmentSpec:
        return self._environments[number]
