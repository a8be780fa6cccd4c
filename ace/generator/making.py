"""Makes one instance: draws it, proves it, and draws it again where a condition is missed."""

import hashlib
from dataclasses import replace

import numpy as np

from agenthard.ace.errors import GenerationError, UnmetConditionError
from agenthard.ace.generator.assemble import assemble
from agenthard.ace.generator.coupling import couple
from agenthard.ace.generator.decoys import draw_decoys
from agenthard.ace.generator.filters import draw_filters
from agenthard.ace.generator.parameters import Cell, Parameters
from agenthard.ace.generator.preference import recorded_stages
from agenthard.ace.generator.scaffold import draw_scaffold
from agenthard.ace.generator.space import load_space
from agenthard.ace.generator.thresholds import draw_thresholds
from agenthard.ace.instance import Instance, Provenance
from agenthard.ace.proof.plan import find_plan
from agenthard.ace.proof.verify import certified, verify

GENERATOR = "agenthard-ace 1"
"""Name and version: another version may make other instances from the same parameters."""
COUPLED_GENERATOR = "agenthard-ace 1, coupling 3"
"""The same for instances whose decoys are coupled."""


def generator_of(parameters: Parameters) -> str:
    """Return the name and version of what makes a suite."""
    return COUPLED_GENERATOR if parameters.coupling else GENERATOR


def make(parameters: Parameters, cell: Cell) -> Instance:
    """Makes the instance of a cell, with a certificate that its solution is the only one.

    Args:
        parameters: The suite.
        cell: Which of its instances.

    Returns:
        The instance; the same whenever the arguments are.

    Raises:
        GenerationError: No attempt met every condition; the message says which ones were missed.
    """
    rng = _rng(parameters.seed, cell)
    misses: list[UnmetConditionError] = []
    for attempt in range(1, parameters.attempts + 1):
        try:
            instance = _prove(_draw(rng, parameters, cell))
        except UnmetConditionError as unmet:
            misses.append(unmet)
            continue
        made = Provenance(
            generator=generator_of(parameters),
            seed=parameters.seed,
            index=cell.number,
            candidates=parameters.candidates,
            coupling=parameters.coupling,
            preference_attempts=parameters.preference_attempts,
            attempts=attempt,
        )
        if parameters.query_plans and instance.certificate is not None:
            plan = find_plan(instance)
            instance = replace(instance, certificate=replace(instance.certificate, plan=plan))
        return replace(instance, provenance=made)
    raise GenerationError(_failure(cell, misses))


def _draw(rng: np.random.Generator, parameters: Parameters, cell: Cell) -> Instance:
    rows, cols = parameters.rows, parameters.cols
    candidates = parameters.candidates_for(cell.hidden_slots, cell.decoy_budget)
    scaffold = draw_scaffold(rng, load_space(cell.domain, rows), rows, cols, cell.hidden_slots, cell.decoy_budget)
    limits, slack = draw_thresholds(rng, scaffold)
    slots = draw_decoys(rng, scaffold, slack, parameters.preference_attempts)
    if parameters.coupling:
        couple(rng, scaffold, limits, slack, slots)
    filters = {
        index: draw_filters(rng, scaffold.space, slot.box, candidates - 1 - slot.decoys)
        for index, slot in enumerate(scaffold.slots)
    }
    decoys = {slot.slot: slot.items[slot.chosen] for slot in slots}
    stages = recorded_stages(scaffold, slack, {slot.slot: slot.decoys for slot in slots})
    name = f"{cell.domain}_r{rows}_c{cols}_h{cell.hidden_slots}_b{cell.decoy_budget}"
    id = f"{name}_i{cell.number}" if cell.number else name
    return Instance(*assemble(rng, id, scaffold, candidates, limits, decoys, filters, stages))


def _prove(instance: Instance) -> Instance:
    report = verify(instance)
    if not report.ok:
        raise UnmetConditionError("proof", report.problems[0].message)
    return certified(instance, report)


def _rng(seed: int, cell: Cell) -> np.random.Generator:
    text = f"{seed}/{cell.domain}/{cell.hidden_slots}/{cell.decoy_budget}/{cell.number}"
    return np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")))


def _failure(cell: Cell, misses: list[UnmetConditionError]) -> str:
    by_condition: dict[str, list[UnmetConditionError]] = {}
    for miss in misses:
        by_condition.setdefault(miss.condition, []).append(miss)
    reasons = "; ".join(
        f"{condition} missed {len(each)} times, at last because {each[-1].detail}"
        for condition, each in by_condition.items()
    )
    return (
        f"{cell.domain} with H = {cell.hidden_slots}, B = {cell.decoy_budget}, number {cell.number}: "
        f"none of {len(misses)} attempts met every condition ({reasons}). "
        "Use a smaller decoy budget, another seed, or more attempts."
    )
