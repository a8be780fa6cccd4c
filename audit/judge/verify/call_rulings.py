"""Rules on what is said of a gold call: that it does not fit the schema, is not needed, fails, or names no tool."""

import re
from collections.abc import Sequence
from typing import Any

from agenthard.audit.detectors.ground_truth.call_schema import CallSchema
from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.environment import Attempt
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.necessity import values_from, without
from agenthard.audit.execution.replay import Step, gold_turns, replay
from agenthard.audit.judge.verify.case import NO_CALL, Case, Ruling, passes
from agenthard.audit.judge.verify.cited import evidence_of
from agenthard.audit.judge.verify.locating import locate
from agenthard.audit.shards import check_shard
from agenthard.taxonomy.finding import Severity, Status
from agenthard.taxonomy.task import AgentTask, ToolSpec

_WANTED = re.compile(
    r"\b(?:un)?(?:user|customer|ask|request|want|wish|mention|told|tells?\b|said|says?\b|stated|specif|instruct|polic|rule"
    r"|invent|authori|consent|permi|grounded)",
    re.IGNORECASE,
)
"""Stems of claims about what somebody wants, or a rule says, on which a replay is silent."""
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
"""What is said of a call that does not fit its schema; a day that does not exist is another matter."""
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
            return Ruling("open", "it rests on what the documentation says in words, which call-schema does not read")
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
    """Tell whether an issue quotes what the documentation of a tool says in words."""
    bare = f"{tool.name}\n{canonical_json(_without_descriptions(tool.parameters))}"
    documented = ("/environment/tools", "/environment/user_tools")
    quotes = [item.quote for item in evidence_of(case.issue) if item.pointer.startswith(documented)]
    return any(locate(quote, bare) is None for quote in quotes)


def _without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        texts = {key for key, item in value.items() if key == "description" and isinstance(item, str)}
        return {key: _without_descriptions(item) for key, item in value.items() if key not in texts}
    return [_without_descriptions(item) for item in value] if isinstance(value, list) else value
