"""Sending the shards of an audit to workers, and collecting their results into the run folder.

A window of shards is on its way at a time, so neither the command nor the store holds more. A shard whose result is in
the run folder or in the store is not checked again; one whose worker is lost goes to another one.
"""

import secrets
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from agenthard.flows.audit_plan import AuditInput, AuditPlan
from agenthard.flows.errors import InfrastructureError
from agenthard.flows.logs import log
from agenthard.flows.progress import current
from agenthard.flows.run_folder import RunFolder
from agenthard.flows.run_spool import spool_name
from agenthard.flows.scale_out.check_process import RemoteCheckError
from agenthard.flows.scale_out.reused import Reused
from agenthard.flows.scale_out.runners import Workers, workers_at_hand
from agenthard.flows.scale_out.settings import MEMORY, protocol_of
from agenthard.flows.scale_out.shard_job import JobWriter, NotPlainJsonError, ShardName, audit_name
from agenthard.flows.scale_out.stored_result import UnusableResultError, unpack
from agenthard.flows.scale_out.work_store import WorkStore
from agenthard.flows.scale_out.worker import check_shards, close_processes
from agenthard.flows.shard_worker import run_shard

MOST_TASKS = 150
"""Tasks of a flow; of more shards, several are one task: a Prefect server records about 50 task runs a second."""
IN_FLIGHT = 2
"""Tasks for each worker: the one that it carries out, and the next."""
MOST_ATTEMPTS = 3
"""Times that a shard is given to workers."""


def check_on_workers(given: AuditInput, plan: AuditPlan) -> None:
    """Check all shards with the runner of the flow that runs.

    Raises:
        InfrastructureError: A shard could not be checked in three attempts, or a worker cannot check anything.
    """
    try:
        with ExitStack() as stack:
            checks = given.settings.checks()
            reused = stack.enter_context(closing(Reused(given, plan, checks))) if given.settings.reuse else None
            _Dispatch(given, plan, workers_at_hand(), reused).run()
    finally:
        close_processes()


