"""Rules that execution can decide: claims about a call of the ground truth, and claims about the evaluator."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, Literal

from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.environment import Attempt, ExecutionError
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_evaluated, why_not_replayed
from agenthard.audit.execution.necessity import values_from, without
from agenthard.audit.execution.replay import Step, gold_turns, replay
from agenthard.audit.judge.verdict import CheckedIssue
from agenthard.audit.judge.verify.evidence import cited_calls, evidence_of
from agenthard.audit.judge.verify.patches import PatchError, operations, patched_task
from agenthard.audit.judge.verify.quotes import locate
from agenthard.audit.shards import check_shard
from agenthard.taxonomy.accepted import concrete_values
from agenthard.taxonomy.finding import Proof, Severity, Status
from agenthard.taxonomy.pointer import resolve
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

NO_CALL = "its quotes do not name one call of the ground truth"


@dataclass(frozen=True)
class Ruling:
    """The decision of a rule on an issue."""

    standing: Literal["proved", "refuted", "open"]
    """open: the rule is about such an issue and cannot decide it."""
    reason: str
    """What was observed, or why nothing could be."""
    severity: Severity | None = None
    """What the flaw does to the score, where that was observed."""
    proof: Proof | None = None
    """A run that is scored wrongly, where a check found one."""


@dataclass(frozen=True)
class Case:
    """An issue whose quotes were found, with its task."""

    task: AgentTask
    """The task."""
    issue: CheckedIssue
    """The issue."""

    @cached_property
    def calls(self) -> tuple[str, ...]:
        """Pointers of the gold calls that it quotes."""
        return cited_calls(self.task, self.issue)

    @property
    def claim(self) -> str:
        """The claim of the issue."""
        return self.issue.issue.claim

    @property
    def pointers(self) -> list[str]:
        """Places in the task record that it quotes."""
        return [item.pointer for item in evidence_of(self.issue)]

    def call(self, pointer: str) -> ToolCall:
        """Return the gold call at a pointer."""
        call: ToolCall = resolve(self.task, pointer)
        return call

    def number(self, pointer: str) -> int:
        """Return the place of a gold call among all, from 0."""
        return [place for place, _ in self.task.gold_calls()].index(pointer)

    def step(self, pointer: str) -> Step | None:
        """Return the step of a gold call in the replay; None when the gold cannot be replayed."""
        return None if why_not_replayed(self.task) else gold_replay(self.task).steps[self.number(pointer)]


def passes(task: AgentTask, attempts: Sequence[Attempt]) -> bool | str:
    """Tell whether the evaluator of a task passes all of some attempts.

    Returns:
        A text that says why the evaluator cannot be asked, where it cannot.

    Raises:
        ExecutionError: The evaluator broke.
    """
    reason = why_not_evaluated(task)
    if reason:
        return reason
    verdicts = environment_of(task).evaluate_many(task, attempts)
    for verdict in verdicts:
        if isinstance(verdict, ExecutionError):
            raise verdict
    return all(not isinstance(verdict, ExecutionError) and verdict.passed for verdict in verdicts)


_WANTED = re.compile(
    r"\b(?:un)?(?:user|customer|ask|request|want|wish|mention|told|tells?\b|said|says?\b|stated|specif|instruct|polic|rule"
    r"|invent|authori|consent|permi|grounded)",
    re.IGNORECASE,
)
"""Stems of claims about what a person wants or a rule says, on which a replay is silent."""
_NO_EFFECT = re.compile(
    r"\b(?:no|without(?: any)?) effect\b|\b(?:changes?|does|do) nothing\b|\bnothing changes\b|\bno[- ]op\b|\bidle\b"
    r"|\bmakes no difference\b"
    r"|\b(?:overwritten|undone|reverted)\b|\bstate (?:is|stays|remains) (?:the same|unchanged)\b",
    re.IGNORECASE,
)
"""Claims that a replay can refute: that a call which changes the state leaves nothing behind."""
_OF_SCHEMA = re.compile(
    r"\b(?:types?|typed|integers?|strings?|text|numbers?|numeric|floats?|booleans?|lists?|arrays?|objects?|enum\w*|schema"
    r"|required|mandatory|missing|omits?|optional|parameters?|arguments?|undocumented|allowed values?)\b",
    re.IGNORECASE,
)
"""Claims about a call that does not fit its schema, not about a day that does not exist."""
_FAILS = re.compile(
    r"\b(?:call|it|which|that) (?:always |will |would )?fails?"
    r"(?=[.,;:]|$| when| because| since| with| in the (?:env|rep))"
    r"|\b(?:raises?|returns?|throws?|results? in|yields?) an? (?:\w+ )?(?:error|exception)\b|\bcannot be executed\b",
    re.IGNORECASE,
)
_MISSING_TOOL = re.compile(
    r"\bno (?:tool|function) (?:named |called )?[`'\"](?P<one>\w+)[`'\"]"
    r"|\b(?:tool|function) [`'\"](?P<two>\w+)[`'\"] (?:is (?:missing|absent|not (?:offered|available|provided))"
    r"|does not exist)",
    re.IGNORECASE,
)


def schema(case: Case) -> Ruling:
    """A call that `call-schema` looked at, and did not flag, fits the documented schema."""
    looked = check_shard([case.task], {}, [CallSchema()])
    [row] = looked.coverage
    flagged = [item.pointer for each in looked.hits for item in each.hit.evidence]
    if row.status not in (Status.CLEAN, Status.FLAGGED):
        return Ruling("open", f"call-schema could not check the task: {row.reason}")
    if not case.calls or not _OF_SCHEMA.search(case.claim):
        return Ruling("open", "its claim is about something else than the schema" if case.calls else NO_CALL)
    for pointer in case.calls:
        call, step = case.call(pointer), case.step(pointer)
        tool = case.task.tool(call.name, call.requestor)
        if tool is None or _quotes_prose(case, tool):
            return Ruling("open", "it rests on prose of the documentation, which call-schema does not read")
        if any(place.startswith(pointer) for place in flagged):
            return Ruling("open", "call-schema flags something else of the call")
        if step is not None and step.observation.error is not None:
            return Ruling("open", f"the call fits the schema, but fails when replayed: {step.observation.error}")
    names = ", ".join(case.call(pointer).name for pointer in case.calls)
    said = "fits the documented schema, or deviates by a convention of the benchmark"
    return Ruling("refuted", f"call-schema looked at the gold call of {names}: it {said}")


def needed(case: Case) -> Ruling:
    """A gold call is left out of the replay, to see what is lost."""
    task, reason = case.task, why_not_replayed(case.task)
    if reason or len(case.calls) != 1:
        return Ruling("open", reason or NO_CALL)
    steps, number = gold_replay(task).steps, case.number(case.calls[0])
    step = steps[number]
    if _is_unscored_read(task, step):
        said = "only reads, and what is read is not scored: no run has to make the call"
        return Ruling("refuted", f"{step.call.name} {said}")
    if step.observation.error is not None:
        return Ruling("open", f"{step.call.name} fails when replayed, so what it is for cannot be seen")
    same, used = _left_out(task, step) == steps[-1].after, values_from(steps, number)
    if same and not used:
        return _without_loss(task, step)
    if _is_about_wishes(case) or (not same and not _NO_EFFECT.search(_words(case))):
        return Ruling("open", f"{step.call.name} makes a difference; whether it is wanted, no replay can tell")
    if not same:
        return Ruling("refuted", f"without {step.call.name} the ground truth ends in another state")
    told = _told_before(task, steps[:number], step)
    only = next((value for value in used if value not in told and value not in ("true", "false", "null")), None)
    if only is None:
        return Ruling("open", f"a later call has a value that the response of {step.call.name} shows, and others too")
    return Ruling(
        "refuted", f"a later gold call has {only!r}, which nothing but the response of {step.call.name} tells"
    )


def call_fails(case: Case) -> Ruling | None:
    """A call that is said to fail is replayed."""
    if not _FAILS.search(case.claim):
        return None
    reason = why_not_replayed(case.task)
    if reason or len(case.calls) != 1:
        return Ruling("open", reason or NO_CALL)
    step = case.step(case.calls[0])
    if step is None or step.observation.error is not None:
        return Ruling("open", "the call fails, and that may be meant")
    response = step.observation.text[:200]
    return Ruling("refuted", f"the gold call of {step.call.name} succeeds when replayed, with the response: {response}")


def named_tool(case: Case) -> Ruling | None:
    """A tool that is said to be missing is looked up."""
    found = _MISSING_TOOL.search(case.claim)
    name = found and (found["one"] or found["two"])
    withheld = {tool for names in case.task.hidden_tools.values() for tool in names}
    if not name or name in withheld or not (case.task.tool(name) or case.task.tool(name, "user")):
        return None
    return Ruling("refuted", f"the task offers a tool called {name}")


def _told_before(task: AgentTask, earlier: Sequence[Step], step: Step) -> str:
    """Return all that an agent can know when it makes a call."""
    texts = [text for _, text in task.user_texts()]
    texts += [f"{tool.description}\n{canonical_json(tool.parameters)}" for tool in task.environment.tools]
    shown = [f"{canonical_json(each.call.arguments)}\n{each.observation.text}" for each in earlier]
    return "\n".join((*texts, task.environment.policy, *shown, canonical_json(step.call.arguments)))


def _left_out(task: AgentTask, step: Step) -> str:
    """Return the hash of the state in which the ground truth ends without a call."""
    return replay(environment_of(task), task, without(gold_turns(task), step.turn, step.index)).final


def _without_loss(task: AgentTask, step: Step) -> Ruling:
    """Rule on a call whose absence leaves the final state as it is and no later call without a value."""
    name, shorter = step.call.name, without(gold_turns(task), step.turn, step.index)
    passed = passes(task, [Attempt(turns=shorter, replies=task.ground_truth.outputs)])
    if isinstance(passed, str):
        return Ruling("open", passed)
    if not passed:
        return Ruling("open", f"the evaluator demands {name}; whether the task does, no replay can tell")
    said = f"without {name} a run gets full score and the same final state, and no later call lacks a value"
    return Ruling("proved", said, Severity.COSMETIC)


def _is_unscored_read(task: AgentTask, step: Step) -> bool:
    tool = task.tool(step.call.name, step.call.requestor)
    compared = any(check.scored and check.kind == "tool_calls" for check in task.evaluation.checks)
    free = "redundant_calls_free" in task.traits and "unchecked_turns" not in task.traits and not compared
    return free and not step.changed and tool is not None and tool.effect == "read"


def _is_about_wishes(case: Case) -> bool:
    quoted = any(pointer.startswith(("/user/", "/environment/policy")) for pointer in case.pointers)
    return quoted or _WANTED.search(_words(case)) is not None


def _words(case: Case) -> str:
    return f"{case.claim} {case.issue.issue.reasoning_summary}"


def _quotes_prose(case: Case, tool: ToolSpec) -> bool:
    """Tell whether an issue quotes the prose of a tool's documentation."""
    bare = f"{tool.name}\n{canonical_json(_without_descriptions(tool.parameters))}"
    documented = ("/environment/tools", "/environment/user_tools")
    quotes = [item.quote for item in evidence_of(case.issue) if item.pointer.startswith(documented)]
    return any(locate(quote, bare) is None for quote in quotes)


