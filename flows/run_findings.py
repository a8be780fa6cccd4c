"""The findings of a run folder as the command line lists them: with component, place, decisions, and filters."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.decisions.suppressions import SuppressedFinding
from agenthard.audit.native_text import LARGEST_LOG, NativeFiles, run_file
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.audited_run import led_by_findings, read_decisions, read_report
from agenthard.flows.errors import CommandError
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.finding import Evidence, Finding, NativeText
from agenthard.taxonomy.record import Record


class Quote(Record):
    """One quote of a finding in the words of the benchmark's file, or of the run log that it is from."""

    file: str
    """File, as it opens from the current folder; empty when unknown."""
    line: int | None
    """1-based line; None when unknown."""
    pointer: str
    """JSON Pointer in that file where the quote is native text; else into our record of the task or run."""
    text: str
    """The quoted text."""
    task_id: str
    """Task that it belongs to."""
    trajectory_id: str | None
    """Run that it is from; None for the task itself."""
    note: str
    """What it shows."""
    native: NativeText | None = Field(default=None, exclude=True)
    """The place in the benchmark's file, where it is known."""

    @property
    def place(self) -> str:
        """File and line as ``file:line``; empty when unknown."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


class ListedFinding(Record):
    """A finding with what a list shows of it."""

    finding: Finding
    """The finding."""
    component: str
    """Part of the task that its category belongs to; empty for a category of the user's own."""
    quotes: tuple[Quote, ...]
    """Its evidence, with places."""
    decisions: dict[str, tuple[str, ...]]
    """Tasks by decision, of those decisions that the finding led to."""
    ticket: bool = False
    """Whether it is a cause that tasks share, listed for the maintainers of the benchmark."""

    @property
    def led_to(self) -> str:
        """The decisions with their numbers of tasks, in words."""
        counts = [f"{action} {len(tasks):,}" for action, tasks in self.decisions.items() if action != "keep"]
        return ", ".join([*counts, *(["ticket"] if self.ticket else [])]) or "keep"

    @property
    def place(self) -> str:
        """File and line of the first quote that has one."""
        return next((quote.place for quote in self.quotes if quote.file), "")

    @property
    def tasks(self) -> str:
        """How many tasks are affected, in words."""
        count = len(self.finding.task_ids)
        return f"{count:,} task{'' if count == 1 else 's'}"


