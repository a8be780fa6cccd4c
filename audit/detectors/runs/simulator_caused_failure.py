"""Failed runs that the simulated user decided."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.run_tallies import Margins, added, count, label_split, other_fields
from agenthard.audit.detectors.support.simulator import FAULTS, faults, simulator_of
from agenthard.audit.evidence import quote_run
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

EXEMPLARS = 5
"""Most quotes per finding."""
MIN_RUNS = 3
"""A task gets a finding of its own from this many such runs on."""
MIN_AGENTS = 2
"""They must be runs of at least so many agents: one agent may invite the fault by what it says."""


class SimulatorCausedFailure(SuiteDetector):
    """Failed runs in which the simulated user left the agent no way to pass.

    Rule: the run failed, a write of the ground truth was not made exactly, and the user

    * thought: ends the run with a control word (###STOP###) that occurs only in its thoughts;
    * asked: asks something in the turn that ends the run, or ends it in its first turn;
    * agreed: agrees to what the agent just proposed, and ends the run in the same turn, before it can be done;
    * out_of_scope: declares the run out of scope where the agent asks it something;
    * invented: gives an identifier that neither its instruction nor the run held; the agent looks it up in vain, and no
      response ever shows an identifier that the missing writes need;
    * withheld: never says a phrase that its instruction holds, and the agent's call differs from the ground truth in
      that argument alone, by a value that the instruction does not hold.

    There is one finding per simulator (the model that plays the user, in one experiment) with the share of its failed
    runs and the agents. A task gets one of its own when at least three runs of at least two agents failed so, and the
    95 % Wilson interval of their share of the failed runs lies above the share on all tasks together.

    Flagged: "Shall I cancel order 7?" - "Yes, please proceed. ###STOP###", and order 7 was to be cancelled.
    Not flagged: "It is cancelled. Anything else?" - "No, thank you. ###STOP###"; an agent that never asks.

    Where it happens in most failed runs of some agents (or files) and in none of the others, the finding is that the
    logs disagree about who played the user, and does not blame the simulator.

    When it is wrong: the agent might have failed anyway, had the run gone on; an agent that writes as the user, or
    leaves the subject, brings on the end itself. Contradictions of the instruction in free words are missed, so the
    rates are lower bounds.
    """

    id = "simulator-caused-failure"
    title = "Simulated user decides that the run fails"
    version = "2"
    category = "user-role-confusion"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    level = Level.SUITE
    why = "The run is scored as a failure of the agent, which had no way to pass."
    needs_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Fixed turns, and tasks without a ground truth to miss, cannot be decided by a simulator."""
        if task.user.kind == "scripted":
            return "the user's turns are fixed; no simulator speaks"
        return None if any(True for _ in task.gold_calls()) else "the ground truth holds no call that a run could lack"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count, per simulator and agent, the failed runs and those that the simulator decided."""
        counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        quotes: dict[tuple[str, str], Evidence] = {}
        by: dict[tuple[str, str], Margins] = defaultdict(dict)
        for run in runs:
            key = (simulator_of(run), run.model)
            counts[key]["runs"] += 1
            if run.passed is not False:
                continue
            found = list(faults(task, run))
            counts[key].update(failed=1, decided=bool(found))
            count(by[key], other_fields(run, by_agent=False), bool(found))
            counts[key].update({fault.kind for fault in found})
            for fault in found[:1]:
                note = f"the user {FAULTS[fault.kind]}; agent {run.model}"
                quotes.setdefault(key, quote_run(run, fault.pointer, text=fault.quote or None, note=note))
        for key, value in sorted(counts.items()):
            evidence = (quotes[key],) if key in quotes else ()
            yield Observation(
                task_id=task.id, key=key[0], value={"agent": key[1], "by": by[key], **value}, evidence=evidence
            )

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one finding per simulator, and one per task that several agents failed so."""
        simulators: dict[str, list[Observation]] = defaultdict(list)
        tasks: dict[str, list[Observation]] = defaultdict(list)
        for item in observations:
            simulators[item.key].append(item)
            tasks[item.task_id].append(item)
        passed = tuple(task for task, items in tasks.items() if not _sum(items)["failed"])
        if passed:
            yield Undecided(task_ids=passed, reason="no run of this task failed")
        for simulator, items in sorted(simulators.items()):
            if _sum(items)["decided"]:
                hit = _hit(f"The simulated user {simulator} decides", items, f"simulator {simulator}")
                split = label_split(added(item.value["by"] for item in items))
                if split is not None:
                    claim = split.sentence(f"the simulated user {simulator}", "decides that failed runs fail")
                    fix = "Find out who played the user in these runs before it is blamed."
                    hit = hit.model_copy(update={"claim": claim, "fix": fix, "level": Level.SUITE})
                yield Conclusion(task_ids=(), also_in=_touched(items), hit=hit)
        everywhere = _sum(observations)
        for task, items in tasks.items():
            agents = {item.value["agent"] for item in items if item.value.get("decided")}
            if _sum(items)["decided"] >= MIN_RUNS and len(agents) >= MIN_AGENTS:
                hit = _hit(f"On task {task} the simulated user decides", items, f"task {task}")
                if hit.measures["low"] > everywhere["decided"] / everywhere["failed"]:
                    yield Conclusion(task_ids=(task,), hit=hit)


def _sum(items: Sequence[Observation]) -> dict[str, int]:
    names = ("runs", "failed", "decided", *FAULTS)
    return {name: sum(item.value.get(name, 0) for item in items) for name in names}


def _touched(items: Sequence[Observation]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(item.task_id for item in items if item.value.get("decided")))


def _hit(beginning: str, items: Sequence[Observation], cause: str) -> Hit:
    total = _sum(items)
    low, high = wilson(total["decided"], total["failed"])
    agents: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for item in items:
        agents[item.value["agent"]] += item.value.get("decided", 0)
        others[item.key] += item.value.get("decided", 0)
    ways = "; ".join(f"{FAULTS[kind]} ({total[kind]})" for kind in FAULTS if total[kind])
    by_simulator = f" Simulators: {_counted(others)}." if cause.startswith("task") else ""
    quotes = chain.from_iterable(item.evidence for item in items)
    rate = total["decided"] / total["failed"]
    return Hit(
        claim=f"{beginning} {total['decided']} of {total['failed']} failed runs ({rate:.1%}, 95 % interval {low:.1%} "
        f"to {high:.1%}): it {ways}. Agents: {_counted(agents)}.{by_simulator}",
        fix="Take these runs out of the score and repeat them with a user that answers before it ends the run.",
        cause=cause,
        level=Level.TASK if cause.startswith("task ") else None,
        evidence=tuple(islice(quotes, EXEMPLARS)),
        measures={**total, "rate": rate, "low": low, "high": high},
    )


def _counted(numbers: Counter[str]) -> str:
    found = sorted((item for item in numbers.items() if item[1]), key=lambda item: (-item[1], item[0]))
    more = f" and {len(found) - EXEMPLARS} more" if len(found) > EXEMPLARS else ""
    return ", ".join(f"{name} ({number})" for name, number in found[:EXEMPLARS]) + more
