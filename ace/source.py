"""ACE-Bench as a source of audits: each instance of a file in the layout of the paper becomes one task."""

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from ace import domains, reference_format
from ace.environment.schemas import parameters
from ace.environment.tools import Kind, declare
from ace.instance import Instance
from ace.probes import candidates_of
from ace.proof.structure import structure_problems
from ace.reference_entry import Malformed, encode
from ace.reference_format import ReferenceFile
from audit.sources.base import Quarantine, Source, SourceError, Version, hash_files
from audit.sources.reading import open_binary
from taxonomy.record import Origin
from taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    ToolSpec,
    UserSpec,
)
from taxonomy.trajectory import Trajectory

INSTANCE = "ace_instance"
"""Key of a task's metadata under which the whole instance stands, in the layout of the paper's files."""

_HEAD_BYTES = 4096
_DOMAIN = re.compile(rb'"domain"\s*:\s*"([^"\\]*)"')
_WRITES = (Kind.SET_SLOT.value, Kind.DONE.value)


class AceBench(Source):
    """Reader of files in the layout of the paper, plain or packed with gzip.

    The task text is what a solver reads; the grid, the items and each slot's candidates are the state; the recorded
    solution is one ``set_slot`` per hidden slot, scored only through the grid that they leave.
    """

    name: ClassVar[str] = "ace"
    title: ClassVar[str] = "ACE-Bench"
    layout: ClassVar[str] = "a file, or a folder with files, that `agenthard ace generate` or the paper's code wrote"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a file or a folder; ``domains`` are names such as course."""
        super().__init__(root, domains)
        self._base = root if root.is_dir() else root.parent
        found = {path: _domain_in(path) for path in _files(root)}
        known = sorted({domain for domain in found.values() if domain is not None})
        if not known:
            raise SourceError(f"{root}: no ACE-Bench file here; expected {self.layout}, see docs/sources/ace.md")
        unknown = sorted(set(self.domains) - set(known))
        if unknown:
            raise SourceError(f"{root}: no domain {', '.join(unknown)}; there are: {', '.join(known)}")
        self._paths = [p for p, d in found.items() if d is not None and (not self.domains or d in self.domains)]

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether a file here starts as the layout does."""
        return any(_domain_in(path) is not None for path in _files(root))

    def version(self) -> Version:
        """Identify the files by their content."""
        return hash_files(self._base, self._paths, "ace-reference-layout")

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks, file by file; an id that another file has used is preceded by the name of its file."""
        for path, content in self._contents(quarantine):
            for id, index, instance in content:
                yield _task(id, instance, Origin(file=path, pointer=f"/instances/{index}"))

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Refuse: ACE-Bench defines no file of runs.

        Raises:
            SourceError: always; it says what can be read instead.
        """
        raise SourceError(
            f"{path}: ACE-Bench has no run files of its own; give a score table with the columns model, task_id, score "
            "(.csv or .parquet), or native JSON Lines (docs/sources/native.md)"
        )

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write each file again, unpacked, with the kept instances only; files without one are left out."""
        wanted, written = set(keep), []
        for name, content in self._contents(Quarantine()):
            kept = [instance for id, _, instance in content if id in wanted]
            if kept:
                path = out / name.removesuffix(".gz")
                path.parent.mkdir(parents=True, exist_ok=True)
                reference_format.write(path, reference_format.read(self._base / name).header, kept, len(kept))
                written.append(path)
        return written

    def _contents(self, quarantine: Quarantine) -> Iterator[tuple[str, list[tuple[str, int, Instance]]]]:
        """Yield each file's name with its instances: task id, position in the file, instance."""
        used: set[str] = set()
        for path in self._paths:
            name = path.relative_to(self._base).as_posix()
            content = _read(path, name, quarantine)
            if content is None:
                continue
            aside = {item.index for item in content.unreadable}
            for item in content.unreadable:
                reason = f"{item.reason}; mend the instance, or make it again with `agenthard ace generate`"
                quarantine.add(name, reason, pointer=f"/instances/{item.index}", task_id=item.id)
            count = len(content.instances) + len(aside)
            places = (index for index in range(count) if index not in aside)
            found: dict[str, tuple[str, int, Instance]] = {}
            for index, instance in zip(places, content.instances, strict=True):
                id = instance.id if instance.id not in used else f"{name.partition('.json')[0]}/{instance.id}"
                if instance.id in found:
                    reason = f"the id {instance.id!r} was used in this file already; give each instance its own id"
                    quarantine.add(name, reason, pointer=f"/instances/{index}", task_id=id)
                else:
                    found[instance.id] = (id, index, instance)
            used |= found.keys()
            yield name, list(found.values())


