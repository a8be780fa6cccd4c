"""The simulator of the user: leaks of its prompt, faults that end or mislead a run, and rates per simulator."""

import re
from abc import abstractmethod
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from agenthard.audit.detectors.base import Conclusion, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.recorded_runs import Answered, answered
from agenthard.audit.detectors.support.run_tallies import Margins
from agenthard.audit.evidence import canonical_json
from agenthard.taxonomy.finding import Evidence, Level, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import AgentTask, Message, ToolCall
from agenthard.taxonomy.trajectory import Trajectory


def simulator_of(run: Trajectory) -> str:
    """Name the simulator: the model that plays the user, and the experiment, whose prompts and wiring may differ."""
    return f"{run.user_model or 'unnamed'}" + (f" ({run.protocol})" if run.protocol else "")


THOUGHT = re.compile(r"<(think|thinking|thought|reasoning)>(?P<thought>.*?)(?:</\1>|\Z)", re.IGNORECASE | re.DOTALL)
"""Thoughts between tags; a tag that is never closed encloses the rest."""
CONTROL_WORD = re.compile(r"#{2,}[A-Z][A-Z_-]*[A-Z]#{2,}")
"""A word for the harness, such as ###STOP###."""
_OF_OTHERS = (
    r"(?:call|contact|speak|talk|reach|come|go|write|e-?mail|send|return|bring|visit|use|check|follow|wait|fill|log|submit"
    r"|provide|get|request|ask (?:for|you|about|if|that|whether))\b"
)
_TEXT = r"(?:instructions?|scenario|prompt|persona)\b"
_PART = r"(?:(?:system |user )?prompt|script|role[- ]?play|role description|character (?:sheet|description)|persona)\b"
_MENTION = re.compile(
    rf"\b(?:mentioned|provided|given|specified|stated|included) in (?:my|the) {_TEXT}|\bmy instructions?\b"
    rf"|\bbased on (?:my|the) {_TEXT}(?! (?:in|from|on|for|you|that|we|i)\b)|\b(?:according to|as per) my {_TEXT}"
    r"|\bas the (?:simulated )?(?:user|customer),? I (?:should|must|need to|have to)\b"
    r"|\bthe user is (?:very )?(?:persistent|terse|not|a |an )"
    r"|\b(?:stay|remain|keep)(?:ing)? in character\b"
    rf"|\b(?:according to|as per) (?:my|the) {_PART}(?! (?:you|on|in your)\b)"
    rf"|\bmy {_PART} (?:says?|said|tells?|told|states?|asks?|requires?|instructs?|is to)\b"
    rf"|\b(?:scenario|{_PART}) (?:that |which )?(?:i (?:was|am|have been) |i['’](?:ve been|m) |was |has been )?"
    r"(?:given|assigned|following|playing)(?: to me)?\b(?! (?:by|from)\b)"
    r"|\bi(?:['’]m| am) (?:only |just |merely )?(?:the|a|an) (?:simulated )?(?:user|customer) in (?:this|the|a) "
    r"(?:scenario|role[- ]?play|simulation|conversation|exercise|test)\b"
    r"|\b(?:pretend(?:ing)?|supposed) (?:to be|that i am|i am|i['’]m) (?:a|the) (?:customer|user|caller|client)\b"
    r"|\bi (?:was|am|have been) (?:told|instructed|asked|supposed) (?:not )?to (?:pretend|reveal|disclose|withhold)\b"
    r"|\bsimulated (?:user|customer|caller|client)\b|\bmy (?:system prompt|persona)\b"
    rf"|\bmy {_PART} (?:does(?:n['’]t| not)|mentions?|contains?|includes?|only|has)\b"
    r"|\b(?:in|for|during|of) (?:this|the) (?:simulation|role[- ]?play|simulated conversation)\b"
    r"|\bin (?:this|the|my) scenario,? (?:my (?:goal|role|task|character|persona)\b"
    r"|i(?:['’]m| am) (?:supposed|told|playing)\b)"
    r"|\b(?:scenario|role|persona|character|task) (?:description|instructions?) (?:says?|states?|tells?|asks?|mentions?"
    r"|requires?|does(?:n['’]t| not)|do(?:n['’]t| not))\b"
    rf"|\bi(?:['’]ve been| was| am|['’]m| have been) instructed (?:not )?to (?!{_OF_OTHERS})"
    r"(?![^.!?\n]*\b(?:by|from)\b)",
    re.IGNORECASE,
)
_BLANK = re.compile(
    r"\[(?:your|my|insert|enter|provide|not (?:provided|given|mentioned)|i can provide)\b[^\[\]]{0,90}\](?!\()",
    re.IGNORECASE,
)


