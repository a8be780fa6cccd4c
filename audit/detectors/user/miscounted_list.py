"""Numbers that announce a list, and lists of another length."""

import re
from collections.abc import Iterable, Iterator

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask

_NUMERALS = {word: i for i, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)}
_NUMERALS |= {"两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10}
_ENGLISH = "|".join(word for word in _NUMERALS if word.isascii())
_COUNT = rf"(?<![\w.$€£,-])(?P<count>\d{{1,2}}|{_ENGLISH})"
_ITEM = r"(?:`[^`\n]{1,60}`|'[^'\n]{1,60}'|\"[^\"\n]{1,60}\"|[A-Za-z_][\w./-]*(?: [A-Za-z_][\w./-]*){0,2})"
_MANY = (
    r"(?!(?:\w+[ -]){0,2}?(?:\w*sets|groups|lists|samples|pairs|rows|times|parts|dimensions|series)\b)"
    r"(?:\w+[ -]){0,2}?[a-z]+s"
)
_NAMES = re.compile(rf"{_COUNT} {_MANY}: (?P<list>{_ITEM}(?:, {_ITEM})*,? and {_ITEM})", re.IGNORECASE)
_DIGITS = r"-?\d+(?:\.\d+)?"
_NUMBERS = re.compile(
    rf"{_COUNT} {_MANY}\b[^.;?!:\d\[\n]{{0,60}}?(?::| are| of) \[?"
    rf"(?P<list>{_DIGITS}(?:, ?{_DIGITS})+(?:,? and {_DIGITS})?)"
    r"(?!\d|\.\d|, ?\.\.\.)",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?P<count>\d{1,2}|[两二三四五六七八九十])[个名位项次份种][^，。,;；\d]{1,8}[^。；;\d]{0,20}?(?:分别是|分别为|：|:)"
    rf"(?P<list>{_DIGITS}(?:[,，、] ?{_DIGITS})+(?:和{_DIGITS})?)(?![\d.]*\d)"
)


class MiscountedList(TaskDetector):
    """A number that announces a list is the length of the list.

    Rule: a numeral of at most two digits, a plural, and, after a colon or what else announces it ("are", "of", 分别是),
    a list that is complete in itself: names up to one after "and", or numbers.

    Flagged: "four keys: loss, equation, and comment"; "5个任务，评分分别是8, 9, 7, 6, 9, 5".
    Not flagged: sets, groups, samples and pairs, each of which is a list of its own; a list of examples.

    Wrong where two of the names belong together, or a name contains "and".
    """

    id = "miscounted-list"
    title = "a number and the list that it announces differ"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "Whether the number or the list is right decides what is asked, and no reader can know."
    experimental = True

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why a list is missing, or None."""
        return None if any(True for _ in _lists(task)) else "no number announces a list"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield one hit per list of another length."""
        for pointer, match, length in _lists(task):
            count = _NUMERALS.get(match["count"].lower()) or int(match["count"])
            if count != length:
                yield Hit(
                    claim=f"The text announces {match['count']}, and {length} follow: {match['list']}",
                    evidence=(quote(task, pointer, text=match[0], note="the number and the list"),),
                    fix="Correct the number or the list.",
                )


def _lists(task: AgentTask) -> Iterator[tuple[str, re.Match[str], int]]:
    for pointer, text in task.user_texts():
        for match in _NAMES.finditer(text):
            yield pointer, match, len(re.findall(_ITEM, re.sub(r",? and ", ", ", match["list"])))
        for pattern in (_NUMBERS, _CHINESE):
            for match in pattern.finditer(text):
                yield pointer, match, len(re.findall(_DIGITS, match["list"]))
