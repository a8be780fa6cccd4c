"""Tools that change something and are documented as if they changed nothing."""

import re
from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, ToolDetector
from agenthard.audit.detectors.support.tool_docs import tool_quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import ToolSpec

_CHANGED = r"(?:changed|modified|altered|written|affected|touched|saved|stored|updated|deleted|booked|charged|mutated)"
_CHANGES = r"(?:chang|modif|alter|affect|updat|writ|mutat|touch|sav|stor)\w*"
_ALL = (
    r"(?:anything|any (?:data|record|state|row|entr(?:y|ies)|account)s?|(?:the |your |its |our )?(?:\w+ )?"
    r"(?:state|data ?base|database|data|records|system|environment|store|world|anything))"
)
_DENIALS = (
    r"(?:^|(?:is|are|being|a|an|this|strictly|purely|completely|fully|safe,?|[(;:,–—-]) ?)read[- ]only"
    r"(?=\s*(?:$|[.,;:!)(–—-]|and\b|call|operation|tool|function|action|look|access|quer|method|endpoint|request|view))",
    rf"\b(?:nothing|no (?:data|record|state|file|row|entr(?:y|ies)|account)s?)(?: \w+)?"
    rf" (?:is|are|gets?|will be|be|being)(?: \w+)? {_CHANGED}\b",
    r"\b(?:(?:does|do|will|would|can) ?(?:not|n['’]t)|won['’]t|can['’]?t|cannot|never|without)"
    rf" (?:ever )?{_CHANGES} {_ALL}\b",
    r"(?:^|[@#({\[*,;'\"]\s*)read[-_ ]?only(?:_?hint)?\b['\"]?\s*[:=]\s*['\"]?(?:true|yes|1)\b"
    r"|(?:^|(?<=[\s(*\[{]))[@#:\[]read[-_ ]?only\b"
    r"|\b(?:idempotent|safe) (?:read|query|look-?up)\b"
    r"|\b(?:mutates|mutating|destructive(?:_?hint)?|writes|modifies(?:_state)?|side_?effects?)['\"]?\s*[:=]\s*['\"]?"
    r"(?:false|no|none|0)\b",
    r"\b(?:makes?|making|performs?|causes?|applies|commits?) (?:no|zero) (?:\w+ )?"
    r"(?:changes?|modifications?|updates?|writes?|mutations?|edits?)\b"
    r"|\bno (?:\w+ )?(?:changes?|modifications?|writes?|updates?) (?:is|are|will be|get) (?:ever )?"
    r"(?:made|performed|applied|committed|done|saved)\b"
    r"|\b(?:without|instead of) (?:making|performing) (?:any )?changes?\b"
    r"|\b(?:does|do|will|would|can) ?(?:not|n['’]t) (?:make|perform|cause) (?:any )?"
    r"(?:changes?|modifications?|writes?)\b",
    r"\b(?:never|(?:does|do|will|can) ?(?:not|n['’]t)|cannot) (?:ever )?(?:writes?|mutates?|saves?|persists?|commits?)"
    r"(?: anything| any \w+)?(?: (?:back )?(?:to|in|into) (?:(?:any|the|a|your|its|our) )?(?:\w+ )?"
    r"(?:state|data ?base|data"
    r"|records?|system|environment|store|storage|disk|world|backend|ledger|tables?))?(?=\s*(?:$|[.,;:!)*]))",
    r"\b(?:no|without|free of|has no|zero) (?:\w+ )?side[- ]?effects?\b|\bside[- ]?effect[- ]free\b",
    r"\b(?:has|have|with|without|had) (?:no |any )?effects? (?:at all )?on (?:any|the|your) (?:\w+ )?"
    r"(?:records?|state|data|database|system|accounts?|entr(?:y|ies)|environment)\b",
    r"\b(?:only|just|merely|purely) (?:looks|reads|views|inspects|displays what|shows what|informs)\b"
    r"|\b(?:looks?|reads?|views?|inspects?)(?: \w+)? only\b"
    r"|\b(?:purely|solely) (?:informational|informative|a look-?up)\b"
    r"|\b(?:pure|mere|plain|simple) (?:look-?up|query|view|read)\b|\binformation(?:al)? only\b",
    r"\bleav(?:es|ing) (?:everything|all(?: \w+)?|the (?:\w+ )?(?:state|data|database|records|system))"
    r" (?:as (?:it|they) (?:is|was|are|were|stands?)|unchanged|untouched|unaltered|intact|alone)\b",
)
_DENIAL = re.compile("|".join(_DENIALS), re.IGNORECASE)
_SENTENCE = re.compile(r"(?:[^.!?\n]|[.!?](?=\S))+[.!?]*")
_CONDITION = re.compile(
    r"\b(?:if|when|unless|while|until|except|but|otherwise|other than|apart from|besides|once|fails?|errors?|invalid"
    r"|mode|flag|dry[- ]run|else|not read[- ]only|first|before)\b|=",
    re.IGNORECASE,
)
_CHANGING = re.compile(r"(?:delete|remove|cancel|update|modify|erase|purchase|insert|edit|replace|overwrite)(?![a-z])")
_HARMLESS = re.compile(r"preview|simulat|draft|estimat|quote|check|validat|verif|dry|plan|test|can_|status|history")


