"""An instance as an audited task, with the place of each of its parts in the files of either format."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from agenthard.ace import domains
from agenthard.ace.environment.schemas import parameters
from agenthard.ace.environment.tools import Kind, declare
from agenthard.ace.instance import Instance
from agenthard.ace.probes import candidates_of
from agenthard.ace.proof.structure import structure_problems
from agenthard.ace.reference_entry import encode
from agenthard.audit.sources.formats.suite.places import origins_of
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import (
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

INSTANCE = "ace_instance"
"""Key of a task's metadata that holds the whole instance, in the layout of the paper's files."""

_WRITES = (Kind.SET_SLOT.value, Kind.DONE.value)
_TEXT, _GRID, _ITEMS = "/user/turns/0/0/content", "/initial_state/grid", "/initial_state/items"
_PUBLIC = {
    "instance_id": "/id",
    "global_constraints": "/limits",
    "item_pool": "/items",
    "partial_solution": "/grid",
    "task_instruction": "/instruction",
}
_PUBLIC_OF_SLOT = {"slot_constraints": "limits", "candidate_ids": "candidates"}
_PRIVATE_OF_SLOT = {
    "truth_id": "truth",
    "decoy_ids": "decoys",
    "filter_candidate_ids": "filters",
    "decoy_generation_final_stage": "stage",
}


def task_of(benchmark: str, id: str, instance: Instance, origins: dict[str, Origin]) -> AgentTask:
    """Makes a task of an instance.

    Args:
        benchmark: Name of the source.
        id: Id of the task.
        instance: The instance.
        origins: The place of its parts: ``reference_origins`` or ``suite_origins``.

    Returns:
        The task: its text is what a solver reads, the state is grid, items and candidates, and the ground truth is one
        ``set_slot`` per slot, scored only through the grid that they leave.
    """
    puzzle, entry = instance.puzzle, encode(instance)
    calls = tuple(
        ToolCall(name=Kind.SET_SLOT.value, arguments={"row": slot.row, "col": slot.col, "id": known.truth})
        for slot, known in zip(puzzle.slots, instance.answer.slots, strict=False)
    )
    return AgentTask(
        id=id,
        native_id=instance.id,
        benchmark=benchmark,
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
        origins=origins,
    )


def reference_origins(file: str, index: int) -> dict[str, Origin]:
    """Returns where the parts of a task are in a file in the layout of the paper.

    Args:
        file: Name of the file.
        index: Position of the instance in its list, from 0.

    Returns:
        Origin by pointer into the task.
    """
    places = {
        "": "",
        _TEXT: "/task_instruction",
        _GRID: "/partial_solution",
        _ITEMS: "/item_pool",
        "/ground_truth": "/truth_solution",
        f"/metadata/{INSTANCE}": "",
    }
    return {part: Origin(file=file, pointer=f"/instances/{index}{place}") for part, place in places.items()}


def suite_origins(files: tuple[str, str], index: int, slots: int, lines: bool) -> dict[str, Origin]:
    """Returns where the parts of a task are in a suite in our own format.

    Args:
        files: Names of the public and of the private part.
        index: Position of the instance in the suite, from 0.
        slots: How many slots it has.
        lines: True in JSON lines, where the instance has a line of each file. In Parquet it has a row, and pointers
            are into the file as the list of what its column ``record`` holds.

    Returns:
        Origin by pointer into the task.
    """
    public, private = files
    places = {part: (public, place) for part, place in _public_places(slots)}
    return origins_of(places | {part: (private, place) for part, place in _private_places(slots)}, index, lines)


def _public_places(slots: int) -> Iterator[tuple[str, str]]:
    yield from (("", ""), (_TEXT, "/instruction"), (_GRID, "/grid"), (_ITEMS, "/items"))
    yield from ((f"/metadata/{INSTANCE}/{part}", place) for part, place in _PUBLIC.items())
    for slot in range(slots):
        for part, place in _PUBLIC_OF_SLOT.items():
            yield f"/metadata/{INSTANCE}/slots/{slot}/{part}", f"/slots/{slot}/{place}"


def _private_places(slots: int) -> Iterator[tuple[str, str]]:
    yield "/ground_truth", "/answer/solution"
    yield f"/metadata/{INSTANCE}/truth_solution", "/answer/solution"
    for slot in range(slots):
        for part, place in _PRIVATE_OF_SLOT.items():
            yield f"/metadata/{INSTANCE}/slots/{slot}/{part}", f"/answer/slots/{slot}/{place}"


def _candidates(instance: Instance) -> dict[str, Any]:
    """The choices as the shortcut probes read them; nothing for an inconsistent instance."""
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