def _without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        texts = {key for key, item in value.items() if key == "description" and isinstance(item, str)}
        return {key: _without_descriptions(item) for key, item in value.items() if key not in texts}
    return [_without_descriptions(item) for item in value] if isinstance(value, list) else value


_GOLD = r"(?:gold(?:en)?|ground[ -]truth|reference)"
_REJECTED = re.compile(
    rf"\b(?:evaluator|checker|scorer) (?:itself )?(?:rejects?|never accepts?|does not accept) (?:\w+ ){{0,3}}{_GOLD}\b"
    rf"|\b{_GOLD}(?: \w+){{0,3}} (?:is|are) rejected\b",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\bdoing nothing (?:at all )?(?:passes|gets|scores|earns|receives|succeeds|is (?:scored|accepted|enough))"
    r"|\b(?:agent|run|model|assistant) (?:that|which|who) (?:does nothing|makes no (?:tool )?calls?)(?: at all)? "
    r"(?:passes|gets|scores|earns|receives|succeeds)",
    re.IGNORECASE,
)
_MOST = 64
"""Combinations of accepted values from which on they are not tried."""


def gold_accepted(case: Case) -> Ruling | None:
    """A ground truth that is said to be rejected is given to the evaluator."""
    if not _REJECTED.search(case.claim):
        return None
    passed = passes(case.task, [Attempt(turns=gold_turns(case.task), replies=case.task.ground_truth.outputs)])
    if isinstance(passed, str):
        return Ruling("open", passed)
    if passed:
        return Ruling("refuted", "the evaluator gives the ground truth full score")
    return Ruling("open", "the evaluator rejects the first of the accepted values, and perhaps not all")


