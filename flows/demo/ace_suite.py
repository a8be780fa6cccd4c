"""Write the demo's ACE-Bench suite: generated and proved, then some instances made wrong, with the answer key."""

import json
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from agenthard.ace import reference_format
from agenthard.ace.generator import Parameters, generate
from agenthard.ace.instance import Instance
from agenthard.ace.reference_entry import encode
from agenthard.flows.demo.ace_flaws import ACE_FLAWS, AceFlaw, Entry
from agenthard.flows.demo.benchmark import ANSWER_KEY, KeyEntry

SUITE = Parameters(
    rows=4,
    cols=5,
    hidden_slots=(2, 4),
    decoy_budgets=(2, 4, 6),
    candidates=10,
    per_cell=2,
    domains=("course", "meal", "travel"),
    seed=7,
)
"""Parameters of the suite: small, with a separate instance for each flaw."""
AGENTS = (
    "solver",
    "solver+forgetting:0.02",
    "solver+arithmetic:0.1",
    "solver+early-stop:0.05",
    "solver+hallucination:0.2",
    "look-ahead",
    "filter-check",
    "slot-filter",
    "random",
)
"""Agents that play it."""
TRIALS = 2
"""Episodes per agent and instance."""


def write_ace_demo(out: Path, flawed: bool = True) -> tuple[KeyEntry, ...]:
    """Write one file per domain in the layout of the paper, and the answer key; the bytes are always the same.

    Args:
        out: Folder to write; it is created, and files of an earlier demo are replaced.
        flawed: False writes the sound suite, with an empty key.

    Returns:
        The seeded flaws.
    """
    out.mkdir(parents=True, exist_ok=True)
    key: list[KeyEntry] = []
    for number, name in enumerate(SUITE.domains):
        instances = list(generate(SUITE.model_copy(update={"domains": (name,)})))
        flaws = ACE_FLAWS[number :: len(SUITE.domains)] if flawed else ()
        entries: list[Entry] = []
        for instance, flaw in zip_longest(instances, flaws):
            entries += _entries(instance, flaw)
            if flaw is not None:
                key.append(_key_entry(instance, flaw))
        header = SUITE.header(name)
        path = out / header.filename(SUITE.seed)
        reference_format.write(path, header, instances, len(instances))
        content = json.loads(path.read_bytes()) | {"num_instances": len(entries), "instances": entries}
        path.write_text(json.dumps(content, indent=2), encoding="ascii", newline="\n")
    lines = (entry.model_dump_json() + "\n" for entry in key)
    (out / ANSWER_KEY).write_text("".join(lines), encoding="utf-8", newline="\n")
    return tuple(key)


def _entries(instance: Instance, flaw: AceFlaw | None) -> list[Entry]:
    """Return the entries of an instance: changed, or the original and its changed copy."""
    if flaw is None:
        return [encode(instance)]
    changed = flaw.apply(instance)
    if flaw.copied:
        changed = replace(changed, puzzle=replace(changed.puzzle, id=_copy_id(instance)))
    entry = encode(changed)
    flaw.damage(entry)
    return [encode(instance), entry] if flaw.copied else [entry]


def _key_entry(instance: Instance, flaw: AceFlaw) -> KeyEntry:
    ids = (instance.id, _copy_id(instance)) if flaw.copied else (instance.id,)
    return KeyEntry(check=flaw.check, category=flaw.category, cause=instance.id, task_ids=ids, change=flaw.change)


def _copy_id(instance: Instance) -> str:
    return f"{instance.id}_again"
