"""Check: the user says one value, and the ground truth demands another that nothing has."""

from collections.abc import Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import Documented, GoldValue, documented, gold_values
from agenthard.audit.detectors.support.knowledge import scalars_in
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.spoken_values import Atom, Spoken, Statement, atoms_of, spoken_in
from agenthard.audit.detectors.support.value_pairs import is_slip, paired_code, paired_number
from agenthard.audit.evidence import quote
from agenthard.audit.execution.environment import ExecutionError
from agenthard.audit.execution.gold import gold_replay, why_not_replayed
from agenthard.audit.execution.replay import Step
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask, ToolCall


class UnmatchedValue(TaskDetector):
    """x."""

    id = "unmatched-value"
    title = "The user says one value and the ground truth demands another"
    version = "1"
    category = "incorrect-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    about_values = True
    why = "A run that uses what the user says differs from the gold and fails."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or without a text of the user cannot be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        return None if any(True for _ in task.user_texts()) else "the user says nothing"

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per value."""
        spoken, steps = spoken_in(task), _replayed(task)
        places = {step.pointer: number for number, step in enumerate(steps)}
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            if tool is None:
                continue
            turn = int(pointer.split("/")[3])
            before = steps[: places.get(pointer, 0)]
            for value in gold_values(call.arguments):
                place = documented(tool, value.at)
                if value.omissible or place is None or _is_default(place, value):
                    continue
                for atom in atoms_of(value):
                    said = _meant(spoken, atom, turn, before, place, bool(steps))
                    if said is not None:
                        yield _hit(task, pointer, call, atom, said)
                        break


def _is_default(place: Documented, value: GoldValue) -> bool:
    return "default" in place.schema and place.schema["default"] in [given for _, given in value.accepted]


def _meant(
    spoken: Spoken, atom: Atom, turn: int, before: tuple[Step, ...], place: Documented, is_replayed: bool
) -> Statement | None:
    documents = " ".join(scalars_in(place.schema))
    kind = atom.mention.kind
    if spoken.is_sourced(atom, turn, before, documents):
        return None
    if kind == "number":
        return paired_number(spoken, atom, turn, before, atom.embedded)
    if kind == "code":
        return paired_code(spoken, atom, turn)
    free = {said.mention.values: said for said in spoken.unused(turn, kind)}
    return next(iter(free.values())) if len(free) == 1 else None


def _hit(task: AgentTask, pointer: str, call: ToolCall, atom: Atom, said: Statement) -> Hit:
    shown, at = atom.value.accepted[0][1], atom.value.accepted[0][0]
    what = f"{atom.mention.text} within {_short(shown)}" if atom.embedded else _short(shown)
    return Hit(
        claim=f"The gold call of {call.name!r} gives {atom.value.name!r} as {what}, which nothing in the task has; "
        f"the user says {said.mention.text!r}, which nothing uses.",
        evidence=(
            quote(task, f"{pointer}/arguments{at}", note="the gold call"),
            quote(task, said.at, text=said.mention.text, note="what the user says"),
        ),
        fix=f"Use {said.mention.text}, or change what the user says.",
        cause=shared_cause(task, call.name, atom.value.member, str(shown), said.mention.text),
    )


def _replayed(task: AgentTask) -> tuple[Step, ...]:
    try:
        return () if why_not_replayed(task) else gold_replay(task).steps
    except ExecutionError:
        return ()  # that the environment breaks is said by the checks that need it


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_LONGEST = 120
