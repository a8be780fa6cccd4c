"""Whose code executes the tasks of one audit, and how well that code has to be contained.

An :class:`Execution` belongs to one audit, repair or judging and is passed to it explicitly. While it is active,
checks reach it through :func:`current_execution`. The active execution is a context variable, so audits in several
threads of one process do not see each other's.
"""

import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from agenthard.audit.execution import registry
from agenthard.audit.execution.environment import Environment, UnavailableError
from agenthard.audit.execution.workers.isolation import WorkerLimits
from agenthard.audit.execution.workers.worker import WorkerPool
from agenthard.taxonomy.task import AgentTask

Value = TypeVar("Value")


class _Resources:
    """What an execution has opened and computed. It never leaves its process."""

    def __init__(self) -> None:
        self.environments: dict[tuple[int, int, str], Environment] = {}
        """By process, thread and benchmark: an environment belongs to one thread."""
        self.pools: dict[tuple[Any, ...], WorkerPool] = {}
        self.memory: dict[tuple[str, int], tuple[weakref.ref[Any], Any]] = {}
        self.notes: set[str] = set()
        self.lock = threading.Lock()


@dataclass(frozen=True)
class Execution:
    """Finds and opens the environments of tasks, keeps them while they are needed, and closes them.

    It is immutable and can be pickled; a copy in another process opens its own environments.

    >>> with Execution() as execution:
    ...     execution.checkout is None
    True
    """

    checkout: Path | None = None
    """Folder with the benchmark's own code, to run instead of the built-in environment."""
    weak_isolation: bool = False
    """Whether benchmark code may run although this machine cannot contain it fully."""
    policy_rules: Path | None = None
    """File of accepted rules for the policy, besides those that are known (`agenthard policy accept`)."""
    _resources: _Resources = field(default_factory=_Resources, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Resolve the folder, so that equal executions compare equal."""
        if self.checkout is not None:
            object.__setattr__(self, "checkout", self.checkout.resolve())
        if self.policy_rules is not None:
            object.__setattr__(self, "policy_rules", self.policy_rules.resolve())

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the settings only."""
        return (Execution, (self.checkout, self.weak_isolation, self.policy_rules))

    def __enter__(self) -> "Execution":
        """Return the execution; leaving the block closes it."""
        return self

    def __exit__(self, *raised: object) -> None:
        """Close everything."""
        self.close()

    @contextmanager
    def active(self) -> Iterator["Execution"]:
        """Make this the current execution of the calling thread (or asyncio task) while the block runs."""
        token = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)

    def environment_for(self, task: AgentTask) -> Environment | None:
        """Return the environment of a task's benchmark; each thread keeps its own.

        Returns:
            None when no environment is registered for the benchmark. Whether it can execute this very task is for its
            ``supports`` to say.

        Raises:
            UnavailableError: the registered class cannot be loaded, or none runs the code of the checkout.
        """
        held, key = self._resources.environments, (os.getpid(), threading.get_ident(), task.benchmark)
        if key not in held:
            with self.active():
                opened = registry.new_environment(task.benchmark, self.checkout)
            if opened is None:
                return None
            held[key] = opened
        return held[key]

    def environment_of(self, task: AgentTask) -> Environment:
        """Return the environment that executes a task.

        Raises:
            UnavailableError: there is none for its benchmark, or it cannot execute this task.
        """
        environment = self.environment_for(task)
        if environment is None:
            raise UnavailableError(f"no environment is registered for {task.benchmark}")
        reason = environment.supports(task)
        if reason is None:
            return environment
        standing_in = self._standing_in(task) if environment.yields(task) else None
        if standing_in is None:
            raise UnavailableError(reason)
        self.note(f"{task.subtask}: {standing_in.version()}, since {reason}")
        return standing_in

    def _standing_in(self, task: AgentTask) -> Environment | None:
        """Return the built-in environment for a task that the checkout cannot execute; None where it cannot either."""
        held, key = self._resources.environments, (os.getpid(), threading.get_ident(), f"{task.benchmark}, built in")
        if key not in held:
            opened = registry.new_environment(task.benchmark)
            if opened is None:
                return None
            held[key] = opened
        return held[key] if held[key].supports(task) is None else None

    def environment_for_runs(self, task: AgentTask) -> Environment | None:
        """Return the environment that can replay and judge recorded runs of a task; None where there is none."""
        try:
            environment = self.environment_for(task)
        except UnavailableError:
            return None
        if environment is None or not environment.reads_runs or environment.supports(task) is not None:
            return None
        return environment

    def worker_pool(
        self, python: Path, script: Path, limits: WorkerLimits | None = None, arguments: Sequence[str] = ()
    ) -> WorkerPool:
        """Return the pool of workers that run a script; all environments of this execution share it.

        Args:
            python: interpreter of the benchmark.
            script: file with ``setup()``, see :class:`~agenthard.audit.execution.workers.Worker`.
            limits: what a process may use.
            arguments: what ``setup`` is called with.
        """
        key = (python, script, limits, tuple(arguments))
        with self._resources.lock:
            if key not in self._resources.pools:
                made = WorkerPool(python, script, limits, arguments, weak_isolation=self.weak_isolation)
                self._resources.pools[key] = made
            return self._resources.pools[key]

    def remember(self, topic: str, owner: Any, compute: Callable[[], Value]) -> Value:
        """Compute something once per object and execution, and keep it as long as the object lives.

        Results of executing a task depend on the code that ran, so they must not be shared between executions.

        Args:
            topic: what is computed.
            owner: the object that it belongs to, identified by identity.
            compute: computes it; nothing is kept when it raises.
        """
        memory, key = self._resources.memory, (topic, id(owner))
        kept = memory.get(key)
        if kept is None or kept[0]() is not owner:
            kept = (weakref.ref(owner, lambda _: memory.pop(key, None)), compute())
            memory[key] = kept
        value: Value = kept[1]
        return value

    def recall(self, topic: str, owner: Any) -> Any:
        """Return what `remember` keeps of an object; None when nothing was computed."""
        kept = self._resources.memory.get((topic, id(owner)))
        return kept[1] if kept is not None and kept[0]() is owner else None

    def note(self, text: str) -> None:
        """Note something about the code that runs, which every report says next to its isolation."""
        self._resources.notes.add(text)

    def isolations_used(self) -> tuple[str, ...]:
        """Return under which isolations benchmark code ran since the last call, and notes; empty when none ran."""
        used = set(self._resources.notes)
        self._resources.notes.clear()
        for pool in list(self._resources.pools.values()):
            used |= pool.isolations
            pool.isolations.clear()
        return tuple(sorted(used))

    def release(self) -> None:
        """Close the environments of the calling thread; the next task that needs one gets a new one."""
        here = (os.getpid(), threading.get_ident())
        for key in [key for key in self._resources.environments if key[:2] == here]:
            self._resources.environments.pop(key).close()

    def close(self) -> None:
        """Close all environments and end all workers. Call it when no thread uses them any more."""
        for key in list(self._resources.environments):
            environment = self._resources.environments.pop(key)
            if key[0] == os.getpid():
                environment.close()
        for pool in self._resources.pools.values():
            pool.close()
        self._resources.pools.clear()
        self._resources.memory.clear()


@dataclass(frozen=True)
class StaticExecution(Execution):
    """The execution of checks that must not execute anything: checks that need to are not checked, with the reason."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle nothing: it has no settings."""
        return (StaticExecution, ())

    def environment_for(self, task: AgentTask) -> Environment | None:
        """Refuse.

        Raises:
            UnavailableError: always.
        """
        raise UnavailableError("nothing is executed in a static check")


_BUILT_IN = Execution()
"""The execution of code that was given none: built-in environments, full isolation."""
_current: ContextVar[Execution] = ContextVar("agenthard_execution", default=_BUILT_IN)


def current_execution() -> Execution:
    """Return the execution that is active; without one, that of the built-in environments under full isolation."""
    return _current.get()
