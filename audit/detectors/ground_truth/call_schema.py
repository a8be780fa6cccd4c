"""Check: gold calls against the documented schema of the tool they call."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rapidfuzz import process

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.corrections import (
    Patch,
    as_documented,
    coerced,
    moved,
    near_name,
    near_value,
    only_choice,
    renamed,
    replace,
    without_call,
)
from agenthard.audit.detectors.support.date_forms import broken_form
from agenthard.audit.detectors.support.gold_values import documented, gold_values, readable
from agenthard.audit.detectors.support.prose_limits import broken_limit
from agenthard.audit.detectors.support.schema import Violation, violations
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.pointer import escape, join, split
from agenthard.taxonomy.task import AgentTask, ToolCall, ToolSpec

UNSPECIFIED = frozenset({"", "na", "none", "null", "any", "all", "dontcare", "unspecified", "notspecified", "unknown"})
"""Words, squashed, with which benchmarks write that a choice was left open."""


class CallSchema(TaskDetector):
    """Every gold call must be one that the agent could make from the tool documentation.

    A gold call is flagged when its text is not a call (also where no tool is documented); when it names a tool that is
    not offered (an insufficient toolset, unless the name looks like a misspelling of one that is), or one that is
    withheld until a later turn; when it gives a parameter that the tool does not document or leaves out a required one;
    and when none of the accepted values of an argument has the documented type, enum, format, pattern, bounds or item
    type, at any depth, or keeps to the limit, choice, default (where it may be left out) or form of dates that the
    prose states; and when a month is more than 12.

    Flagged: ``get_ticket(ticket_id="1")`` where ``ticket_id`` is an integer; a call of a tool before it is revealed.
    Not flagged, because benchmarks do it on purpose:

    * an accepted value that breaks the schema next to one that keeps it (spelling variants, dead alternatives);
    * a value equal to the documented default, or null for a parameter that may be left out;
    * a word for "left open" (``N/A``, ``dontcare``) where an enum or another type is documented;
    * an enum of scalars on an array, read as the enum of its items;
    * Java and JavaScript values given as text, which may be source code (``mapController``, ``new ArrayList<>()``);
    * Python values given as text that names data of the prompt (``data['sales']`` where the user speaks of ``data``);
    * a required parameter that the documentation does not describe (a flaw of the documentation).

    An enum value that differs only in case or punctuation is cosmetic. A flaw in an argument that a run may leave out,
    in a call that only reads where only the final state is scored, in a milestone, or in a member of a nested object
    whose documentation may be the incomplete part, may affect the score; the rest affects it.

    Confirmed is a flaw that a run shows: the ground truth with the documented value, without the undocumented argument,
    or with the call moved or left out that no agent can make, fails; or the call that the documentation forbids passes.
    Where the evaluator does not see the difference, or nothing available can tell, a flaw that affects the score is
    suspected; it is cosmetic where the evaluator passes any other value there as well.

    Wrong where the documentation is wrong and the call is right; then the mismatch is a flaw of the environment.
    """

    id = "call-schema"
    title = "Gold calls that break the tool's documented schema"
    version = "6"
    category = "malformed-tool-call"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.CONFIRMED
    deciding = "schema"
    about_values = True
    why = "An agent that follows the tool documentation cannot make the call that is scored as right."

    def not_applicable(self, task: AgentTask) -> str | None:
        """A task without gold calls or tools, or with a tool whose schema cannot be used, cannot be checked."""
        if not any(task.ground_truth.turns):
            return "the ground truth holds no calls"
        if not _documents_tools(task):
            readable = all(call.name for _, call in task.gold_calls())
            return "the task documents no tools" if readable else None
        for _, call in task.gold_calls():
            if tool := task.tool(call.name, call.requestor):
                try:
                    violations(call.arguments, tool.parameters, _Conventions(task, tool))
                except ValueError as error:
                    return f"{tool.name}: {error}"
        return None

    def inspect(self, task: AgentTask) -> Iterator[Hit]:
        """Yield one hit per broken call or argument."""
        for pointer, call in task.gold_calls():
            tool = task.tool(call.name, call.requestor)
            if call.name == "":
                yield _unreadable(task, pointer, call)
            elif tool is None and _documents_tools(task):
                yield _unknown_tool(task, pointer, call)
            elif tool is not None:
                yield from _withheld(task, pointer, call)
                yield from _misfits(task, pointer, call, tool)
                yield from _beyond_prose(task, pointer, call, tool)


_RESEMBLES = 80.0
"""Similarity, of 100, from which a name is taken for a misspelling of another."""


def _documents_tools(task: AgentTask) -> bool:
    return bool(task.environment.tools or task.environment.user_tools)


def _unreadable(task: AgentTask, pointer: str, call: ToolCall) -> Hit:
    return Hit(
        claim=f"The gold call {call.text!r} cannot be read as a tool call.",
        evidence=(quote(task, f"{pointer}/text" if call.text else pointer, note="the call as written"),),
        fix="Write it as one call with literal arguments.",
        severity=Severity.MAY_AFFECT_SCORE if task.ground_truth.semantics == "milestones" else None,
        cause=shared_cause(task, "unreadable", call.text),
        proof=without_call(task, pointer),
    )


def _unknown_tool(task: AgentTask, pointer: str, call: ToolCall) -> Hit:
    tools = task.environment.tools if call.requestor == "assistant" else task.environment.user_tools
    meant = near_name(call.name, [tool.name for tool in tools if _documents(tool, call.arguments)])
    resembles = process.extractOne(call.name, [tool.name for tool in tools], score_cutoff=_RESEMBLES)
    return Hit(
        claim=f"The gold calls {call.name!r}, which is not among the {len(tools)} tools of the {call.requestor}.",
        evidence=(quote(task, f"{pointer}/name", note="no tool has this name"),),
        fix="Name a tool that is offered.",
        patch=replace(f"{pointer}/name", meant) if meant else (),
        cause=shared_cause(task, "unknown tool", call.name),
        category=None if resembles else "insufficient-toolset",
        proof=renamed(task, pointer, meant) if meant else without_call(task, pointer),
    )


def _withheld(task: AgentTask, pointer: str, call: ToolCall) -> Iterator[Hit]:
    turn = int(pointer.split("/")[3])
    for revealed, names in task.hidden_tools.items():
        never = not revealed.isdigit()
        if call.name in names and call.requestor == "assistant" and (never or turn < int(revealed)):
            withheld = "is never revealed" if never else f"is withheld until turn {int(revealed) + 1}"
            yield Hit(
                claim=f"The gold calls {call.name!r} in turn {turn + 1}, but the tool {withheld}.",
                evidence=(
                    quote(task, f"{pointer}/name", note=f"called in turn {turn + 1}"),
                    quote(task, join("/hidden_tools", revealed), note=f"the tool {withheld}"),
                ),
                why="At that point the agent does not have the tool, so it cannot make the call.",
                fix="Move the call behind the turn that reveals the tool, or withhold another tool.",
                proof=without_call(task, pointer) if never else moved(task, pointer, int(revealed)),
            )


def _misfits(task: AgentTask, pointer: str, call: ToolCall, tool: ToolSpec) -> Iterator[Hit]:
    for violation in violations(call.arguments, tool.parameters, _Conventions(task, tool)):
        if violation.value is None and _may_be_null(task, tool, violation):
            continue
        given = join(pointer, "arguments") + violation.value_at
        documented = _tool_pointer(task, call, tool) + "/parameters" + violation.rule_at
        yield Hit(
            claim=_claim(call, violation),
            evidence=(quote(task, given, note="the gold call"), quote(task, documented, note="the documentation")),
            fix=_FIXES.get(violation.keyword, "Accept a documented value, or correct the documentation."),
            severity=_severity(task, tool, violation),
            patch=_patch(task, given, call, violation),
            tier=Tier.SUSPECTED if _in_nested_object(violation) else None,
            cause=shared_cause(task, call.name, violation.keyword, violation.rule_at, violation.name, violation.value),
            proof=as_documented(task, given, violation),
        )


def _beyond_prose(task: AgentTask, pointer: str, call: ToolCall, tool: ToolSpec) -> Iterator[Hit]:
    """Compare values with what the prose of their documentation says, where the schema allows them."""
    broken = {violation.value_at for violation in violations(call.arguments, tool.parameters, _Conventions(task, tool))}
    for value in gold_values(call.arguments):
        found = documented(tool, value.at) if value.at not in broken else None
        prose = found.schema.get("description") if found else None
        if found is None or not isinstance(prose, str):
            continue
        accepted = [given for _, given in value.accepted]
        words = broken_limit(prose, accepted, value.omissible)
        reason = f"the documentation says: {words}" if words else broken_form(prose, value.member, accepted)
        if reason is None:
            continue
        at, given = value.accepted[0]
        documentation = f"{_tool_pointer(task, call, tool)}/parameters{found.pointer}/description"
        yield Hit(
            claim=f"The gold call of {call.name!r} gives {value.name!r} as {canonical_json(given)}"
            f"{', or left out,' if value.omissible else ''} and {reason}.",
            evidence=(
                quote(task, f"{pointer}/arguments{at}", note="the gold call"),
                quote(task, documentation, note="the documentation"),
            ),
            fix="Accept a documented value, or correct the documentation.",
            severity=Severity.MAY_AFFECT_SCORE,
            tier=Tier.SUSPECTED,
            cause=shared_cause(task, call.name, value.member, words or reason),
        )


def _documents(tool: ToolSpec, arguments: dict[str, Any]) -> bool:
    return set(arguments) <= set(tool.parameters.get("properties") or {})


def _patch(task: AgentTask, given: str, call: ToolCall, violation: Violation) -> Patch:
    """Write the one change that makes the call fit, where there is exactly one."""
    if not only_choice(task, given):
        return ()
    if violation.keyword == "type" and (meant := coerced(violation.value, violation.expected)) is not None:
        return replace(given, meant)
    if violation.keyword == "enum" and (named := near_value(violation.value, violation.expected)):
        # A word that the user says too is perhaps meant: with the gold alone changed, the task would contradict itself.
        said = any(squash(str(violation.value)) in squash(text) for _, text in task.user_texts())
        return () if said and squash(named) != squash(str(violation.value)) else replace(given, named)
    top_level = len(split(violation.value_at)) == 1
    if violation.keyword == "additionalProperties" and top_level:
        free = [name for name in violation.expected if name not in call.arguments]
        if meant := near_name(violation.name, free):
            return ({"op": "move", "from": given, "path": f"{given.rpartition('/')[0]}/{escape(meant)}"},)
    return ()


_FIXES = {
    "additionalProperties": "Remove the argument, or document it.",
    "required": "Give the required argument, or make it optional in the documentation.",
    "accepted values": "List the accepted values.",
}


@dataclass(frozen=True)
class _Conventions:
    """Deviations that are not flaws; see the docstring of the check."""

    task: AgentTask
    tool: ToolSpec

    def __call__(self, value: Any, schema: dict[str, Any]) -> bool:
        if "default" in schema and canonical_json(value) == canonical_json(schema["default"]):
            return True
        if not isinstance(value, str):
            return False
        if squash(value) in UNSPECIFIED:
            return True
        wants_text = schema.get("type", "string") == "string"
        if self.tool.language in ("java", "javascript"):
            return not wants_text
        wants_data = schema.get("type") in ("array", "object")
        return self.tool.language == "python" and wants_data and self._names_data(value)

    def _names_data(self, value: str) -> bool:
        name = value.partition("[")[0].partition(".")[0]
        return name.isidentifier() and any(name in text for _, text in self.task.user_texts())


def _may_be_null(task: AgentTask, tool: ToolSpec, violation: Violation) -> bool:
    parameter = split(violation.value_at)[0]
    optional = parameter not in (tool.parameters.get("required") or ())
    return violation.omissible or (optional and task.ground_truth.call_matching == "state")


def _tool_pointer(task: AgentTask, call: ToolCall, tool: ToolSpec) -> str:
    kind = "tools" if call.requestor == "assistant" else "user_tools"
    tools = task.environment.tools if call.requestor == "assistant" else task.environment.user_tools
    return f"/environment/{kind}/{next(i for i, other in enumerate(tools) if other is tool)}"


def _in_nested_object(violation: Violation) -> bool:
    return violation.keyword == "additionalProperties" and len(split(violation.value_at)) > 1


def _severity(task: AgentTask, tool: ToolSpec, violation: Violation) -> Severity:
    if violation.keyword == "enum" and squash(str(violation.value)) in {squash(str(v)) for v in violation.expected}:
        return Severity.COSMETIC
    if violation.omissible:
        unknown = violation.keyword == "additionalProperties"
        return Severity.COSMETIC if unknown else Severity.MAY_AFFECT_SCORE
    matching = task.ground_truth.call_matching
    if matching == "none" or task.ground_truth.semantics == "milestones" or _in_nested_object(violation):
        return Severity.MAY_AFFECT_SCORE
    if matching == "state" and tool.effect == "read":
        return Severity.MAY_AFFECT_SCORE
    return Severity.AFFECTS_SCORE


def _claim(call: ToolCall, violation: Violation) -> str:
    place = readable(violation.value_at) or "arguments"
    given = canonical_json(violation.value)
    given = given if len(given) <= 80 else given[:77] + "..."
    what = {
        "additionalProperties": f"gives {violation.name!r}, which the tool does not document",
        "required": f"leaves out {violation.name!r}, which the tool requires",
        "accepted values": f"accepts no value at all for {place!r}",
        "type": f"gives {place!r} as {given}, but the documented type is {violation.expected!r}",
        "enum": f"gives {place!r} as {given}, but the documentation allows only {canonical_json(violation.expected)}",
    }
    rule = f"gives {place!r} as {given}, which breaks the documented {violation.keyword} {violation.expected!r}"
    return f"The gold call of {call.name!r} {what.get(violation.keyword, rule)}."