def doing_nothing(case: Case) -> Ruling | None:
    """An agent that does nothing, and is said to pass, is given to the evaluator."""
    if not _NOTHING.search(case.claim):
        return None
    if "expects_no_call" in case.task.traits:
        return Ruling("refuted", "the task expects no call: doing nothing is the right answer")
    passed = passes(case.task, [Attempt()])
    if isinstance(passed, str):
        return Ruling("open", passed)
    if passed:
        return Ruling("proved", "the evaluator gives an agent that does nothing full score", Severity.MAY_AFFECT_SCORE)
    return Ruling("refuted", "the evaluator fails an agent that does nothing")


def alternative_passes(case: Case) -> Ruling | None:
    """The answers that a patch adds to the ground truth are given to the evaluator as it is."""
    try:
        wanted = patched_task(case.task, operations(case.issue.issue.patch))
    except PatchError:
        return None
    known, listed = _readings(case.task), _readings(wanted)
    if _MOST in (len(known), len(listed)):
        return Ruling("open", "the ground truth accepts too many combinations of values to try them")
    added = [attempt for attempt in listed if attempt not in known]
    if not added:
        return None
    passed = passes(case.task, added)
    if isinstance(passed, str):
        return Ruling("open", passed)
    if passed:
        return Ruling("refuted", "the evaluator accepts already what the patch is to make it accept")
    return Ruling("open", "the evaluator rejects the other answer; whether it is right, no execution can tell")


def _readings(task: AgentTask) -> list[Attempt]:
    """List the runs that a ground truth accepts, up to a number of combinations."""
    turns = [[call.model_dump() for call in turn] for turn in task.ground_truth.turns]
    return [
        Attempt(
            turns=tuple(tuple(ToolCall.model_validate({**call, "text": None}) for call in turn) for turn in reading),
            replies=task.ground_truth.outputs,
        )
        for reading in islice(concrete_values(turns, _MOST), _MOST)
    ]
