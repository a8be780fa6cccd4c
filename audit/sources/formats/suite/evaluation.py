"""A suite opened for evaluation: what every benchmark with suites of its own answers in the same way."""

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine, Version, hash_files
from agenthard.taxonomy.record import Record

C = TypeVar("C", bound=Record)
I_co = TypeVar("I_co", covariant=True)
T = TypeVar("T")


class Instances(Protocol[I_co]):
    """A source of instances."""

    def instances(self, quarantine: Quarantine) -> Iterator[tuple[str, I_co]]:
        """Stream the instances, each with the id of its task."""
        ...

    def version(self) -> Version:
        """Identify the files by their content."""
        ...


def read_conditions(kind: type[C], options: Mapping[str, str]) -> C:
    """Read the conditions to play under.

    Args:
        kind: The record of the conditions.
        options: Its fields by name.

    Raises:
        ValueError: No such option, or it has no such value; the message lists all options.
    """
    try:
        return kind.model_validate(options)
    except ValidationError as error:
        first = error.errors()[0]
        if not first["loc"]:  # options that do not fit together, or something that they name
            raise ValueError(first["msg"].removeprefix("Value error, ")) from error
        known = ", ".join(kind.model_fields)
        raise ValueError(f"option {'.'.join(map(str, first['loc']))}: {first['msg']}; there are: {known}") from error


class SuiteEvaluation(Generic[I_co, C, T]):
    """A suite opened for evaluation, with its conditions and its seed."""

    def __init__(
        self, source: Instances[I_co], conditions: C, seed: int, task: Callable[[str, I_co, C, int], T]
    ) -> None:
        """Open a suite.

        Args:
            source: Where its instances come from.
            conditions: Conditions to play under.
            seed: Seed of all randomness.
            task: Makes a task of an id, an instance, the conditions and the seed.
        """
        self._source = source
        self._conditions = conditions
        self._seed = seed
        self._task = task
        self._unreadable: list[str] = []

    def tasks(self) -> Iterator[T]:
        """Stream the tasks that can be read; an episode of one that cannot be played has no verdict."""
        quarantine = Quarantine()
        for id, instance in self._source.instances(quarantine):
            yield self._task(id, instance, self._conditions, self._seed)
        self._unreadable = [f"{item.task_id or item.file}: {item.reason}" for item in quarantine.items]

    def unreadable(self) -> Sequence[str]:
        """Return which tasks cannot be read and why; complete once the tasks have been streamed."""
        return self._unreadable

    def content_hash(self) -> str:
        """Identify files, conditions and the code of the benchmark: the folder of the class."""
        code = Path(inspect.getfile(type(self))).parent
        files = [path for path in code.rglob("*.py") if path.is_file()]
        played = self._source.version()
        return f"{played.content_hash} {self._conditions.model_dump_json()} {hash_files(code, files, '').content_hash}"

    def conditions(self) -> Mapping[str, Any]:
        """List the conditions by name."""
        return self._conditions.model_dump(mode="json")
