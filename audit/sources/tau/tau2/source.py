"""The source of τ²-bench: tasks with their conventions, runs, and splits."""

import json
import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.sources.base import NotRead, Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.json_records import RawRecord, copy_elements, read_json_array
from agenthard.audit.sources.formats.json_stream import JsonStreamError
from agenthard.audit.sources.formats.json_text import parse_record
from agenthard.audit.sources.tau.logs import Gold, LogReader, LogRow, gold_of, record_log
from agenthard.audit.sources.tau.records import UnreadableDomainError, explain, release_label
from agenthard.audit.sources.tau.tau2.checkout import NOT_BY_DEFAULT, SPLITS, Checkout, Domain
from agenthard.audit.sources.tau.tau2.not_read import known_files, left_out
from agenthard.audit.sources.tau.tau2.results import Comparison, compare_embedded, open_results, read_info
from agenthard.audit.sources.tau.tau2.tasks import to_task
from agenthard.audit.sources.tau.tool_files import load_json
from agenthard.taxonomy.files import BOM, read_bytes
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

TAG = "tau2"
"""Tag of this benchmark in run records."""


@dataclass(frozen=True)
class _Native:
    """A task as written, with its place."""

    file: Path
    """The file that holds it, alone or in a list."""
    pointer: str
    """JSON Pointer to it in that file."""
    record: RawRecord
    """The task."""


