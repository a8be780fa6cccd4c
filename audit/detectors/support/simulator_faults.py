"""What a simulated user can do that ends or misleads a run, whatever the agent does."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from agenthard.audit.detectors.support.answered import Answered, answered
from agenthard.audit.detectors.support.leaks import CONTROL_WORD, spoken, stray_control_word
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, Message, ToolCall
from agenthard.taxonomy.trajectory import Trajectory

FAULTS = {
    "thought": "ends the run by a control word that it only thinks of",
    "asked": "asks something and ends the run in the same turn",
    "agreed": "agrees to what the agent proposes and ends the run in the same turn",
    "out_of_scope": "ends the run as out of scope where the agent asks something",
    "invented": "makes up an identifier that the agent looks up in vain",
    "withheld": "never says a value that its instruction holds and the ground truth needs",
}
"""What the user does, by kind of fault."""

_OUT_OF_SCOPE = re.compile(r"OUT.?OF.?SCOPE", re.IGNORECASE)
_AGREES = re.compile(
    r"^\W*(?:yes|yes,? please|confirmed|go ahead|that works|sounds good)\W*$"
    r"|\bplease (?:do so|proceed|go ahead|process|finali[sz]e|confirm the|book it|make th|cancel|issue|update|exchange"
    r"|return|modify|complete|apply)"
    r"|\b(?:i (?:hereby )?confirm|yes,? (?:let(?:'|’)?s )?(?:proceed|go ahead)|let(?:'|’)s (?:proceed|go ahead)"
    r"|i(?:(?:'|’)d| would) like to (?:proceed|go ahead)|i agree to)\b",
    re.IGNORECASE,
)
_LEAVES_IT = re.compile(
    r"\b(?:transfer|human agent|supervisor|myself|later|on my own|for now"
    r"|i(?:(?:'|’)ll| will) (?:go ahead|proceed|call|contact)|(?:has|have) been|for confirming|instead)\b",
    re.IGNORECASE,
)
_PROPOSES = re.compile(
    r"\b(?:would you like|do you (?:want|confirm|agree)|(?:shall|should|may|can) i|please (?:confirm|reply|respond)"
    r"|confirm (?:that|if|by|to|with|whether)|let me know (?:how|if|whether|your)|if (?:yes|so|you confirm))\b",
    re.IGNORECASE,
)
_IDENTIFIER = re.compile(
    r"(?<![\w#@.+-])(?:[\w.+-]+@[\w-]+(?:\.\w+)+|#[A-Z]?\d{4,}|[a-z]+_[a-z]+_\d+|(?=[A-Z]*\d)[A-Z\d]{6,10})(?![\w@-])"
)
_NOT_FOUND = re.compile(r"not found|does not exist|no such|invalid|unknown", re.IGNORECASE)
_WORDS = re.compile(r"[a-z]{4,}(?: [a-z]+)*", re.IGNORECASE)


class Fault(NamedTuple):
    """One thing the simulator did."""

    kind: str
    """One of FAULTS."""
    pointer: str
    """JSON Pointer into the run of what shows it."""
    quote: str
    """The piece of the text there; empty for all of it."""


def faults(task: AgentTask, run: Trajectory) -> Iterator[Fault]:
    """Yield what the simulator did in a failed run that left a write of the ground truth undone."""
    calls = list(answered(run.messages))
    undone = _undone(task, calls)
    if not undone or not run.messages:
        return
    ending = _ending(run.messages)
    if ending:
        yield Fault(ending, f"/messages/{len(run.messages) - 1}/content", "")
    instruction = " ".join(text for _, text in task.user_texts())
    yield from _invented(instruction, run.messages, calls, undone)
    yield from _withheld(instruction, run.messages, calls, undone)


def _undone(task: AgentTask, calls: Sequence[Answered]) -> list[ToolCall]:
    """Return the agent's writes of the ground truth that the run does not make as they stand."""
    made = {(now.call.name, canonical_json(now.call.arguments)) for now in calls}
    gold = (call for _, call in task.gold_calls() if call.requestor == "assistant")
    writes = (call for call in gold if (tool := task.tool(call.name)) is not None and tool.effect == "write")
    return [call for call in writes if (call.name, canonical_json(call.arguments)) not in made]


def _ending(messages: Sequence[Message]) -> str:
    """Tell whether the last turn of the user cut the run short."""
    last = messages[-1]
    said = spoken(last.content)
    word = CONTROL_WORD.search(last.content)
    if last.role != "user" or word is None:
        return ""
    if stray_control_word(last.content):
        return "thought" if CONTROL_WORD.search(said) is None else ""
    before = next((m.content for m in reversed(messages[:-1]) if m.role == "assistant" and m.content), "")[-600:]
    if _OUT_OF_SCOPE.search(said):
        return "out_of_scope" if "?" in before else ""
    text = CONTROL_WORD.sub("", said)
    if sum(message.role == "user" for message in messages) == 1 or text.rstrip().endswith("?"):
        return "asked"
    agreed = bool(_PROPOSES.search(before)) and bool(_AGREES.search(text)) and not _LEAVES_IT.search(text)
    return "agreed" if agreed else ""


def _invented(
    instruction: str, messages: Sequence[Message], calls: Sequence[Answered], undone: Sequence[ToolCall]
) -> Iterator[Fault]:
    """Find an identifier that only the user can have made up, looked up in vain by an agent that got no further."""
    wanted = {value for call in undone for value in call.arguments.values() if isinstance(value, str)}
    reached = any(value in now.text for now in calls for value in wanted if len(value) > 4)
    failed = [canonical_json(now.call.arguments).casefold() for now in calls if _NOT_FOUND.search(now.text[:200])]
    seen = instruction.casefold()
    for i, message in enumerate(messages if failed and not reached else ()):
        if message.role == "user":
            for found in _IDENTIFIER.finditer(spoken(message.content)):
                value = found[0].casefold()
                known = value in seen or value.lstrip("#abcdefghijklmnopqrstuvwxyz") in seen
                if not known and any(value.strip("#") in arguments for arguments in failed):
                    yield Fault("invented", f"/messages/{i}/content", found[0])
                    return
        seen += "\n" + message.content.casefold()
        seen += "".join(canonical_json(call.arguments).casefold() for call in message.tool_calls)


def _withheld(
    instruction: str, messages: Sequence[Message], calls: Sequence[Answered], undone: Sequence[ToolCall]
) -> Iterator[Fault]:
    """Find a write that lacks one phrase of the ground truth alone, which the user was told and never says."""
    told = instruction.casefold()
    said = " ".join(spoken(message.content) for message in messages if message.role == "user").casefold()
    for call in undone:
        for now in (now for now in calls if now.call.name == call.name):
            names = call.arguments.keys() | now.call.arguments.keys()
            other = [name for name in names if call.arguments.get(name) != now.call.arguments.get(name)]
            wanted, made = (c.arguments.get(other[0]) if len(other) == 1 else None for c in (call, now.call))
            if not (isinstance(wanted, str) and isinstance(made, str) and _WORDS.fullmatch(wanted)):
                continue
            if wanted.casefold() in told and wanted.casefold() not in said and made.casefold() not in told:
                yield Fault("withheld", join(now.place, "arguments", other[0]), "")
                return
