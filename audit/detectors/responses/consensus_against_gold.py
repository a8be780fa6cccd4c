"""Tasks on which models agree with one another, and not with the ground truth."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.model_agreement import EXEMPLARS, by_task, how_many, measured
from agenthard.audit.detectors.support.run_effects import RunEffect, effect_of_gold, effect_of_run
from agenthard.audit.detectors.support.score_matrix import quote_verdict
from agenthard.audit.evidence import canonical_json, quote, quote_run
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

MIN_SHARE = 0.3
"""The models that agree are at least so many of those that ran the task."""
MOST_DIFFERENCES = 4
"""Calls that the claim compares with the ground truth."""


class ConsensusAgainstGold(SuiteDetector):
    """Tasks on which more models agree on one other outcome than reach the ground truth.

    Rule: what a run did is the set of its calls that can change something and were not refused, in canonical form (the
    order of calls does not count, 2 and 2.0 are one number); for tasks with answers it is the final reply. A model
    counts with what it does in more than half of its scored runs. At least five models have scored runs; the largest
    group of models that do the same, which is not what the ground truth does and fails in most runs of any model, holds
    at least 30 % of them; and of those in the group and those that mostly pass together, the 95 % Wilson interval of
    the group's share lies above one half.

    The finding gives the group (k of N models) with its interval, how many models mostly pass, and the calls and fields
    in which what the group does differs from the ground truth. A group that changes
    nothing at all is said to do so: it can be a refusal, or a user who hung up.

    Flagged: twelve of twenty-three models change the user's address and one order, the ground truth changes a second
    order too, and no model does. Not flagged: nine models that fail in nine ways; eight that agree where seven pass.

    When it is wrong: models share blind spots, being trained on the same text. It is a signal and drops nothing; the
    policy that ships sends its tasks to review (docs/policy.md has the figures).
    """

    id = "consensus-against-gold"
    title = "Models agree on something else than the ground truth"
    version = "3"
    category = "suspicious-score-pattern"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SIGNAL
    why = "When different models independently do the same other thing, the ground truth is often what is wrong."
    needs_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only a ground truth of calls or answers can be compared with what runs do."""
        truth = task.ground_truth
        known = truth.answers or truth.semantics in ("required", "reference_path")
        return None if known else "the ground truth gives neither calls nor answers"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note, per model, what it mostly does and how often it passes."""
        done: dict[str, Counter[str]] = defaultdict(Counter)
        scored: dict[str, list[bool]] = defaultdict(list)
        examples: dict[tuple[str, str], Evidence] = {}
        passes: Counter[str] = Counter()
        for run in runs:
            did = effect_of_run(task, run) if run.passed is not None else None
            if run.passed is None or did is None:
                continue
            scored[run.model].append(run.passed)
            done[run.model][did.text] += 1
            if run.passed:
                passes[did.text] += 1
            elif (run.model, did.text) not in examples:
                examples[run.model, did.text] = _quote(run, did)
        lines, everywhere = effect_of_gold(task), sum(done.values(), Counter[str]())
        gold = None if lines is None else "\n".join(lines)
        for model, verdicts in sorted(scored.items()):
            effect, times = min(done[model].items(), key=lambda item: (-item[1], item[0]))
            fails = 2 * passes[effect] < everywhere[effect] and (model, effect) in examples
            differs = 2 * times > len(verdicts) and effect != gold and fails
            value = {
                "passes": 2 * sum(verdicts) > len(verdicts),
                "other": effect if differs else None,
                "runs": len(verdicts),
                "gold": gold if differs else None,
            }
            evidence = (examples[model, effect], *_gold(task)) if differs else ()
            yield Observation(task_id=task.id, key=model, value=value, evidence=evidence)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one signal per task on which the largest group of failing models outnumbers those that pass."""
        tasks, undecided = by_task(observations)
        yield from undecided
        for task, items in tasks.items():
            groups: dict[str, list[Observation]] = defaultdict(list)
            for item in items:
                if item.value["other"] is not None:
                    groups[item.value["other"]].append(item)
            if not groups:
                continue
            effect, group = min(groups.items(), key=lambda pair: (-len(pair[1]), pair[0]))
            passing = sum(item.value["passes"] for item in items)
            against = wilson(len(group), len(group) + passing)[0]
            if len(group) >= MIN_SHARE * len(items) and against > 0.5:
                yield Conclusion(task_ids=(task,), hit=_hit(task, effect, group, len(items), passing))


def _apart(effect: str, gold: str | None) -> str:
    """Say in which calls and fields a common outcome differs from the ground truth; nothing for answers."""
    if gold is None:
        return ""
    theirs, ours = Counter(effect.splitlines()), Counter(gold.splitlines())
    extra, lacking = sorted((theirs - ours).elements()), sorted((ours - theirs).elements())
    said = []
    for line in list(extra):
        name, _, given = line.partition(" ")
        other = next((each for each in lacking if each.startswith(f"{name} ")), None)
        if other is not None:
            extra.remove(line)
            lacking.remove(other)
            said.append(f"{name} differs in {_fields(json.loads(given), json.loads(other.partition(' ')[2]))}")
    said += [f"they alone call {name}" for name in dict.fromkeys(line.partition(" ")[0] for line in extra)]
    said += [
        f"the ground truth alone calls {name}" for name in dict.fromkeys(line.partition(" ")[0] for line in lacking)
    ]
    return f" Where they differ: {'; '.join(said[:MOST_DIFFERENCES])}." if said else ""


def _fields(theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    names = sorted(name for name in {*theirs, *ours} if theirs.get(name) != ours.get(name))
    return ", ".join(f"{name} ({_short(theirs.get(name))} for {_short(ours.get(name))})" for name in names)


def _short(value: Any) -> str:
    text = canonical_json(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _quote(run: Trajectory, effect: RunEffect) -> Evidence:
    if not effect.places:
        return quote_verdict(run)
    return quote_run(run, next(iter(effect.places.values())), note=f"{run.model}, trial {run.trial}")


def _gold(task: AgentTask) -> tuple[Evidence, ...]:
    pointer = "/ground_truth/answers" if task.ground_truth.answers else "/ground_truth/turns"
    return (quote(task, pointer, note="the ground truth"),)


def _hit(task: str, effect: str, group: Sequence[Observation], models: int, passing: int) -> Hit:
    runs = sum(item.value["runs"] for item in group)
    calls = len(effect.splitlines())
    same = "same call" if calls == 1 else f"same {calls} calls"
    does = (
        f"make the {same}, which mostly {'fails' if calls == 1 else 'fail'}"
        if effect
        else "change nothing, which mostly fails"
    )
    apart = _apart(effect, group[0].value["gold"])
    return Hit(
        claim=f"On task {task} {how_many(len(group), models)} {does}, against the ground truth; {passing} mostly "
        f"pass.{apart}",
        fix="Check whether what these models agree on is what the user and the policy ask for.",
        cause=f"task {task}",
        evidence=(*(item.evidence[0] for item in group[:EXEMPLARS]), group[0].evidence[1]),
        measures={**measured(len(group), models, passing), "runs": runs, "calls": calls},
    )
