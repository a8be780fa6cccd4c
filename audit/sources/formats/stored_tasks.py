"""The tasks of a large benchmark as a sequence that keeps them in a temporary file, and few of them in memory."""

import io
import pickle
import tempfile
import zlib
from array import array
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from threading import Lock
from typing import Any, overload

from agenthard.taxonomy.task import AgentTask, EnvironmentSpec

MOST_HELD = 5_000
"""Tasks that are held in memory; of a larger benchmark, all are kept in a file."""
BLOCK = 25
"""Tasks that are written and read together."""
HELD_BLOCKS = 40
"""Blocks in memory."""


class TaskIndex:
    """What is asked about all tasks at once, so that it is in memory while the tasks of a large benchmark are not."""

    def __init__(self, tasks: Iterable[AgentTask] = ()) -> None:
        """Note the tasks, in their order."""
        self.ids: list[str] = []
        """Their ids."""
        self.lines = array("Q")
        """Line of each in its file; 0 where it is unknown."""
        self.gold_calls = array("Q")
        """Calls in the ground truth of each."""
        self.benchmarks: set[str] = set()
        """Benchmarks that they are of."""
        self.own_files: set[str] = set()
        """Files that they are records of."""
        self.files: set[str] = set()
        """Files that any part of them, or a tool, is from."""
        self._environments: dict[int, EnvironmentSpec] = {}
        for task in tasks:
            self.add(task)

    def add(self, task: AgentTask) -> None:
        """Note one more task."""
        origin = task.origins.get("")
        self.ids.append(task.id)
        self.lines.append((origin.line or 0) if origin else 0)
        self.gold_calls.append(sum(1 for _ in task.gold_calls()))
        self.benchmarks.add(task.benchmark)
        self.own_files.update([origin.file] if origin else [])
        self.files.update(part.file for part in task.origins.values())
        environment = task.environment
        if self._environments.get(id(environment)) is not environment:
            if len(self._environments) >= MOST_HELD:
                self._environments.clear()
            self._environments[id(environment)] = environment
            tools = (*environment.tools, *environment.user_tools)
            self.files.update(tool.origin.file for tool in tools if tool.origin is not None)


def index_of(tasks: Sequence[AgentTask]) -> TaskIndex:
    """Return the index of tasks; stored tasks bring their own, so that they need not be read again."""
    return tasks.task_index if isinstance(tasks, StoredTasks) else TaskIndex(tasks)


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
        self.task_index = TaskIndex()
        """What is asked about all of them."""
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
            self.task_index.add(task)
            key = id(task.environment)
            if uses[key] > 1 and key not in numbers:
                numbers[key] = len(self._environments)
                self._environments.append(task.environment)
        content = io.BytesIO()
        _Pickler(content, numbers).dump(block)
        self._file.write(zlib.compress(content.getvalue(), 1))
        self._ends.append(self._file.tell())

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
        return len(self.task_index.ids)

    def __iter__(self) -> Iterator[AgentTask]:
        return self._between(0, len(self))

    @overload
    def __getitem__(self, index: int) -> AgentTask: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[AgentTask, ...]: ...
    def __getitem__(self, index: int | slice) -> AgentTask | tuple[AgentTask, ...]:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return tuple(self._between(start, stop) if step == 1 else map(self.__getitem__, range(start, stop, step)))
        number, position = divmod(range(len(self))[index], BLOCK)
        return self._block(number)[position]


class _Pickler(pickle.Pickler):
    """Writes the number of a stored environment in its place.

    `persistent_id` would do the same, but is called for every number and string.
    """

    def __init__(self, stream: io.BytesIO, numbers: dict[int, int]) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._numbers = numbers

    def reducer_override(self, value: Any) -> Any:
        number = self._numbers.get(id(value)) if isinstance(value, EnvironmentSpec) else None
        return NotImplemented if number is None else (_stored_environment, (number,))


class _Unpickler(pickle.Unpickler):
    def __init__(self, stream: io.BytesIO, environments: Sequence[EnvironmentSpec]) -> None:
        super().__init__(stream)
        self._environments = environments

    def find_class(self, module: str, name: str) -> Any:
        if name == _stored_environment.__name__:
            return self._environments.__getitem__
        return super().find_class(module, name)


def _stored_environment(number: int) -> EnvironmentSpec:
    """Name an environment in a block; `_Unpickler` calls its own look-up instead of this function."""
    raise pickle.UnpicklingError(f"environment {number} is read without its file")