class Tau2Bench(Source):
    """Reader of a τ²-bench checkout (airline, retail, telecom, banking_knowledge).

    The task id is the domain and the benchmark's own id: ``airline/0``. The domains ``mock`` and ``telecom-workflow``
    (telecom with the other half of its policy) are opened by name. Where the checkout has splits, the split ``base``
    is read, which the benchmark runs by default.
    """

    name = "tau2"
    title = "τ²-bench"
    layout = (
        "a checkout with data/tau2/domains/<domain>/tasks.json (or tasks/task_*.json) and policy.md (or prompts/), "
        "or one of these folders"
    )

    split_use = (
        "Set `TAU2_DATA_DIR` to `native/data`, and run `tau2` of a checkout: tasks, `split_tasks.json` "
        "with the kept ids only, policies, databases and the guidelines of the user simulator are there; the code of "
        "tools and evaluator comes from the checkout."
    )

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a checkout, or its folder data, data/tau2 or data/tau2/domains."""
        self._checkout = Checkout(root)
        super().__init__(self._checkout.base, domains)
        self._all = self._checkout.domains
        if not self._all:
            raise SourceError(f"{root}: this is not τ²-bench; expected {self.layout}")
        unknown = [domain for domain in domains if domain not in self._all]
        if unknown:
            raise SourceError(f"{root}: no domain {', '.join(unknown)}; there are {', '.join(self._all)}")
        self._open = list(domains) or [domain for domain in self._all if domain not in NOT_BY_DEFAULT]
        self._environments: dict[str, Domain] = {}

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether tasks and a policy are where a checkout keeps them."""
        return bool(Checkout(root).domains)

    def version(self) -> Version:
        """Hash the files of the open domains; the label is the project's version and commit."""
        files = {file for domain in self._open for file in self._checkout.files(domain)}
        return hash_files(self.root, files, release_label(self.root))

    def not_read(self) -> Sequence[NotRead]:
        """Name the tasks of the checkout that are not among those of the open domains' default splits."""
        return left_out(self._checkout, self._open, chosen=bool(self.domains))

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
                for native in self._records(domain, quarantine):
                    task = self._task(domain, native, shared, quarantine)
                    if task is not None:
                        yield task
            except UnreadableDomainError as error:
                error.put_in(quarantine)

    def known_files(self) -> Iterator[Path]:
        """Yield the files of all domains, and the folders of runs."""
        return known_files(self._checkout)

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream the runs in result files of the benchmark and in flat run records tagged ``tau2``."""

        def open_log(file: Path, name: str, named: bool) -> Iterator[LogRow] | None:
            records = record_log(file, name, named, TAG, quarantine)
            return records if records is not None else open_results(file, name, TAG)

        known = {domain: frozenset(tasks) for domain, tasks in self._native.items()}
        return LogReader(TAG, known, frozenset(self._all), quarantine, self._golds).read(path, open_log)

    def embedded_tasks(self, path: Path) -> dict[str, Comparison]:
        """Compare the tasks that a result file embeds with those of this checkout, by id of AgentTask.

        A run was scored against the embedded task: findings about a task that differs do not explain the run. Nulls,
        empty lists, defaults and the order of the reward basis do not count as differences.

        Raises:
            SourceError: when the file is not a result file of an open domain, or is damaged.
        """
        info = read_info(path) or {}
        domain = str((info.get("environment_info") or {}).get("domain_name"))
        if domain not in self._native:
            opened = ", ".join(self._open)
            raise SourceError(f"{path.name}: no result file of {opened}; expected {{info, tasks, simulations}}")
        try:
            compared = compare_embedded(
                path, {key: native.record.value for key, native in self._native[domain].items()}
            )
        except JsonStreamError as error:
            raise SourceError(f"{path.name}: damaged: {error}; copy the file again") from error
        return {f"{domain}/{native_id}": outcome for native_id, outcome in compared.items()}

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the kept tasks under their own paths below ``out``, and the other files of their domains.

        Raises:
            SourceError: when ``keep`` names a task that does not exist.
        """
        wanted = set(keep)
        unknown = wanted - {f"{domain}/{native_id}" for domain, tasks in self._native.items() for native_id in tasks}
        if unknown:
            raise SourceError(f"no such task: {', '.join(sorted(unknown)[:5])}; ids look like airline/0")
        positions: dict[Path, set[int]] = {}
        for domain, tasks in self._native.items():
            positions |= {file: positions.get(file, set()) for file in self._checkout.task_files(domain)}
            for native_id, native in tasks.items():
                if f"{domain}/{native_id}" in wanted:
                    positions[native.file].add(native.record.index)
        files = dict.fromkeys(file for domain in self._open for file in self._checkout.files(domain))
        written = [file for file in files if positions.get(file, True) or self._checkout.listed(file)]
        for file in written:
            target = out / self._checkout.name(file)
            target.parent.mkdir(parents=True, exist_ok=True)
            if file in positions and self._checkout.listed(file):
                copy_elements(file, target, positions[file])
            else:
                shutil.copyfile(file, target)
        return [out / self._checkout.name(file) for file in written]

    def complete_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Leave only kept ids in the lists of splits; add the other policies of each domain and the simulator's rules.

        The code reads a domain's policy by the variant that it is asked for, and ``user_simulator`` for every run.
        """
        wanted, done = set(keep), []
        for domain in self._open:
            folder = self._checkout.folder(domain)
            splits = folder / SPLITS
            if splits.is_file():
                lists = load_json(splits, self._checkout.name(splits))
                kept = {
                    name: [each for each in ids if f"{domain}/{each}" in wanted] if isinstance(ids, list) else ids
                    for name, ids in lists.items()
                }
                target = out / self._checkout.name(splits)
                target.write_text(json.dumps(kept, ensure_ascii=False, indent=4) + "\n", encoding="utf-8")
                done.append(target)
            done += self._copy_missing(folder.glob("*.md"), out)
        return done + self._copy_missing((self._checkout.data.parent / "user_simulator").glob("*.md"), out)

    def _copy_missing(self, files: Iterable[Path], out: Path) -> list[Path]:
        targets = {file: out / self._checkout.name(file) for file in sorted(files)}
        absent = {file: target for file, target in targets.items() if not target.exists()}
        for file, target in absent.items():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, target)
        return list(absent.values())

    def _task(self, domain: str, native: _Native, shared: Domain, quarantine: Quarantine) -> AgentTask | None:
        name, value = self._checkout.name(native.file), native.record.value
        try:
            return to_task(self.name, domain, value, shared, partial(_place, name, native.pointer))
        except ValidationError as error:
            pointer, reason = explain(error, value)
            at, task_id = f"{native.pointer}{pointer}", f"{domain}/{value.get('id')}"
            quarantine.add(name, reason, line=native.record.line, pointer=at, task_id=task_id)
            return None

    def _records(self, domain: str, quarantine: Quarantine) -> Iterator[_Native]:
        """Stream the native tasks of the default split; an id that was used before is quarantined."""
        split = self._checkout.default_split(domain)
        seen: dict[str, str] = {}
        for native in self._written(domain, quarantine):
            name, record = self._checkout.name(native.file), native.record
            native_id = str(record.value.get("id"))
            if split is not None and native_id not in split:
                continue
            if native_id in seen:
                reason = f"the id {native_id!r} was used {seen[native_id]} already; give each task its own id"
                at, task_id = f"{native.pointer}/id", f"{domain}/{native_id}"
                quarantine.add(name, reason, line=record.line, pointer=at, task_id=task_id)
                continue
            seen[native_id] = f"on line {record.line}" if native.pointer else f"in {native.file.name}"
            yield native

    def _written(self, domain: str, quarantine: Quarantine) -> Iterator[_Native]:
        """Stream everything in a domain's files of tasks."""
        for file in self._checkout.task_files(domain):
            name = self._checkout.name(file)
            if self._checkout.listed(file):
                for record in read_json_array(file, name, quarantine):
                    yield _Native(file, f"/{record.index}", record)
                continue
            try:
                raw = read_bytes(file)
            except OSError as error:
                quarantine.add(name, f"cannot read the file: {error}")
                continue
            value = parse_record(raw.removeprefix(BOM), name, 1, quarantine)
            if value is not None:
                yield _Native(file, "", RawRecord(value, 1, 0, raw))

    @cached_property
    def _native(self) -> dict[str, dict[str, _Native]]:
        """Native tasks that can be read, by open domain and native id."""
        found: dict[str, dict[str, _Native]] = {domain: {} for domain in self._open}
        for domain in self._open:
            try:
                shared = self._environment(domain)
                for native in self._records(domain, Quarantine()):
                    task = self._task(domain, native, shared, Quarantine())
                    if task is not None:
                        found[domain][task.native_id] = native
            except UnreadableDomainError:
                continue
        return found

    @property
    def _golds(self) -> dict[str, Gold]:
        """Ground truths of the tasks that can be read, by id of AgentTask."""
        return {
            f"{domain}/{native_id}": gold_of(
                (native.record.value.get("evaluation_criteria") or {}).get("actions") or ()
            )
            for domain, tasks in self._native.items()
            for native_id, native in tasks.items()
        }

    def _environment(self, domain: str) -> Domain:
        if domain not in self._environments:
            self._environments[domain] = self._checkout.environment(domain)
        return self._environments[domain]


def _place(file: str, at: str, pointer: str) -> Origin:
    return Origin(file=file, pointer=f"{at}{pointer}")