class RunFindings:
    """The findings of one run folder; its files are read once."""

    def __init__(self, run: Path) -> None:
        """Read the findings.

        Raises:
            CommandError: when the folder holds no finished audit.
        """
        self.run = run
        self.document = read_report(run)
        self.findings = [Finding.model_validate(item) for item in self.document["findings"]]
        self._components = {item.id: str(item.component) for item in load_taxonomy().categories}
        self._places: Mapping[str, Sequence[Mapping[str, Any] | None]] = self.document.get("places", {})

    @cached_property
    def suppressed(self) -> list[SuppressedFinding]:
        """Findings, or parts of findings, that the user has accepted until a day."""
        return list(map(SuppressedFinding.model_validate, self.document.get("suppressed", ())))

    def find(self, identity: str) -> Finding | None:
        """Return the finding with an id, a suppressed one too; None where there is none."""
        every = (*self.findings, *(each.finding for each in self.suppressed))
        return next((finding for finding in every if finding.id == identity), None)

    @property
    def ids(self) -> list[str]:
        """Ids that `agenthard show` knows: findings, suppressed ones too, and tasks."""
        suppressed = (each.finding.id for each in self.suppressed)
        return [*(each.id for each in self.findings), *suppressed, *(each.task_id for each in self.decisions)]

    @cached_property
    def decisions(self) -> list[Decision]:
        """The decisions, in the benchmark's order."""
        return read_decisions(self.run)

    @cached_property
    def _led_to(self) -> dict[str, dict[str, list[str]]]:
        found: dict[str, dict[str, list[str]]] = {}
        for task_id, action, identities in led_by_findings(self.run):
            for identity in identities:
                found.setdefault(identity, {}).setdefault(action, []).append(task_id)
        return found

    @cached_property
    def tickets(self) -> list[str]:
        """Ids of the findings that are causes which tasks share, in the order of the tickets."""
        return [ticket["finding_id"] for ticket in self.document.get("tickets", ())]

    @cached_property
    def _ticketed(self) -> frozenset[str]:
        return frozenset(self.tickets)

    def listed(self, finding: Finding) -> ListedFinding:
        """Describe one finding."""
        places = self._places.get(finding.id, ())
        quotes = [self._quote(item, place) for item, place in zip(finding.evidence, places, strict=False)]
        led_to = self._led_to.get(finding.id, {})
        return ListedFinding(
            finding=finding,
            component=self._components.get(finding.category, ""),
            quotes=tuple(quotes),
            decisions={action: tuple(tasks) for action, tasks in sorted(led_to.items())},
            ticket=finding.id in self._ticketed,
        )

    def choose(
        self,
        *,
        checks: Sequence[str] = (),
        components: Sequence[str] = (),
        tiers: Sequence[str] = (),
        severities: Sequence[str] = (),
        actions: Sequence[str] = (),
        tasks: Sequence[str] = (),
    ) -> list[ListedFinding]:
        """Choose findings; nothing named means all, several values of one kind mean any of them.

        Raises:
            CommandError: when a check or a task does not exist in the audit.
        """
        _require("check", checks, [check["id"] for check in self.document["checks"]], "`agenthard checks` lists them")
        if tasks:
            _require("task", tasks, [decision.task_id for decision in self.decisions], f"{self.run}/tables has them")
        return [
            listed
            for listed in map(self.listed, self.findings)
            if (not checks or listed.finding.check in checks)
            and (not components or listed.component in components)
            and (not tiers or listed.finding.tier in tiers)
            and (not severities or listed.finding.severity in severities)
            and (not actions or not listed.decisions.keys().isdisjoint(actions))
            and (not tasks or not {*listed.finding.task_ids, *listed.finding.also_in}.isdisjoint(tasks))
        ]

    def _quote(self, item: Evidence, place: Mapping[str, Any] | None) -> Quote:
        native = item.native
        file, line = (place["file"], place["line"]) if place else ("", None)
        return Quote(
            file=self.opened(file, of_run=item.trajectory_id is not None) if file else "",
            line=line,
            pointer=native.pointer if native else item.pointer,
            text=native.text if native else item.quote,
            task_id=item.task_id,
            trajectory_id=item.trajectory_id,
            note=item.note,
            native=native,
        )

    def around(self, quote: Quote) -> tuple[str, str]:
        """Return what is before and after a quote in the benchmark's file; nothing where the file does not have it."""
        if quote.native is None:
            return "", ""
        return (self._files if quote.trajectory_id is None else self._logs).around(quote.native)

    @cached_property
    def _files(self) -> NativeFiles:
        return NativeFiles(lambda name: Path(self.opened(name)))

    @cached_property
    def _logs(self) -> NativeFiles:
        return NativeFiles(run_file(self._run_folders), LARGEST_LOG)

    def opened(self, file: str, *, of_run: bool = False) -> str:
        """Return the path under which a file opens from the current folder; where it is gone, its name in the audit."""
        for base in self._run_folders if of_run else self._benchmark_folders:
            if (base / file).is_file():
                path = Path(os.path.abspath(base / file))
                return (path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path).as_posix()
        return file

    @cached_property
    def settings(self) -> AuditSettings | None:
        """What was audited and how; None when ``work/`` was deleted."""
        path = self.run / "work" / "settings.json"
        return AuditSettings.model_validate_json(path.read_bytes()) if path.is_file() else None

    @cached_property
    def _benchmark_folders(self) -> list[Path]:
        # A source may read files above the folder that was named, so that its files are relative to one above.
        path = Path(self.settings.path) if self.settings else Path()
        return [path, *path.parents[:3]]

    @cached_property
    def _run_folders(self) -> list[Path]:
        paths = [Path(path) for path in self.settings.runs] if self.settings else []
        return [path if path.is_dir() else path.parent for path in paths]


def _require(what: str, wanted: Iterable[str], known: Sequence[str], where: str) -> None:
    known_set = set(known)
    for each in wanted:
        if each not in known_set:
            raise CommandError(f"the audit has no {what} {each!r}{did_you_mean(each, known)}; {where}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest known word, in brackets after a space; empty where none is near."""
    from rapidfuzz import process

    match = process.extractOne(word, list(known), score_cutoff=70)
    return f" (did you mean {match[0]}?)" if match else ""
