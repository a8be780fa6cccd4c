"""Why a run of ACE-Bench failed: what the final grid holds, and which rule it breaks."""

from dataclasses import dataclass

from agenthard.ace import domains
from agenthard.ace.instance import Instance
from agenthard.ace.rules import violations
from agenthard.taxonomy.trajectory import Trajectory

REASONS = ("stopped early", "filter picked", "decoy picked")
"""Why a run failed; the first that applies counts."""


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed run, by its final grid."""

    reason: str
    """stopped early: a slot is empty. filter picked: an item breaks a rule of its slot. decoy picked: neither, so that
    only rules of the whole grid tell."""
    rule: str
    """The first rule that the final grid breaks, in the order of the environment's check; empty if it breaks none."""
    empty: int
    """Slots without an item."""
    decoys: int
    """Slots with a decoy."""
    filters: int
    """Slots with an item that breaks a rule of its slot."""


def final_grid(instance: Instance, run: Trajectory) -> dict[tuple[int, int], str]:
    """Return what a run left in the hidden slots, by the calls of ``set_slot`` that succeeded."""
    from agenthard.ace.environment.tools import Kind

    calls = {}
    placed: dict[tuple[int, int], str] = {}
    for message in run.messages:
        for call in message.tool_calls:
            calls[call.id] = call
        if message.role != "tool" or message.tool_call_id not in calls:
            continue
        call = calls[message.tool_call_id]
        if call.name == Kind.SET_SLOT.value and _succeeded(message.content):
            try:
                cell = int(call.arguments["row"]), int(call.arguments["col"])
            except (KeyError, TypeError, ValueError):
                continue
            item = call.arguments.get("id")
            if item:
                placed[cell] = str(item)
            else:
                placed.pop(cell, None)
    hidden = {slot.cell for slot in instance.puzzle.slots}
    return {cell: item for cell, item in placed.items() if cell in hidden}


def why(instance: Instance, run: Trajectory) -> Failure | None:
    """Say why a run failed.

    Args:
        instance: the instance.
        run: the run, with its messages.

    Returns:
        The failure; None if the final grid is a solution.
    """
    placed, puzzle = final_grid(instance, run), instance.puzzle
    slots = list(zip(puzzle.slots, instance.answer.slots, strict=True))
    empty = sum(slot.cell not in placed for slot, _ in slots)
    decoys = sum(placed.get(slot.cell) in known.decoys for slot, known in slots)
    filters = sum(placed.get(slot.cell) in known.filters for slot, known in slots)
    broken = next(violations(domains.load(puzzle.domain), puzzle, puzzle.filled(placed)), None)
    if not empty and broken is None:
        return None
    reason = "stopped early" if empty else "filter picked" if filters else "decoy picked"
    return Failure(reason, broken.rule if broken else "", empty, decoys, filters)


def _succeeded(answer: str | None) -> bool:
    import json

    try:
        found = json.loads(answer or "")
    except ValueError:
        return False
    return isinstance(found, dict) and found.get("status") == "success"
