"""Blanks in what a user says: something was to be filled in there, and was not."""

import re
from collections.abc import Iterator

from agenthard.audit.detectors.support.gold_values import gold_values
from agenthard.audit.detectors.support.wording import squash
from agenthard.taxonomy.task import AgentTask

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
"""Whoever says how a text is to be written leaves blanks in it on purpose."""
_MASKED = re.compile(
    r"(?:pass ?(?:word|code|phrase)|passwd|\bpwd|\bpin|secret|token|api[_ -]?key|\bcvv|\bcvc|\bssn"
    r"|card[_ ]?(?:number|no\.?)?|security[_ ]?(?:code|answer)|密码|密碼|口令|验证码|驗證碼)"
    r"\W{0,3}(?:(?:is|are|was|equals)\b|[为是為])?\W{0,4}\Z",
    re.IGNORECASE,
)
"""What a text says right before a secret that it masks."""
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def blanks(task: AgentTask, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text of the user has a blank, when the ground truth needs a value that the user does not say.

    A blank is a run of underscores ("at ____"), "XXX" or "TBD" as a word, a name for what is missing between brackets
    ("[date]", "{value}", "<TBD>"), N in the place of a number ("N days", "N:00"), or a word in the place of an hour
    ("some:00"), or "you know which" in the place of a thing. Code does not count, nor does a text that speaks of a
    format or a template, where blanks are shown, nor a secret that is masked ("password: xxxxx"): nobody is to read it.

    Args:
        task: the task.
        text: one of its texts of the user.
    """
    bare = _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
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
