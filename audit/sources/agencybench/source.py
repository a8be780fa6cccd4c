"""The source: AgencyBench's descriptions as agent tasks, its runs, its splits in its own layout."""

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.sources.agencybench.figures import figures
from agenthard.audit.sources.agencybench.layout import (
    DESCRIPTION,
    SUBTASK,
    Member,
    Scenario,
    count_subtasks,
    find_scenarios,
    members,
)
from agenthard.audit.sources.agencybench.runs import read_run_files
from agenthard.audit.sources.agencybench.tasks import build_task
from agenthard.audit.sources.base import FigureTable, NotRead, Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class AgencyBench(Source):
    """Reader of AgencyBench. A domain is a capability (``Game``); a task is a ``subtaskN`` of a scenario."""

    name = "agencybench"
    title = "AgencyBench"
    layout = "CAPABILITY/scenarioN/description.json, in a checkout or in its folder AgencyBench-v2"

    split_use = (
        "Copy `native/` over a checkout of AgencyBench: each `description.json` takes the place of the original one. "
        "Everything else of a scenario (its `eval_task.py`, workspaces, reference files) comes from the checkout; a "
        "scenario that has no description here has no task in the split."
    )

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a checkout.

        Args:
            root: the folder that holds the capabilities, or one above it.
            domains: capabilities to read; empty means all.

        Raises:
            SourceError: No scenarios, or a capability is unknown.
        """
        super().__init__(root, domains)
        found = find_scenarios(root)
        if not found:
            raise SourceError(f"{root}: no scenarios of AgencyBench here; expected {self.layout}")
        self._all = found
        known = sorted({scenario.capability for scenario in found})
        unknown = sorted(set(domains) - set(known))
        if unknown:
            raise SourceError(f"unknown capability: {', '.join(unknown)}; this copy has: {', '.join(known)}")
        self._scenarios = [scenario for scenario in found if not domains or scenario.capability in domains]

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether scenario folders with descriptions are under ``root``."""
        return bool(find_scenarios(root))

    def version(self) -> Version:
        """Identify the descriptions read by their content."""
        return hash_files(self.root, [scenario.file for scenario in self._scenarios], "AgencyBench V2")

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks scenario by scenario, in the order of their numbers."""
        for scenario in self._scenarios:
            yield from self._scenario_tasks(scenario, quarantine)

    def known_files(self) -> list[Path]:
        """Return the descriptions of all scenarios."""
        return [scenario.file for scenario in self._all]

    def not_read(self) -> list[NotRead]:
        """Name the capabilities that the user did not choose, and descriptions outside ``CAPABILITY/scenarioN``."""
        found = list(super().not_read())
        known = {scenario.file for scenario in self._all}
        for path in sorted(self.root.rglob(DESCRIPTION)):
            count = None if path in known else count_subtasks(path)
            if count:
                reason = f"a description outside the layout {self.layout}; move it there"
                name = path.relative_to(self.root).as_posix()
                found.append(NotRead(file=name, tasks=count, reason=reason, left_out=bool(self.domains)))
        return found

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream the attempts in a ``meta_eval.json``, or in all of them below a folder."""
        known = {task.id: task for task in self.read_tasks()[0]}
        return read_run_files(path, known, self.domains, quarantine)

    def figures(self, runs: Iterable[Trajectory]) -> Sequence[FigureTable]:
        """Return scores, attempts and passes in their readings, and how many attempts hold no work."""
        return figures(runs)

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the descriptions with the entries in ``keep``, byte-identical, each under its own name.

        ``subtask_count`` becomes the number of kept entries; a scenario without a kept task gets no file.

        Raises:
            SourceError: when an id is unknown.
        """
        wanted, written = set(keep), []
        for scenario in self._scenarios:
            ids = {task.id for task in self._scenario_tasks(scenario, Quarantine())}
            chosen = [m for m in self._members(scenario, Quarantine()) if _kept(scenario, m, wanted & ids)]
            wanted -= ids
            count = sum(bool(SUBTASK.fullmatch(member.name)) for member in chosen)
            if count:
                target = out / scenario.capability / scenario.name / DESCRIPTION
                target.parent.mkdir(parents=True, exist_ok=True)
                lines = [_counted(member, count) for member in chosen]
                target.write_bytes(("{\n  " + ",\n  ".join(lines) + "\n}\n").encode())
                written.append(target)
        if wanted:
            raise SourceError(f"no such task in {self.root}: {', '.join(sorted(wanted)[:5])}")
        return written

    def _scenario_tasks(self, scenario: Scenario, quarantine: Quarantine) -> Iterator[AgentTask]:
        found = self._members(scenario, quarantine)
        entries = {int(match[1]): m for m in found if (match := SUBTASK.fullmatch(m.name))}
        extras = {m.name: m.value for m in found if not SUBTASK.fullmatch(m.name)}
        for number in sorted(set(entries) | set(_announced(extras))):
            task_id = f"{scenario.id}/subtask{number}"
            if number not in entries:
                reason = f"subtask_count announces subtask{number}, which is missing; add it or lower the count"
                quarantine.add(self._name(scenario), reason, pointer="/subtask_count", task_id=task_id)
                continue
            try:
                value = entries[number].value
                require_shallow([value, extras])
                yield build_task(scenario, self._name(scenario), number, value, extras)
            except MalformedRecordError as error:
                pointer = f"/subtask{number}{error.pointer}"
                quarantine.add(self._name(scenario), str(error), pointer=pointer, task_id=task_id)

    def _members(self, scenario: Scenario, quarantine: Quarantine) -> list[Member]:
        try:
            found = members(read_text(scenario.file))
            json.dumps([m.value for m in found], ensure_ascii=False).encode()
        except (OSError, ValueError, RecursionError) as error:
            reason = f"cannot be read: {error}; fix the file, none of its tasks were read"
            quarantine.add(self._name(scenario), reason)
            return []
        if not any(SUBTASK.fullmatch(m.name) for m in found):
            quarantine.add(self._name(scenario), "holds no subtask1, subtask2 ...; is this another benchmark's file?")
        return found

    def _name(self, scenario: Scenario) -> str:
        return scenario.file.relative_to(self.root).as_posix()


def _announced(extras: dict[str, Any]) -> range:
    count = extras.get("subtask_count")
    return range(1, count + 1) if isinstance(count, int) and 0 <= count <= 1000 else range(0)


def _kept(scenario: Scenario, member: Member, wanted: set[str]) -> bool:
    return not SUBTASK.fullmatch(member.name) or f"{scenario.id}/{member.name}" in wanted


def _counted(member: Member, count: int) -> str:
    return f'"subtask_count": {count}' if member.name == "subtask_count" else member.raw