def _files(root: Path) -> list[Path]:
    if root.is_file():
        return [root]
    return sorted(path for pattern in ("*.json", "*.json.gz") for path in root.rglob(pattern) if path.is_file())


def _domain_in(path: Path) -> str | None:
    """Name of the domain that a file's first bytes state; None when it is no file of ours."""
    try:
        with open_binary(path) as stream:
            head = stream.read(_HEAD_BYTES)
    except (OSError, EOFError, zlib.error):
        return None
    found = _DOMAIN.search(head)
    return found.group(1).decode("utf-8", "replace") if found and b'"num_instances"' in head else None


def _read(path: Path, name: str, quarantine: Quarantine) -> ReferenceFile | None:
    try:
        content = reference_format.read(path)
    except (Malformed, OSError, zlib.error) as error:
        quarantine.add(name, f"cannot read the file: {error}")
        return None
    if content.header.domain not in domains.names():
        known = ", ".join(domains.names())
        quarantine.add(name, f"unknown domain {content.header.domain!r}; there are: {known}", pointer="/domain")
        return None
    return content


def _task(id: str, instance: Instance, origin: Origin) -> AgentTask:
    puzzle, entry = instance.puzzle, encode(instance)
    calls = tuple(
        ToolCall(name=Kind.SET_SLOT.value, arguments={"row": slot.row, "col": slot.col, "id": known.truth})
        for slot, known in zip(puzzle.slots, instance.answer.slots, strict=False)
    )
    parts = {
        "": "",
        "/user/turns/0/0/content": "/task_instruction",
        "/initial_state/grid": "/partial_solution",
        "/initial_state/items": "/item_pool",
        "/ground_truth": "/truth_solution",
    }
    return AgentTask(
        id=id,
        native_id=instance.id,
        benchmark=AceBench.name,
        subtask=puzzle.domain,
        user=UserSpec(kind="scripted", turns=((Message(role="user", content=puzzle.instruction),),)),
        environment=_environment(puzzle.domain),
        initial_state={
            "grid": entry["partial_solution"],
            "candidates": [[slot.row, slot.col, list(slot.candidates)] for slot in puzzle.slots],
            "items": entry["item_pool"],
        },
        evaluation=EvaluationSpec(
            checks=(Check(kind="final_state", scored=True, expected=entry["truth_solution"], pointer="/ground_truth"),)
        ),
        ground_truth=GroundTruth(semantics="reference_path", turns=(calls,), call_matching="state"),
        traits=frozenset({"redundant_calls_free"}),
        metadata={
            "hidden_slots": instance.hidden_slots,
            "decoy_budget": instance.answer.decoy_budget,
            **_candidates(instance),
            INSTANCE: entry,
        },
        origins={
            **{part: origin.model_copy(update={"pointer": origin.pointer + place}) for part, place in parts.items()},
            f"/metadata/{INSTANCE}": origin,
        },
    )


def _candidates(instance: Instance) -> dict[str, Any]:
    """The choices as the shortcut probes read them; nothing for an instance that does not hold together."""
    return {} if next(structure_problems(instance), None) else {"candidates": candidates_of(instance)}


@cache
def _environment(domain: str) -> EnvironmentSpec:
    return EnvironmentSpec(
        tools=tuple(
            ToolSpec(
                name=tool.name,
                description=tool.description,
                parameters=parameters(tool),
                effect="write" if tool.name in _WRITES else "read",
                group=domain,
            )
            for tool in declare(domains.load(domain))
        )
    )
