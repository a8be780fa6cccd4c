"""Simulated users that give away their instructions or their thoughts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation
from agenthard.audit.detectors.support.run_tallies import (
    LabelSplit,
    added,
    count,
    label_split,
    other_fields,
)
from agenthard.audit.detectors.support.simulator import SimulatorRate, SimulatorTally, grouped, leaks
from agenthard.audit.evidence import quote_run
from agenthard.audit.statistics.intervals import wilson
from agenthard.taxonomy.finding import Evidence, Level
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

EXEMPLARS = 5
"""Most quotes per finding."""
KINDS = ("thoughts", "mention", "blank", "control_word")
"""What can be given away."""
_GIVES_AWAY = {
    "thoughts": "gives its thoughts away",
    "mention": "mentions its instruction or role",
    "blank": "leaves gaps that it forgot to fill in",
    "control_word": "says a word for the harness",
}
_AFFECTED = ("runs_affected", "runs_seen", "turns_affected", "turns_seen")


class SimulatorLeak(SimulatorRate):
    """Simulated-user turns that give away the instruction or the thoughts of the simulator.

    Rule: a turn of the user holds

    * thoughts: text between tags such as ``<think>`` and ``</think>``, or after a tag that is never closed;
    * mention: a phrase about its own instruction or role ("not mentioned in my instruction", "as the user, I should",
      "my prompt says", "the script that I was given", "I was told not to reveal it", "in this simulation");
    * blank: a gap that it forgot to fill in ("[Your DOB]", "[insert date]");
    * control_word: a word for the harness, such as ``###STOP###``, that neither begins nor ends what is said. Harnesses
      end the run wherever the word occurs, also when the simulator only thinks of it.

    The agent saw a turn when it speaks after it; the last turn of a run is seen by no agent. There is one finding per
    simulator (the model that plays the user, in one experiment) with the share of runs, 95 % Wilson interval, and the
    agents it happened with. A kind that most runs of some agents (or files) have and no run of the others does not
    blame the simulator: the same model can hardly have played the user in both, so the finding is that the logs
    disagree, and these runs count for nothing else. The tasks touched are not at fault and are only named.

    Flagged: "<think>The instruction says to be terse.</think> Hi.". Not flagged: empty tags, "Bye. ###STOP###", "I'll
    follow the instructions in the e-mail", "the script I was given by support".

    When it is wrong: "the instructions" may be the agent's; phrases outside the list are missed, so the rates
    are lower bounds. A harness that strips thoughts before the agent reads them and logs them all the same would make
    ``seen`` too large.
    """

    id = "simulator-leak"
    title = "Simulated user gives its instruction or thoughts away"
    version = "4"
    why = "An agent that reads what the user was told knows the wish, the limits and the end before it has asked."

    def count_run(self, task: AgentTask, run: Trajectory, turns: Sequence[int], tally: SimulatorTally) -> None:
        """Count what the turns give away, and what of it the agent saw."""
        replied = max((i for i, message in enumerate(run.messages) if message.role == "assistant"), default=-1)
        found = {i: list(leaks(run.messages[i].content)) for i in turns}
        kinds = {i: {leak.kind for leak in found[i]} for i in turns if found[i]}
        seen = {i: given for i, given in kinds.items() if i < replied}
        tally.counts.update(leak.kind for i in kinds for leak in found[i])
        for what, given in (("turns_affected", kinds), ("turns_seen", seen)):
            tally.counts.update(_together(what, held) for held in given.values())
        for what, given in (("runs_affected", kinds), ("runs_seen", seen)):
            tally.counts.update([_together(what, set().union(*given.values()))] if given else [])
        for kind in KINDS:
            affected = any(kind in held for held in kinds.values())
            count(tally.margins[kind], other_fields(run, by_agent=False), affected)
        for i in kinds:
            for leak in found[i]:
                by_agent = "seen" if i in seen else "not seen"
                note = f"{leak.kind.replace('_', ' ')}, with {run.model}, {by_agent} by the agent"
                quote = quote_run(run, f"/messages/{i}/content", text=leak.quote, note=note)
                tally.quotes.setdefault(leak.kind, quote)

    def compare(self, observations: Sequence[Observation]) -> Iterable[Conclusion]:
        """Yield one finding per simulator that gives something away."""
        for simulator, items in sorted(grouped(observations, "key").items()):
            splits = {kind: label_split(added(item.value["by"][kind] for item in items)) for kind in KINDS}
            for kind, split in splits.items():
                if split is not None:
                    yield _conflict(simulator, kind, split, items)
            blamed = [kind for kind, split in splits.items() if split is None]
            doubtful = {name for split in splits.values() if split and split.field == "agent" for name in split.having}
            certain = [item for item in items if item.value["agent"] not in doubtful]
            if _sum(certain, "runs_affected", blamed):
                yield _finding(simulator, certain, blamed)


def _together(what: str, kinds: Iterable[str]) -> str:
    """Return the name of the counter for exactly these kinds of leaks."""
    return f"{what} {'+'.join(sorted(kinds))}"


def _sum(items: Iterable[Observation], what: str, kinds: Sequence[str]) -> int:
    """Count the items with a leak of any of these kinds."""
    total = 0
    for item in items:
        for name, number in item.value.items():
            if name.startswith(f"{what} ") and not set(kinds).isdisjoint(name.removeprefix(f"{what} ").split("+")):
                total += number
    return total


def _quotes(items: Sequence[Observation], kinds: Sequence[str]) -> Iterator[Evidence]:
    """Yield quotes of some kinds from tasks spread over the benchmark, one for each."""
    having = [item for item in items if not set(kinds).isdisjoint(item.value["quoted"])]
    for i in sorted({i * (len(having) - 1) // (EXEMPLARS - 1) for i in range(EXEMPLARS)}):
        noted = zip(having[i].value["quoted"], having[i].evidence, strict=True)
        yield next(quote for kind, quote in noted if kind in kinds)


def _conflict(simulator: str, kind: str, split: LabelSplit, items: Sequence[Observation]) -> Conclusion:
    habit = f"{_GIVES_AWAY[kind]} in its turns"
    hit = Hit(
        claim=split.sentence(f"the simulated user {simulator}", habit),
        why="Runs that were played by another user are compared, and what it did is put down to the wrong model.",
        fix="Find out which model played the user in these runs, correct the label, and strip what the agent must not "
        "read.",
        cause=f"label of simulator {simulator}: {kind} by {split.field}",
        level=Level.SUITE,
        evidence=tuple(_quotes(items, (kind,))),
        measures={"runs": split.runs, "affected": split.affected, "clean": split.clean},
    )
    touched = [item.task_id for item in items if _sum([item], "runs_affected", (kind,))]
    return Conclusion(task_ids=(), also_in=tuple(dict.fromkeys(touched)), hit=hit)


def _finding(simulator: str, items: Sequence[Observation], kinds: Sequence[str]) -> Conclusion:
    total = {name: sum(item.value.get(name, 0) for item in items) for name in ("runs", "turns", *kinds)}
    total |= {name: _sum(items, name, kinds) for name in _AFFECTED}
    low, high = wilson(total["runs_affected"], total["runs"])
    touched = [item for item in items if _sum([item], "runs_affected", kinds)]
    rate = total["runs_affected"] / total["runs"]
    hit = Hit(
        claim=f"The simulated user {simulator} gives away its instruction or thoughts in {total['runs_affected']} of "
        f"{total['runs']} runs ({rate:.1%}, 95 % interval {low:.1%} to {high:.1%}); the agent saw it in "
        f"{total['runs_seen']} of them. {_agents(items, kinds)}",
        fix="Strip the simulator's thoughts before the agent reads its turns, look for control words only at the end "
        "of a turn, and repeat the affected runs.",
        cause=f"simulator {simulator}",
        evidence=tuple(_quotes(items, kinds)),
        measures={**total, "rate": rate, "low": low, "high": high},
    )
    return Conclusion(task_ids=(), also_in=tuple(dict.fromkeys(item.task_id for item in touched)), hit=hit)


def _agents(items: Sequence[Observation], kinds: Sequence[str]) -> str:
    runs: Counter[str] = Counter()
    affected: Counter[str] = Counter()
    for item in items:
        runs[item.value["agent"]] += item.value["runs"]
        affected[item.value["agent"]] += _sum([item], "runs_affected", kinds)
    worst = sorted((name for name in runs if affected[name]), key=lambda name: (-affected[name] / runs[name], name))
    listed = ", ".join(f"{name} ({affected[name]} of {runs[name]} runs)" for name in worst[:EXEMPLARS])
    more = f" and {len(worst) - EXEMPLARS} more" if len(worst) > EXEMPLARS else ""
    others = len(runs) - len(worst)
    return f"Agents: {listed}{more}; {f'none of the {others} others' if others else 'all of them'}."
