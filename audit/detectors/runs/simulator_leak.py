"""Simulated users that give away their instructions or their thoughts."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from audit.detectors.runs.leaks import leaks
from audit.detectors.user.simulators import simulator_of
from audit.evidence import quote_run
from audit.intervals import wilson
from taxonomy.finding import Evidence, Level, Severity, Tier
from taxonomy.task import AgentTask
from taxonomy.trajectory import Trajectory

EXEMPLARS = 5
"""Most quotes per finding."""
KINDS = ("thoughts", "mention", "blank", "control_word")
"""What can be given away."""


class SimulatorLeak(SuiteDetector):
    """Simulated-user turns that give away the instruction or the thoughts of the simulator.

    Rule: a turn of the user holds

    * thoughts: text between tags such as ``<think>`` and ``</think>``, or after a tag that is never closed;
    * mention: a phrase about its own instruction or role ("not mentioned in my instruction", "as the user, I should",
      "my prompt says", "the script that I was given", "I was told not to reveal it", "in this simulation");
    * blank: a gap that it forgot to fill in ("[Your DOB]", "[insert date]");
    * control_word: a word for the harness, such as ``###STOP###``, that neither begins nor ends what is said. Harnesses
      end the run wherever the word stands, also when the simulator only thinks of it.

    The agent saw a turn when it speaks after it; the last turn of a run was seen by nobody. There is one finding per
    simulator (the model that plays the user, in one experiment) with the share of runs, 95 % Wilson interval, and the
    agents it happened with. When it happens with a few agents only, another model than the log says may have played
    the user there. The tasks touched are not at fault and are only named.

    Flagged: "<think>The instruction says to be terse.</think> Hi.". Not flagged: empty tags, "Bye. ###STOP###", "I'll
    follow the instructions in the e-mail", "the script I was given by support".

    When it is wrong: "the instructions" may be the agent's; phrases outside the list are missed, so the rates
    are lower bounds. A harness that strips thoughts before the agent reads them and logs them all the same would make
    ``seen`` too large.
    """

    id = "simulator-leak"
    title = "Simulated user gives its instruction or thoughts away"
    version = "3"
    category = "user-role-confusion"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    level = Level.SUITE
    why = "An agent that reads what the user was told knows the wish, the limits and the end before it has asked."
    needs_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Fixed turns have no simulator that could give anything away."""
        return "the user's turns are fixed; no simulator speaks" if task.user.kind == "scripted" else None

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count, per simulator and agent, runs and turns that give something away, and those that the agent saw."""
        counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        quotes: dict[tuple[str, str], Evidence] = {}
        for run in runs:
            turns = [i for i, message in enumerate(run.messages) if message.role == "user" and message.content.strip()]
            if not turns:
                continue
            key = (simulator_of(run), run.model)
            replied = max((i for i, message in enumerate(run.messages) if message.role == "assistant"), default=-1)
            found = {i: list(leaks(run.messages[i].content)) for i in turns}
            leaking = [i for i in turns if found[i]]
            seen = [i for i in leaking if i < replied]
            counts[key].update(leak.kind for i in leaking for leak in found[i])
            counts[key].update(
                runs=1,
                turns=len(turns),
                runs_affected=bool(leaking),
                turns_affected=len(leaking),
                runs_seen=bool(seen),
                turns_seen=len(seen),
            )
            for i in leaking[:1]:
                leak = found[i][0]
                note = f"{leak.kind.replace('_', ' ')}, with {run.model}, {'seen' if seen else 'not seen'} by the agent"
                quotes.setdefault(key, quote_run(run, f"/messages/{i}/content", text=leak.quote, note=note))
        for key, value in sorted(counts.items()):
            evidence = (quotes[key],) if key in quotes else ()
            yield Observation(task_id=task.id, key=key[0], value={"agent": key[1], **value}, evidence=evidence)
        if not counts:
            yield Observation(task_id=task.id, key=_SILENT)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Yield one finding per simulator that gives something away."""
        silent = tuple(item.task_id for item in observations if item.key == _SILENT)
        if silent:
            yield Undecided(task_ids=silent, reason="no run of this task holds a turn of a simulated user")
        simulators: dict[str, list[Observation]] = defaultdict(list)
        for item in observations:
            if item.key != _SILENT:
                simulators[item.key].append(item)
        for simulator, items in sorted(simulators.items()):
            if any(item.value["runs_affected"] for item in items):
                yield _finding(simulator, items)


_SILENT = ""


def _finding(simulator: str, items: Sequence[Observation]) -> Conclusion:
    names = ("runs", "runs_affected", "runs_seen", "turns", "turns_affected", "turns_seen", *KINDS)
    total = {name: sum(item.value.get(name, 0) for item in items) for name in names}
    low, high = wilson(total["runs_affected"], total["runs"])
    touched = [item for item in items if item.value["runs_affected"]]
    chosen = sorted({i * (len(touched) - 1) // (EXEMPLARS - 1) for i in range(EXEMPLARS)})
    rate = total["runs_affected"] / total["runs"]
    hit = Hit(
        claim=f"The simulated user {simulator} gives away its instruction or thoughts in {total['runs_affected']} of "
        f"{total['runs']} runs ({rate:.1%}, 95 % interval {low:.1%} to {high:.1%}); the agent saw it in "
        f"{total['runs_seen']} of them. {_agents(items)}",
        fix="Strip the simulator's thoughts before the agent reads its turns, look for control words only at the end "
        "of a turn, and repeat the affected runs.",
        cause=f"simulator {simulator}",
        evidence=tuple(chain.from_iterable(touched[i].evidence for i in chosen)),
        measures={**total, "rate": rate, "low": low, "high": high},
    )
    return Conclusion(task_ids=(), also_in=tuple(dict.fromkeys(item.task_id for item in touched)), hit=hit)


def _agents(items: Sequence[Observation]) -> str:
    runs: Counter[str] = Counter()
    affected: Counter[str] = Counter()
    for item in items:
        runs[item.value["agent"]] += item.value["runs"]
        affected[item.value["agent"]] += item.value["runs_affected"]
    worst = sorted((name for name in runs if affected[name]), key=lambda name: (-affected[name] / runs[name], name))
    listed = ", ".join(f"{name} ({affected[name]} of {runs[name]} runs)" for name in worst[:EXEMPLARS])
    more = f" and {len(worst) - EXEMPLARS} more" if len(worst) > EXEMPLARS else ""
    others = len(runs) - len(worst)
    return f"Agents: {listed}{more}; {f'none of the {others} others' if others else 'all of them'}."
