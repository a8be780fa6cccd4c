"""The shortcut probes, all of them, on one benchmark: which traits give answers away that have to be worked out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from itertools import chain

import numpy as np

from agenthard.audit.probes.attributes import attribute_probes, summary_probes
from agenthard.audit.probes.candidates import Scene
from agenthard.audit.probes.learned import learned_probes
from agenthard.audit.probes.learned_ahead import learned_look_ahead
from agenthard.audit.probes.likeness import duplicate_probes, likeness_probes, mention_probes
from agenthard.audit.probes.measure import Measure, holm, measure
from agenthard.audit.probes.order import id_probes, order_probes, pool_probes, settled_places
from agenthard.audit.probes.plausible import consistency_probes, limit_probes, range_probes
from agenthard.audit.probes.probe import Probe
from agenthard.audit.probes.report import LookAhead, ProbeReport, ProbeResult, Scope
from agenthard.audit.probes.table import Table


def run_battery(scenes: Sequence[Scene], seed: int = 0) -> ProbeReport:
    """Run every probe on the candidates of a benchmark.

    Each is measured in two scopes. ``all``: over all candidates, against one in K; attributes that a stated rule of
    the choice limits are left out there, because a rule may tell the truth. ``survivors``: over the candidates that
    meet the rules of their choice, against one in their number, where at least one rival is left. Without rules there
    is only the first. p-values are adjusted over all probes and scopes together (Holm).

    Look-ahead scores, where the benchmark gives them, are measured too and are not shortcuts: they read the rules.

    Args:
        scenes: the tasks with their candidates.
        seed: seed of the learned probes.

    Returns:
        All results, the same for the same input and seed.
    """
    whole = Table.build(scenes)
    tables: dict[Scope, Table] = {"all": whole.hide_ruled()}
    if whole.ruled.any():
        tables["survivors"] = whole.keep(whole.allowed & whole.ruled)
    results = [
        _result(scope, table, probe, measured)
        for scope, table in tables.items()
        if len(table)
        for probe in _probes(table, whole, seed)
        if (measured := measure(table, probe.score)) is not None
    ]
    adjusted = holm([result.p for result in results])
    contested = tables.get("survivors", whole)
    return ProbeReport(
        scenes=len(scenes),
        choices=len(whole.sizes),
        contested=len(contested.sizes),
        chance_all=_guess(whole),
        chance_survivors=_guess(contested),
        truth_breaks_rules=int((~whole.allowed & whole.truth).sum()),
        seed=seed,
        results=tuple(r.model_copy(update={"p_holm": p}) for r, p in zip(results, adjusted, strict=True)),
        look_ahead=tuple(_look_ahead(contested, seed)),
    )


def _result(scope: Scope, table: Table, probe: Probe, measured: Measure) -> ProbeResult:
    """Build the result of a measure with its texts; its p is not adjusted yet."""
    held = measured.held.tolist()
    figures = {field.name: getattr(measured, field.name) for field in fields(measured) if field.name != "held"}
    return ProbeResult(
        id=probe.id,
        family=probe.family,
        trait=probe.trait,
        scope=scope,
        says=probe.says,
        detail=probe.detail,
        p_holm=measured.p,
        examples=tuple(table.names[number] for number in held[:3]),
        tasks=tuple(dict.fromkeys(table.names[number][0] for number in sorted(held))),
        **figures,
    )


def _probes(table: Table, whole: Table, seed: int) -> Iterator[Probe]:
    ids, pool = list(id_probes(table)), list(pool_probes(table))
    summary, limits, likeness = list(summary_probes(table)), list(limit_probes(table)), list(likeness_probes(table))
    return chain(
        order_probes(table, settled_places(whole)[table.origin]),
        ids,
        pool,
        attribute_probes(table),
        summary,
        mention_probes(table),
        range_probes(table),
        consistency_probes(table),
        limits,
        likeness,
        duplicate_probes(table, whole),
        learned_probes(table, [*ids, *pool], [*summary, *likeness, *limits], np.random.default_rng(seed)),
    )


def _look_ahead(table: Table, seed: int) -> Iterator[LookAhead]:
    """Measure the look-ahead scores over all scenes, and by group: those stated, then those learned."""
    learned = learned_look_ahead(table, np.random.default_rng(seed))
    table = replace(table, look_ahead=table.look_ahead | learned)
    groups = np.array([table.scenes[number].group for number in table.scene], dtype=str)
    for way, scores in table.look_ahead.items():
        for group in ("", *sorted(set(groups.tolist()) - {""}, key=natural)):
            part = table if not group else table.keep(groups == group)
            best = scores if not group else part.look_ahead[way]
            result = measure(part, best) if len(part) else None
            if result is not None:
                yield LookAhead(
                    way=way,
                    group=group,
                    n=result.choices,
                    accuracy=result.accuracy,
                    low=result.low,
                    high=result.high,
                    guess=result.guess,
                )


def natural(text: str) -> list[tuple[int, int, str]]:
    """Sort key in which numbers inside text count as numbers.

    >>> sorted(["B = 15", "B = 2"], key=natural)
    ['B = 2', 'B = 15']
    """
    return [(0, int(part[:15]), "") if part.isdecimal() else (1, 0, part) for part in re.split(r"(\d+)", text)]


def _guess(table: Table) -> float:
    return float(np.mean(1 / table.sizes)) if len(table) else 0.0
