"""Texts of the user that were damaged on their way into the benchmark."""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.gold_values import gold_values
from agenthard.audit.detectors.support.sharing import shared_cause
from agenthard.audit.detectors.support.task_texts import sentence_around
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]{0,400}\"|(?<!\w)'[^'\n]{0,400}'(?!\w)", re.DOTALL)
_ESCAPED_BREAK = re.compile(r"\\n")
_MOJIBAKE = re.compile(
    "\ufffd|\u00c3[\u0080-\u00bf]|\u00e2\u20ac[\u0153\u2122\u0161\u02dc\u201c\u201d\u00a6]|\u00c2[\u00a0\u00a3\u00a9\u00ae\u00b0\u00b1\u00b7]"
)
_SLOT = re.compile(
    r"\{(?:agent_scratchpad|chat_history|user_input|user_query|input|question|context)\}|\[object Object\]"
    r"|<(?:insert|your)[ _][^<>\n]{1,40}>|\[insert [^\[\]\n]{1,40}\]",
    re.IGNORECASE,
)
_OPENERS = (
    "A An The This That These Those It If I You Your We My Please Use And But Also Then In On At For From With When "
    "Can Could Would Should Do Make Find Note Now After Before What How Is Are There He She They Let"
)
_GLUED = re.compile(
    rf"(?<![\w./\\:@_-])(?:[a-z]{{2,}}|[A-Z][a-z]+)[.!?](?:{'|'.join(_OPENERS.split())})(?=,?\s+[\w'\"])"
)
_OPEN_END = re.compile(r"\S[^\S\n]*,\s*\Z")
_PATH = re.compile(r"`(?P<path>[a-z][\w./-]*\.[a-z]{1,5})`")
_FOLDER = re.compile(r"`(?P<folder>[a-z]{3,})(?:/[^`\n]*)?`")
_FILE = re.compile(r"`(?:[\w-]+/)*(?P<file>[\w-]+\.[a-z]{1,5})`")
_LONG = 10
"""A file name has to be longer than this many characters for being found at the end of another one to mean a lot."""
_COMPOUNDS = ("base", "set", "sets", "frame", "loader", "file", "files", "type", "types", "store", "center", "point")