class _Dispatch:
    """The shards of one audit on their way."""

    def __init__(self, given: AuditInput, plan: AuditPlan, workers: Workers, reused: Reused | None) -> None:
        settings = given.settings
        self._given, self._plan, self._workers, self._reused = given, plan, workers, reused
        self._folder = RunFolder(Path(settings.out))
        own = (self._folder.work / "store").absolute()
        named = settings.scale_out.store is not None and protocol_of(settings.scale_out.store) != MEMORY
        self._keep = named and reused is None
        """Whether results stay in the store: another command may go on from them."""
        self._store = WorkStore(settings.scale_out.store or str(own))
        # What is missing depends on --reuse: another command may lack other tasks of the same shard.
        self._audit = audit_name(plan) if reused is None else f"{audit_name(plan)}-{secrets.token_hex(4)}"
        self._writer = JobWriter(self._store, given, plan, self._audit)
        self._checks = [check.id for check in settings.checks()]
        self._attempts = dict[int, int]()
        self._again = deque[list[int]]()
        self._flying = dict[Any, list[int]]()
        self._landed = SimpleQueue[Any]()

    def run(self) -> None:
        """Check everything that is missing."""
        missing = [n for n in range(self._plan.shards) if not self._folder.shard_file(n).is_file()]
        current().advance(len(self._plan.task_ids) - sum(map(self._size, missing)))
        groups = _groups(missing)
        if not self._workers.count():
            log.warning("warning: the cluster has no worker yet; the audit waits for one")
        try:
            while self._fill(groups):
                future = self._landed.get()
                self._land(future, self._flying.pop(future))
        except BaseException:
            self._cancel()
            raise
        if not self._keep:
            self._store.remove_folder(self._audit)

    def _fill(self, groups: Iterator[list[int]]) -> bool:
        """Send groups until the window is full; return whether any is on its way."""
        window = IN_FLIGHT * max(1, self._workers.count())  # a cluster may grow
        while len(self._flying) < window:
            group = self._again.popleft() if self._again else next(groups, None)
            if group is None:
                break
            sent = [number for number in group if self._prepare(number)]
            if sent:
                what = f"shard {sent[0]}" if len(sent) == 1 else f"shards {sent[0]} to {sent[-1]}"
                future = self._workers.submit(f"check {what}", check_shards, self._store.url, self._audit, sent)
                self._flying[future] = sent
                future.add_done_callback(self._landed.put)
        return bool(self._flying)

    def _prepare(self, number: int) -> bool:
        """Write the input of a shard; return whether a worker has to check it."""
        name = ShardName(self._audit, number)
        if self._store.has(name.result) and self._collect(number, None):
            return False
        apart = None if self._reused is None else self._reused.missing(number)
        if apart == []:
            current().advance(self._size(number))
            return False
        try:
            self._writer.write(number, self._folder.spool / spool_name(number), apart)
        except NotPlainJsonError as error:
            log.info("shard %d is checked by this process: %s", number, error)
            current().advance(run_shard(self._given.settings, number, self._given.tasks[self._plan.shard(number)]))
            return False
        return True

    def _land(self, future: Any, group: Sequence[int]) -> None:
        """Collect what a task has left in the store, and send the rest again, each shard on its own."""
        failure: Exception | None = None
        try:
            future.result()
        except Exception as error:  # noqa: BLE001 - a lost worker, in the words of each cluster
            failure = error
        if isinstance(failure, RemoteCheckError) and not failure.repeatable:
            raise InfrastructureError(f"workers cannot check {self._what(group[0])}: {failure}") from failure
        self._again.extend([number] for number in group if not self._collect(number, failure))

    def _collect(self, number: int, failure: Exception | None) -> bool:
        """Copy the result of a shard into the run folder; return whether it was usable."""
        name = ShardName(self._audit, number)
        tasks = self._plan.task_ids[self._plan.shard(number)]
        said = getattr(failure, "cause", None) or failure  # Ray's own text begins with a traceback
        reason = f"{type(said).__name__}: {str(said)[:300]}" if said else "it has left no result"
        data = self._store.get(name.result)
        if data is not None:
            try:
                if self._reused is None:
                    unpack(data, name, tasks, self._checks, self._folder)
                else:
                    self._reused.collect(data, name)
            except UnusableResultError as error:
                reason = f"{self._store.url}/{name.result} cannot be used: {error}"
                log.warning("warning: shard %d is checked again: %s", number, reason)
                self._store.remove(name.result)
            else:
                self._store.remove(name.job)
                if not self._keep:
                    self._store.remove(name.result)
                current().advance(len(tasks))
                return True
        self._attempts[number] = self._attempts.get(number, 0) + 1
        if self._attempts[number] >= MOST_ATTEMPTS:
            raise InfrastructureError(
                f"{self._what(number)} could not be checked in {MOST_ATTEMPTS} attempts, the last time because: "
                f"{reason}; finished shards are kept, and the same command continues from there"
            ) from failure
        return False

    def _what(self, number: int) -> str:
        tasks = self._plan.task_ids[self._plan.shard(number)]
        return f"shard {number} ({len(tasks)} tasks, {tasks[0]} to {tasks[-1]})"

    def _size(self, number: int) -> int:
        tasks = self._plan.shard(number)
        return int(tasks.stop - tasks.start)

    def _cancel(self) -> None:
        """Take back what has not started."""
        for future in self._flying:
            getattr(future, "wrapped_future", future).cancel()


def _groups(numbers: Sequence[int]) -> Iterator[list[int]]:
    """Divide shards into groups, each a task of the flow."""
    size = -(-len(numbers) // MOST_TASKS) or 1
    return (list(numbers[first : first + size]) for first in range(0, len(numbers), size))
