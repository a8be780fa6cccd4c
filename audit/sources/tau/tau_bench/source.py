"""The source of τ-bench: tasks with their conventions, runs, and splits."""

import json
import shutil
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.sources.base import NotRead, Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.tau.logs import LogReader, LogRow, record_log
from agenthard.audit.sources.tau.records import UnreadableDomainError, explain, release_label
from agenthard.audit.sources.tau.tau_bench.json_export import JsonExport
from agenthard.audit.sources.tau.tau_bench.layout import Domain, Layout, split_domain
from agenthard.audit.sources.tau.tau_bench.python_checkout import PythonCheckout
from agenthard.audit.sources.tau.tau_bench.results import ResultFiles
from agenthard.audit.sources.tau.tau_bench.tasks import to_task
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

TAG = "tau1"
"""Tag of this benchmark in run records."""


class TauBench(Source):
    """Reader of τ-bench (airline, retail), as JSON or as a checkout of the original repository.

    The task id is the position in the list of tasks: ``airline/0``. Lists other than the test split are opened by
    name: ``retail-dev``, ``retail-train``.
    """

    name = "tau-bench"
    title = "τ-bench"
    layout = (
        "a folder with <domain>/{tasks,tools,policy,db}.json, or a checkout with tau_bench/envs/<domain>/tasks_test.py"
    )

    split_use = (
        "Copy `native/` over a checkout of τ-bench: the lists of tasks take the place of the original ones, and "
        "`run.py` then runs the kept tasks. Task ids are places in that list, so they change; `native/ids.json` "
        "names the original id of each. A split that was made from JSON files instead of a checkout (`tasks.json`) "
        "is not what `run.py` reads: audit a checkout to publish one that is."
    )

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a folder; ``domains`` are airline, retail, retail-dev, retail-train; none means all test splits."""
        super().__init__(root, domains)
        layout = _find_layout(root)
        if layout is None:
            raise SourceError(f"{root}: this is not τ-bench; expected {self.layout}")
        self._files = layout
        self._all = layout.domains()
        unknown = [domain for domain in domains if domain not in self._all]
        if unknown:
            raise SourceError(f"{root}: no domain {', '.join(unknown)}; there are {', '.join(self._all)}")
        self._open = list(domains) or [domain for domain in self._all if split_domain(domain)[1] == "test"]
        self._environments: dict[str, Domain] = {}

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether the folder has one of the two layouts."""
        return _find_layout(root) is not None

    def version(self) -> Version:
        """Hash the files of the open domains; the label is the commit, or what the folder's name says."""
        files = {file for domain in self._open for file in self._files.files(domain)}
        return hash_files(self.root, files, release_label(self.root))

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks of the open domains; tasks of one domain share one environment record."""
        return self._tasks(self._open, quarantine)

    def some_tasks(self, ids: Collection[str]) -> Iterator[AgentTask]:
        """Stream the tasks of the domains with which the ids start."""
        return self._tasks([name for name in self._open if any(i.startswith(f"{name}/") for i in ids)], Quarantine())

    def _tasks(self, domains: Sequence[str], quarantine: Quarantine) -> Iterator[AgentTask]:
        for domain in domains:
            try:
                shared = self._environment(domain)
                for native in self._files.tasks(domain, quarantine):
                    try:
                        yield to_task(self.name, domain, native, shared)
                    except ValidationError as error:
                        pointer, reason = explain(error, native.value)
                        place, task_id = native.place(pointer), f"{domain}/{native.index}"
                        line, at = place.line or native.line, place.pointer
                        quarantine.add(place.file, reason, line=line, pointer=at, task_id=task_id)
            except UnreadableDomainError as error:
                error.put_in(quarantine)

    def known_files(self) -> Iterator[Path]:
        """Yield the files of all domains and their further lists of tasks."""
        for domain in self._all:
            yield from self._files.files(domain)

    def not_read(self) -> list[NotRead]:
        """Name the domains and further lists of tasks that were not opened."""
        found = []
        for domain in (name for name in self._all if name not in self._open):
            try:
                count: int | None = self._files.count(domain)
            except UnreadableDomainError:
                count = None
            reason = "left out by --domain" if self.domains else "not the test split, which the benchmark runs"
            file = self._files.name(self._files.files(domain)[0])
            reason += f"; --domain {domain} reads it"
            found.append(NotRead(file=file, tasks=count, reason=reason, left_out=True))
        return found

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream the runs in result files of the benchmark and in flat run records tagged ``tau1``."""
        results = ResultFiles(TAG, self._all, self._user_ids)

        def open_log(file: Path, name: str, named: bool) -> Iterator[LogRow] | None:
            records = record_log(file, name, named, TAG, quarantine)
            return records if records is not None else results.open(file, name)

        return LogReader(TAG, self._known, frozenset(self._all), quarantine).read(path, open_log)

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the kept tasks, the other files of their domains, and ``ids.json`` from new ids to old ids.

        Raises:
            SourceError: when ``keep`` names a task that does not exist.
        """
        wanted = set(keep)
        unknown = wanted - {f"{domain}/{index}" for domain, ids in self._known.items() for index in ids}
        if unknown:
            raise SourceError(f"no such task: {', '.join(sorted(unknown)[:5])}; ids look like airline/0")
        written: dict[Path, None] = {}
        ids: dict[str, str] = {}
        tasks_files = {self._files.files(domain)[0] for domain in self._open}
        for domain in self._open:
            positions = sorted(int(i) for i in self._known[domain] if f"{domain}/{i}" in wanted)
            ids |= {f"{domain}/{new}": f"{domain}/{old}" for new, old in enumerate(positions)}
            for file in self._files.files(domain):
                target = out / self._files.name(file)
                written[target] = None
                if file in tasks_files:
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target)
            self._files.write_tasks(domain, set(positions), out / self._files.name(self._files.files(domain)[0]))
        mapping = out / "ids.json"
        mapping.write_text(json.dumps(ids, indent=1) + "\n", encoding="utf-8")
        return [*written, mapping]

    @cached_property
    def _user_ids(self) -> dict[str, dict[str, str | None]]:
        """Users of the tasks that were read, by domain and native id."""
        found: dict[str, dict[str, str | None]] = {domain: {} for domain in self._open}
        for task in self.read_tasks()[0]:
            found[task.subtask][task.native_id] = task.metadata.get("user_id")
        return found

    @cached_property
    def _known(self) -> dict[str, frozenset[str]]:
        return {domain: frozenset(ids) for domain, ids in self._user_ids.items()}

    def _environment(self, domain: str) -> Domain:
        folder = split_domain(domain)[0]
        if folder not in self._environments:
            self._environments[folder] = self._files.environment(domain)
        return self._environments[folder]


def _find_layout(root: Path) -> Layout | None:
    layouts: tuple[Layout, ...] = (JsonExport(root), PythonCheckout(root))
    return next((layout for layout in layouts if layout.domains()), None)