class DamagedText(TaskDetector):
    r"""A text that the user says, or that instructs its simulator, lost or gained characters.

    Rules, outside code and quotations where this matters:

    1. line breaks are written as a backslash and the letter n, at least twice, in a text without real line breaks;
    2. characters of a wrong decoding, or the replacement character;
    3. a slot of a prompt template was left unfilled (``{agent_scratchpad}``, ``<insert name>``);
    4. two sentences are glued together without a space ("rectified now.Use this"), the second of which begins with a
       word that opens sentences, which names in code seldom are;
    5. a text ends with a comma;
    6. a file path lost its separator: the text names a folder ``data/`` and a file ``dataplan.md``, whose name begins
       with the folder's, and no such compound is a word (as in ``dataset.json``); or the rest of the name is a file of
       its own in the same text;
    7. a blank was left where a value belongs ("at ____", "on XXX", "[date]", "{value}", "some:00"), and a call of the
       ground truth needs a value that the user does not say; nothing in the text explains a format or a template.
       Suspected only, since no run shows what was meant.

    Flagged: "Step 5 - Cleanup\\nGoal: Remove the tree"; "`datasearch_1.json`" next to "`search_1.json`" and "`data/`".
    Not flagged: "password: xxxxx", which masks a secret; ``print("a\\n")``; ``pyarrow.Tensor``; "Node.js";
    "`dataset.json`".

    Wrong where users really typed so, as in requests that were collected from the public: the text is damaged all
    the same, and the agent has to live with it.
    """

    id = "damaged-text"
    title = "text with lost or stray characters"
    version = "3"
    category = "ambiguous-instruction"
    severity = Severity.COSMETIC
    tier = Tier.CONFIRMED
    why = "What was meant has to be guessed; a damaged file name makes right work look missing."

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield each kind of damage once per text."""
        for pointer, text in task.user_texts():
            gaps = ((f"has a blank (“{text[a:b]}”)", a, b, Severity.AFFECTS_SCORE) for a, b in blanks(task, text))
            for what, start, end, severity in chain(_damages(text), gaps):
                yield Hit(
                    claim=f"The text {what}",
                    evidence=(quote(task, pointer, text=sentence_around(text, start, end), note="as written"),),
                    fix="Restore the text.",
                    severity=severity,
                    tier=Tier.SUSPECTED if severity is Severity.AFFECTS_SCORE else None,
                    cause=shared_cause(task, what),
                )


def _damages(text: str) -> Iterator[tuple[str, int, int, Severity]]:
    bare = _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text) if _suspicious(text) else text
    breaks = list(_ESCAPED_BREAK.finditer(bare))
    if len(breaks) > 1 and "\n" not in text:
        yield "writes its line breaks as backslash and n", *breaks[0].span(), Severity.COSMETIC
    for what, pattern in (
        ("holds wrongly decoded characters", _MOJIBAKE),
        ("holds an unfilled slot of a template", _SLOT),
        ("glues two sentences together", _GLUED),
    ):
        match = pattern.search(bare)
        if match:
            yield f"{what} (“{match[0]}”)", *match.span(), Severity.COSMETIC
    if end := _OPEN_END.search(text):
        yield "ends with a comma", *end.span(), Severity.COSMETIC
    yield from _lost_separators(text)


def _suspicious(text: str) -> bool:
    return any(pattern.search(text) for pattern in (_ESCAPED_BREAK, _SLOT, _GLUED, _MOJIBAKE))


def _lost_separators(text: str) -> Iterator[tuple[str, int, int, Severity]]:
    folders = {match["folder"] for match in _FOLDER.finditer(text)}
    files = sorted({match["file"] for match in _FILE.finditer(text) if len(match["file"]) > _LONG})
    for match in _PATH.finditer(text):
        path = match["path"]
        meant = {f"{path.removesuffix(file)}/{file}" for file in files if _is_word(path.removesuffix(file), path)}
        for folder in folders:
            rest = path.removeprefix(folder)
            stem = re.split(r"[_./-]", rest)[0]
            if rest != path and "_" in rest and len(stem) > 4 and stem.isalpha() and stem not in _COMPOUNDS:
                meant.add(f"{folder}/{rest}")
        if meant:
            named = f"names {path}, which seems to mean {min(meant)}"
            yield named, *match.span(), Severity.MAY_AFFECT_SCORE
            return


def _is_word(prefix: str, path: str) -> bool:
    return prefix != path and prefix.isalpha() and len(prefix) > 2


_NAMED = (
    r"(?:value|number|num|n|x|name|(?:first|last|full|user|file|city) ?name|date|day|time|hour|amount|price|quantity|id"
    r"|(?:order|user|item|product|account|reservation) ?(?:id|number)|email|e-?mail address|phone(?: number)?|address"
    r"|city|zip ?code|text|title|note|message|subject|reason|location|destination|origin|recipient|item|product|tbd|tba"
    r"|todo|n/?a|fill ?in|missing|unknown|blank|redacted|\.{2,3}|…|_+|-+|\?+)"
)
_BLANK = re.compile(
    r"(?<![\w_`*/\\.-])_{2,}(?![\w_`*/])|(?<![\w#$.-])(?:X{3,}|x{3,}|TBD|TBA)(?![\w$-]|\.\w)"
    rf"|\[{_NAMED}\](?!\()|<{_NAMED}>(?!.*</)|(?<![${{\w]){{{{1,2}}\s?{_NAMED}\s?}}{{1,2}}"
    r"|(?<=\s)N(?=:\d\d\b)|(?<=[a-z] )N(?= (?!and\b|is\b|as\b)[a-z]{3,}s\b)|(?<=\s)[a-z]{2,}(?=:00\b)"
    r"|(?<=\b(?:on|to|at|of) )you know (?:which|what|who|when|where)\b",
)
_EXPLAINED = re.compile(
    r"\b(?:formats?|formatted|templates?|patterns?|replac\w+|stands? for|substitut\w+|fill(?:ed|ing)?(?: \w+)? in)\b",
    re.IGNORECASE,
)
"""A text about formats leaves blanks on purpose."""
_MASKED = re.compile(
    r"(?:pass ?(?:word|code|phrase)|passwd|\bpwd|\bpin|secret|token|api[_ -]?key|\bcvv|\bcvc|\bssn"
    r"|card[_ ]?(?:number|no\.?)?|security[_ ]?(?:code|answer)|密码|密碼|口令|验证码|驗證碼)"
    r"\W{0,3}(?:(?:is|are|was|equals)\b|[为是為])?\W{0,4}\Z",
    re.IGNORECASE,
)
"""What a text says right before a secret that it masks."""
_FENCED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def blanks(task: AgentTask, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text of the user has a blank, when the ground truth needs a value that the user does not say.

    A blank is a run of underscores ("at ____"), "XXX" or "TBD" as a word, a name for what is missing between brackets
    ("[date]", "{value}", "<TBD>"), N in the place of a number ("N days", "N:00"), or a word in the place of an hour
    ("some:00"), or "you know which" in the place of a thing. Code does not count, nor does a text that speaks of a
    format or a template, where blanks are shown, nor a secret that is masked ("password: xxxxx") on purpose.

    Args:
        task: the task.
        text: one of its texts of the user.
    """
    bare = _FENCED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    found = next(
        (gap for gap in _BLANK.finditer(bare) if not _MASKED.search(bare[max(0, gap.start() - 40) : gap.start()])), None
    )
    if found and not _EXPLAINED.search(text) and _needs_more(task):
        yield found.span()


def _needs_more(task: AgentTask) -> bool:
    said = " ".join(squash(text) for _, text in task.user_texts())
    for _, call in task.gold_calls():
        for value in gold_values(call.arguments):
            shown = [str(item) for _, item in value.accepted if not isinstance(item, bool)]
            if shown and not value.omissible and not any(squash(item) in said for item in shown):
                return True
    return False
