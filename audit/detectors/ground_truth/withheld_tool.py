"""Tools that are withheld at first: the ground truth uses them too early, or does without them."""

from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.reach import is_read
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask


class WithheldTool(TaskDetector):
    """A tool that the task withholds until a later turn is not called before, and is called from then on.

    Rules, for a task that names the turn in which each withheld tool is revealed:

    1. a gold call uses a tool in a turn before the one that reveals it: no agent can make the call;
    2. no gold call of a turn uses any of the tools that it reveals, one of these can do more than read, and the ground
       truth expects no call in the turn before, where the agent is to say that something is missing. Nothing was
       missing: what is asked there is done later without these tools.

    Flagged: `tail` is revealed in turn 4, and the gold calls `tail` in turn 2. A login that is revealed after a turn
    that asks for a message, where the gold sends the message without it, because the state is logged in already.
    Not flagged: several tools revealed together, of which the gold uses one; a look-up, which may tell a value that the
    ground truth already names.

    Wrong where the agent needs what the tool answers, and the ground truth leaves the call out.
    """

    id = "withheld-tool"
    title = "a withheld tool is used before, or never needed"
    version = "2"
    category = "insufficient-toolset"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "A run cannot call what is not offered, and one that does the work with what is offered is as good."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only a task that withholds tools can be checked."""
        return None if _revealed(task) else "no tool is withheld until a later turn"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per early call, and one per turn that reveals nothing that is needed."""
        for turn, names in _revealed(task):
            yield from _too_early(task, turn, names)
            yield from _never_needed(task, turn, names)


def _revealed(task: AgentTask) -> list[tuple[int, tuple[str, ...]]]:
    return [(int(turn), names) for turn, names in task.hidden_tools.items() if turn.isdecimal() and names]


def _too_early(task: AgentTask, turn: int, names: tuple[str, ...]) -> Iterator[Hit]:
    for i, calls in enumerate(task.ground_truth.turns[:turn]):
        for j, call in enumerate(calls):
            if call.name in names:
                yield Hit(
                    claim=f"The gold calls {call.name!r} in turn {i + 1}, and the task offers it from turn {turn + 1} "
                    "on only.",
                    evidence=(
                        quote(task, f"/ground_truth/turns/{i}/{j}", note="the gold call"),
                        quote(task, join("/hidden_tools", str(turn)), note="what the later turn reveals"),
                    ),
                    fix="Withhold another tool, or change the earlier call.",
                    cause=shared_cause(task, "withheld too early", call.name),
                )


def _never_needed(task: AgentTask, turn: int, names: tuple[str, ...]) -> Iterator[Hit]:
    turns = task.ground_truth.turns
    tools = [tool for name in names if (tool := task.tool(name, "assistant"))]
    waits = 0 < turn < len(turns) and not turns[turn - 1] and bool(turns[turn])
    if not waits or all(map(is_read, tools)) or any(call.name in names for call in turns[turn]):
        return
    does = ", ".join(dict.fromkeys(call.name for call in turns[turn]))
    asked = [at for at, _ in task.user_texts() if at.startswith(f"/user/turns/{turn - 1}/")]
    yield Hit(
        claim=f"Turn {turn} expects no call because {', '.join(map(repr, names))} is withheld, and the gold then does "
        f"without it: {does}.",
        evidence=(
            quote(task, join("/hidden_tools", str(turn)), note="what the next turn reveals"),
            quote(task, f"/ground_truth/turns/{turn}", note="what the gold does then"),
            *(quote(task, at, note="what is asked before") for at in asked[:1]),
        ),
        fix="Withhold a tool that the ground truth needs.",
        category="incorrect-tool-call",
        cause=shared_cause(task, "withheld and not needed", turn, list(names)),
    )