class DeniedChange(ToolDetector):
    """The documentation of a tool says that it changes nothing, and it does.

    Rule: a sentence of the description says of the whole tool that it only reads ("read-only", "looks only"), that
    nothing is changed ("no record is modified", "does not alter the database", "leaves everything as it is"), that it
    has no effect ("free of side effects", "has no effect on any record"), or marks it so ("@readonly", "readOnlyHint:
    true", "destructive: false"). And the tool changes the state: the
    benchmark marks it as a write, or, where nothing is marked, its name begins with deleting, cancelling, updating or
    the like.

    Sentences with a condition or an exception are left out, and denials of one thing only ("does not change the
    payment method").

    Flagged: ``set_window``, marked as a write: "Read-only, safe to call any time. Put a parcel into a window."
    Not flagged: ``lock_file``: "Makes a file read-only."; "Nothing is changed when the booking has flown."

    When it is wrong: a tool that is marked as a write because it is logged or charged.
    """

    id = "denied-change"
    title = "documentation denies the change that a tool makes"
    version = "2"
    experimental = True
    category = "misleading-tool-design"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "An agent that believes the text calls the tool to look, and has changed the state that is scored."

    def tool_not_applicable(self, tool: ToolSpec) -> str | None:
        """Return why the tool cannot be checked, or None."""
        return None if tool.description else "the tool has no description"

    def inspect_tool(self, tool: ToolSpec) -> Iterable[Hit]:
        """Yield the denial, if there is one and the tool changes something."""
        marked = tool.effect == "write"
        if not (marked or _sounds_changing(tool)):
            return
        for match in _SENTENCE.finditer(tool.description):
            denial = match[0].strip()
            denied = _DENIAL.search(denial)
            if denied and not _CONDITION.search(f"{denial[: denied.start()]} {denial[denied.end() :]}"):
                effect = ("/effect", "marked as a change") if marked else ("/name", "a change by its name")
                yield Hit(
                    claim=f"{tool.name} changes the state, and its documentation denies that: “{denial[:160]}”",
                    evidence=(
                        tool_quote(tool, "/description", text=denial, note="the denial"),
                        tool_quote(tool, effect[0], note=effect[1]),
                    ),
                    fix="Say what the tool changes.",
                )
                return


def _sounds_changing(tool: ToolSpec) -> bool:
    name = re.split(r"[.:/]", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", tool.name))[-1].lower()
    return tool.effect == "unknown" and bool(_CHANGING.match(name)) and not _HARMLESS.search(name)
