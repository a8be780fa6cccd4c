"""Simulated users that speak as the assistant, as a program or as a narrator."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice

from agenthard.audit.detectors.base import Conclusion, Hit, Observation
from agenthard.audit.detectors.support.run_tallies import added, count, label_split, other_fields
from agenthard.audit.detectors.support.simulator import SimulatorRate, SimulatorTally, grouped
from agenthard.audit.detectors.support.speech import Cue, assistant_speech, machine_speech, narration
from agenthard.audit.evidence import quote_run
from agenthard.audit.statistics.intervals import upper_tail, wilson
from agenthard.taxonomy.finding import Level
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

EXEMPLARS = 5
"""Most quotes per finding."""
MIN_AGENTS = 3
"""A task is flagged only when the user was confused with at least this many agents."""
FAMILY_ERROR = 0.05
"""Chance of any false alarm among all tasks of a benchmark (Bonferroni)."""
_COUNTS = ("runs", "runs_affected", "turns", "turns_affected")


class UserRoleConfusion(SimulatorRate):
    """Simulated-user turns that speak as the assistant, as a program or as a narrator.

    Rule: a turn of the user holds a sentence that only the serving side says: it offers help ("How can I help you
    today?"), asks for the customer's data ("Could you provide your user ID?"), acts on or reports about the customer's
    order ("Your reservation has been cancelled"), speaks of "our policy", or transfers "you" to an agent. Or it holds
    what only a program writes: a tool call or a tool's response between tags or behind a label, a call with arguments
    in parentheses (``get_trip(id="T4")``), a mark of a chat template, or a JSON object that neither the instruction nor
    the agent said before. Or it tells what happens, as a narrator: a stage direction between brackets, asterisks,
    underscores or rules ("*sighs*", "[The line goes dead]"), or a sentence about the user in the third person ("The
    customer nods and leaves."). Thoughts in <think> tags, quotations and reported speech do not count.

    There is one finding per simulator, that is, per model that plays the user in one experiment: prompts and wiring
    differ between experiments. It gives the share of runs and of turns affected with 95 % Wilson intervals, and names
    the tasks touched. The interval over runs is the one to read; turns of one run depend on each other. A task gets a
    finding of its own when its simulators were confused with more agents than their rates on all other tasks explain:
    at least three agents, at least twice the expected number, and P(X ≥ observed) below 0.05 divided by the number of
    tasks, X being the exact sum of independent trials, one per agent and simulator. (Repetitions of one agent are not
    trials of their own: a deterministic simulator repeats itself.)

    Where most runs of some agents (or files) show it and no run of the others does, the logs disagree about who played
    the user, and the simulator is not blamed.
    Flagged: "I found your order. Would you like to proceed with the exchange?" said by the user; a user's turn
    ``<tool_call>{"name": "get_trip", "arguments": {}}</tool_call>``; "(The caller is satisfied and hangs up.)".
    Not flagged: "Sure, my user ID is mia_li_3668. Could you please help me?", "Thank you for your patience";
    "Two of them (the agent I spoke to confirmed this)"; "The user ID is mia_li_3668".

    When it is wrong: a customer may now and then use a phrase of the service ("let me know if there is anything else I
    can help with"), one who shows a file may write JSON that was not said before, one who calls for another person may
    speak of "the customer", and people write "*laughs*" in chats. Phrases outside the list are missed, so the rates are
    lower bounds.
    """

    id = "user-role-confusion"
    title = "Simulated user speaks as the assistant, a program or a narrator"
    version = "5"
    why = (
        "A user who serves instead of asking withholds what the task needs, or invents it, and the agent fails or "
        "passes for a reason that is not its own."
    )

    def count_run(self, task: AgentTask, run: Trajectory, turns: Sequence[int], tally: SimulatorTally) -> None:
        """Count the turns that leave the role."""
        confused = [(i, cue) for i in turns if (cue := _out_of_role(task, run, i)) is not None]
        count(tally.margins[_HABIT], other_fields(run, by_agent=False), bool(confused))
        tally.counts.update(runs_affected=min(1, len(confused)), turns_affected=len(confused))
        for i, cue in confused[:1]:
            quote = quote_run(run, f"/messages/{i}/content", text=cue.sentence, note=f"the user {cue.name}")
            tally.quotes.setdefault(_HABIT, quote)

    def compare(self, observations: Sequence[Observation]) -> Iterable[Conclusion]:
        """Yield one finding per confused simulator, and one per task with more confusion than its simulators show."""
        simulators, tasks = grouped(observations, "key"), grouped(observations, "task_id")
        for simulator, items in sorted(simulators.items()):
            if any(map(_affected, items)):
                yield _simulator_finding(simulator, items)
        everywhere = {simulator: _cells(items) for simulator, items in simulators.items()}
        for items in tasks.values():
            finding = _task_finding(items, everywhere, len(tasks))
            if finding is not None:
                yield finding


_HABIT = "role"


def _affected(item: Observation) -> bool:
    return bool(item.value["runs_affected"])


def _cells(items: Sequence[Observation]) -> tuple[int, int]:
    """Count (task, agent) cells, and those affected."""
    return len(items), sum(map(_affected, items))


def _simulator_finding(simulator: str, items: Sequence[Observation]) -> Conclusion:
    runs, affected, turns, said = (sum(item.value[name] for item in items) for name in _COUNTS)
    low, high = wilson(affected, runs)
    turn_low, turn_high = wilson(said, turns)
    touched = [item for item in items if _affected(item)]
    chosen = sorted({i * (len(touched) - 1) // (EXEMPLARS - 1) for i in range(EXEMPLARS)})
    split = label_split(added(item.value["by"][_HABIT] for item in items))
    plain = (
        f"The simulated user {simulator} leaves its role in {affected} of {runs} runs ({affected / runs:.1%}, 95 % "
        f"interval {low:.1%} to {high:.1%})."
    )
    hit = Hit(
        claim=split.sentence(f"the simulated user {simulator}", "leaves its role") if split else plain,
        level=Level.SUITE if split else None,
        fix="Check which model and which prompt played the user, and repeat the affected runs with a user that keeps "
        "its role.",
        cause=f"simulator {simulator}",
        evidence=tuple(chain.from_iterable(touched[i].evidence for i in chosen)),
        measures={
            "runs": runs,
            "runs_affected": affected,
            "rate": affected / runs,
            "low": low,
            "high": high,
            "turns": turns,
            "turns_affected": said,
            "turn_rate": said / turns,
            "turn_low": turn_low,
            "turn_high": turn_high,
        },
    )
    return Conclusion(task_ids=(), also_in=tuple(dict.fromkeys(item.task_id for item in touched)), hit=hit)


def _out_of_role(task: AgentTask, run: Trajectory, position: int) -> Cue | None:
    text = run.messages[position].content
    cues = assistant_speech(text)
    if cues:
        return cues[0]
    told = chain(task.user_texts(), (("", m.content) for m in run.messages[:position] if m.role == "assistant"))
    return machine_speech(text, (source for _, source in told)) or narration(text)


def _task_finding(
    items: Sequence[Observation], everywhere: Mapping[str, tuple[int, int]], tasks: int
) -> Conclusion | None:
    groups = []
    for simulator, here in grouped(items, "key").items():
        (all_cells, all_affected), (cells, affected) = everywhere[simulator], _cells(here)
        rate_elsewhere = (all_affected - affected + 0.5) / (all_cells - cells + 1)
        groups.append((cells, rate_elsewhere))
    cells, observed = _cells(items)
    expected = sum(n * rate for n, rate in groups)
    if observed < max(MIN_AGENTS, 2 * expected):
        return None
    chance = upper_tail(observed, groups)
    if chance >= FAMILY_ERROR / tasks:
        return None
    task_id = items[0].task_id
    hit = Hit(
        claim=f"On task {task_id} the simulated user leaves its role with {observed} of {cells} agents, where "
        f"{expected:.1f} are expected from its other tasks (p = {chance:.1g}).",
        fix="Reword the instruction so that it addresses the customer throughout.",
        cause=f"task {task_id}",
        level=Level.TASK,
        evidence=tuple(islice(chain.from_iterable(item.evidence for item in items), EXEMPLARS)),
        measures={"agents": cells, "agents_affected": observed, "expected": expected, "p": chance},
    )
    return Conclusion(task_ids=(task_id,), hit=hit)
