"""Makes one instance: draws it, proves it, and draws it again where a condition is missed."""

import hashlib
from collections import Counter

import numpy as np

from ace.generator.assemble import assemble
from ace.generator.decoys import draw_decoys
from ace.generator.errors import GenerationFailed, Unmet
from ace.generator.filters import draw_filters
from ace.generator.parameters import Cell, Parameters
from ace.generator.preference import Preference
from ace.generator.scaffold import Scaffold, draw_scaffold
from ace.generator.space import space
from ace.generator.thresholds import draw_thresholds
from ace.instance import Instance

GENERATOR = "agenthard-ace 1"


def make(parameters: Parameters, cell: Cell) -> Instance:
    rng = instance_rng(parameters, cell)
    missed: Counter[str] = Counter()
    for attempt in range(1, parameters.attempts + 1):
        try:
            return _attempt(rng, parameters, cell, attempt)
        except Unmet as error:
            missed[str(error)] += 1
    raise GenerationFailed(str(missed))


def _attempt(rng, parameters, cell, attempt):
    scaffold = draw_scaffold(rng, space(cell.domain, parameters.rows), parameters.rows, parameters.cols, cell.hidden_slots, cell.decoy_budget)
    limits, slack = draw_thresholds(rng, scaffold)
    slots = draw_decoys(rng, scaffold, slack, parameters.preference_attempts)
    if parameters.coupling:
        from ace.generator.coupling import couple
        couple(rng, scaffold, limits, slack, slots)
    K = parameters.candidates_for(cell.hidden_slots, cell.decoy_budget)
    filters = {i: draw_filters(rng, scaffold.space, f.box, K - 1 - f.decoys) for i, f in enumerate(scaffold.slots)}
    stages = {}
    pref = Preference(scaffold, slack)
    for s in slots:
        stages[s.slot] = int(pref.levels(s.slot, s.decoys).max()) if s is not slots[-1] else 4
        pref.extend(s.decoys)
    puzzle, answer = assemble(rng, f"{cell.domain}_r{parameters.rows}_c{parameters.cols}_h{cell.hidden_slots}_b{cell.decoy_budget}", scaffold, K, limits,
        {s.slot: s.items[s.chosen] for s in slots}, filters, stages)
    return Instance(puzzle, answer)


def instance_rng(parameters, cell):
    text = f"{parameters.seed}/{parameters.rows}x{parameters.cols}/{cell.domain}/{cell.hidden_slots}/{cell.decoy_budget}/{cell.index}"
    return np.random.Generator(np.random.PCG64(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big")))