class Leak(NamedTuple):
    """What a turn reveals."""

    kind: str
    """thoughts, mention, blank or control_word."""
    quote: str
    """The piece of the turn that shows it."""


def leaks(text: str) -> Iterator[Leak]:
    """Yield what one turn of a simulated user gives away, at most one of each kind."""
    thought = next((found for found in THOUGHT.finditer(text) if found["thought"].strip()), None)
    if thought is not None:
        yield Leak("thoughts", thought[0][:300])
    said = spoken(text)
    for kind, pattern in (("mention", _MENTION), ("blank", _BLANK)):
        found = pattern.search(said)
        if found is not None:
            yield Leak(kind, found[0])
    word = stray_control_word(text)
    if word:
        yield Leak("control_word", word)


def spoken(text: str) -> str:
    """Return a turn with its thoughts blanked out, so that positions stay."""
    return THOUGHT.sub(lambda found: " " * len(found[0]), text)


def stray_control_word(text: str) -> str:
    """Return the surroundings of a control word that neither begins nor ends what is said; empty when there is none."""
    first, said = CONTROL_WORD.search(text), spoken(text)
    ends = (said[: word.start()].strip() and said[word.end() :].strip() for word in CONTROL_WORD.finditer(said))
    if first is None or not all(ends):
        return ""
    return text[max(0, first.start() - 80) : first.end() + 80]


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
    """Return the agent's writes of the ground truth that the run does not make exactly."""
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


@dataclass
class SimulatorTally:
    """What is counted for one simulator with one agent on one task."""

    counts: Counter[str] = field(default_factory=Counter)
    """Counts by name; ``runs`` and ``turns`` are always there."""
    margins: dict[str, Margins] = field(default_factory=lambda: defaultdict(dict))
    """Runs with each habit, by the other fields of the logs."""
    quotes: dict[str, Evidence] = field(default_factory=dict)
    """One quote for each habit."""


class SimulatorRate(SuiteDetector):
    """Base of checks that say how often each simulator shows a habit, per run and per turn.

    A simulator is a model that plays the user in one experiment, because prompts and wiring differ between experiments.
    """

    category = "user-role-confusion"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    level = Level.SUITE
    needs_runs = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Fixed turns have no simulator."""
        return "the user's turns are fixed; no simulator speaks" if task.user.kind == "scripted" else None

    @abstractmethod
    def count_run(self, task: AgentTask, run: Trajectory, turns: Sequence[int], tally: SimulatorTally) -> None:
        """Count one run, given the positions of the user's turns among its messages."""

    @abstractmethod
    def compare(self, observations: Sequence[Observation]) -> Iterable[Conclusion]:
        """Yield the findings, from the observations of tasks that a simulator spoke in."""

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Count per simulator and agent."""
        tallies: dict[tuple[str, str], SimulatorTally] = defaultdict(SimulatorTally)
        for run in runs:
            turns = [i for i, message in enumerate(run.messages) if message.role == "user" and message.content.strip()]
            if turns:
                tally = tallies[simulator_of(run), run.model]
                tally.counts.update(runs=1, turns=len(turns))
                self.count_run(task, run, turns, tally)
        for (simulator, agent), tally in sorted(tallies.items()):
            value = {"agent": agent, "by": dict(tally.margins), "quoted": list(tally.quotes), **tally.counts}
            yield Observation(task_id=task.id, key=simulator, value=value, evidence=tuple(tally.quotes.values()))
        if not tallies:
            yield Observation(task_id=task.id, key=_SILENT)

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Leave tasks without a simulated turn undecided, and compare the others."""
        silent = tuple(item.task_id for item in observations if item.key == _SILENT)
        if silent:
            yield Undecided(task_ids=silent, reason="no run of this task holds a turn of a simulated user")
        yield from self.compare([item for item in observations if item.key != _SILENT])


_SILENT = ""


def grouped(observations: Sequence[Observation], by: Literal["key", "task_id"]) -> dict[str, list[Observation]]:
    """Group observations by simulator (``key``) or by task."""
    groups: dict[str, list[Observation]] = defaultdict(list)
    for item in observations:
        groups[getattr(item, by)].append(item)
    return groups
