"""Blanks in what a user says: something was to be filled in there, and was not."""

import re
from collections.abc import Iterator

from audit.detectors.ground_truth.gold_values import gold_values
from audit.detectors.ground_truth.wording import squash
from taxonomy.task import AgentTask

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
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)


def blanks(task: AgentTask, text: str) -> Iterator[tuple[int, int]]:
    """Yield where a text of the user has a blank, when the ground truth needs a value that the user does not say.

    A blank is a run of underscores ("at ____"), "XXX" or "TBD" as a word, a name for what is missing between brackets
    ("[date]", "{value}", "<TBD>"), N in the place of a number ("N days", "N:00"), or a word in the place of an hour
    ("some:00"), or "you know which" in the place of a thing. Code does not count, nor does a text that speaks of a
    format or a template, where blanks are shown.

    Args:
        task: the task.
        text: one of its texts of the user.
    """
    bare = _CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    if (found := _BLANK.search(bare)) and not _EXPLAINED.search(text) and _needs_more(task):
        yield found.span()


def _needs_more(task: AgentTask) -> bool:
    said = " ".join(squash(text) for _, text in task.user_texts())
    for _, call in task.gold_calls():
        for value in gold_values(call.arguments):
            shown = [str(item) for _, item in value.accepted if not isinstance(item, bool)]
            if shown and not value.omissible and not any(squash(item) in said for item in shown):
                return True
    return False
