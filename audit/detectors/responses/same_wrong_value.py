"""Tasks on which models make the ground truth's call, with one and the same other value in one argument."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.model_agreement import EXEMPLARS, by_task, how_many, measured
from agenthard.audit.detectors.support.run_effects import effect_of_gold, effect_of_run
from agenthard.audit.evidence import canonical_json, quote, quote_run
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

MIN_AGREEING = 4
"""Models that give the same other value, and more of them than mostly pass."""

Field = tuple[str, str, str]
"""Tool, argument, and the value as JSON."""


class SameWrongValue(SuiteDetector):
    """Tasks whose failed runs make a call of the ground truth with one and the same other value in one argument.

    Rule: a failed run makes a call that can change something and is not refused; the ground truth has a call of the
    same tool that the run does not make, and the two differ in exactly one argument. A model counts for that argument
    and value when more than half of its scored runs fail so. At least five models have scored runs, at least four
    models agree on one argument and value, and fewer models mostly pass. What else the runs do does not matter, which
    sets it apart from ``consensus-against-gold``.

    Flagged: ten of twenty-eight models add a bag without a fee where the ground truth takes one, and one mostly passes.
    Not flagged: the same where twelve pass; models that fail with ten different values.

    When it is wrong: models share blind spots. It is a signal and drops nothing.
    """

    id = "same-wrong-value"
    title = "Models agree on another value of one argument"
    version = "1"
    category = "suspicious-score-pattern"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SIGNAL
    why = (
        "Where models fail by the same value of one argument, the request leaves it open or the ground truth is wrong."
    )
    needs_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only a ground truth of calls can be compared with what runs do."""
        return None if effect_of_gold(task) else "the ground truth has no call that can change something"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note, per model, the value by which it mostly fails, and whether it mostly passes."""
        gold = effect_of_gold(task) or ()
        scored: dict[str, list[bool]] = defaultdict(list)
        wrong: dict[str, Counter[Field]] = defaultdict(Counter)
        examples: dict[tuple[str, Field], Evidence] = {}
        for run in runs:
            effect = effect_of_run(task, run) if run.passed is not None else None
            if run.passed is None or effect is None:
                continue
            scored[run.model].append(run.passed)
            for field, line in () if run.passed else _wrong_fields(effect.lines, gold):
                wrong[run.model][field] += 1
                if (run.model, field) not in examples:
                    shown = quote_run(run, effect.places[line], note=f"{run.model}, trial {run.trial}")
                    examples[run.model, field] = shown
        for model, verdicts in sorted(scored.items()):
            fields = sorted(field for field, times in wrong[model].items() if 2 * times > len(verdicts))
            evidence = [examples[model, field] for field in fields]
            value = {"passes": 2 * sum(verdicts) > len(verdicts), "fields": fields}
            whole = (quote(task, "/ground_truth/turns", note="the ground truth"),) if fields else ()
            yield Observation(task_id=task.id, key=model, value=value, evidence=(*evidence, *whole))

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one signal per task and argument on which more models agree than pass."""
        tasks, undecided = by_task(observations)
        yield from undecided
        for task, items in tasks.items():
            passing = sum(item.value["passes"] for item in items)
            agreeing: dict[Field, list[tuple[Observation, Evidence]]] = defaultdict(list)
            for item in items:
                for (tool, name, value), shown in zip(item.value["fields"], item.evidence, strict=False):
                    agreeing[tool, name, value].append((item, shown))
            if not agreeing:
                continue
            field, group = min(agreeing.items(), key=lambda pair: (-len(pair[1]), pair[0]))
            if len(group) >= MIN_AGREEING and len(group) > passing:
                yield Conclusion(task_ids=(task,), hit=_hit(task, field, group, len(items), passing))


def _wrong_fields(done: Sequence[str], gold: Sequence[str]) -> Iterator[tuple[Field, str]]:
    """Yield the argument in which a call differs from a missing call of the ground truth, and the call."""
    missing = [line for line in gold if line not in done]
    seen: set[Field] = set()
    for line in sorted({*done} - {*gold}):
        tool, _, text = line.partition(" ")
        given = json.loads(text)
        for other in missing:
            other_tool, _, other_text = other.partition(" ")
            differing = _differing(given, json.loads(other_text)) if other_tool == tool else []
            if len(differing) == 1:
                field = tool, differing[0], canonical_json(given.get(differing[0]))
                if field not in seen:
                    seen.add(field)
                    yield field, line


def _differing(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]


def _hit(task: str, field: Field, group: Sequence[tuple[Observation, Evidence]], models: int, passing: int) -> Hit:
    tool, name, value = field
    shown = value if len(value) <= 120 else f"{value[:119]}…"
    return Hit(
        claim=f"On task {task} {how_many(len(group), models)} mostly fail with {name} = {shown} in a call of {tool} "
        f"that is otherwise the ground truth's; {passing} mostly pass.",
        fix="Let the user say the value, or check whether the ground truth's is what user and policy ask for.",
        cause=f"task {task}",
        evidence=(*(run for _, run in group[:EXEMPLARS]), group[0][0].evidence[-1]),
        measures=measured(len(group), models, passing),
    )
