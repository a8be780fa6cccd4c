"""Text and rubric that give one thing two different figures."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from agenthard.audit.detectors.base import Hit, TaskDetector
from agenthard.audit.detectors.support.task_texts import Passage, asked, graded, sentence_around, shown_criteria
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask

_SIZE = re.compile(r"(?<![\d.])(?P<width>\d{3,4}) ?(?:px)? ?(?:[x×]|by) ?(?P<height>\d{3,4})(?: ?px)?(?![\d.])")
_SIDE = re.compile(
    r"(?<![\d.])(?P<value>\d{3,4}) ?(?:(?:±|\+/-) ?\d+)? ?px (?P<side>tall|high|in height|wide|in width|height|width)\b"
)
_BOTH = re.compile(
    r"(?<![\d.])(?P<width>\d{3,4}) ?(?:px)? ?(?:(?:±|\+/-) ?\d+ ?(?:px)?)? ?(?:by|[x×]) ?(?P<height>\d{3,4}) ?(?:px)? ?"
    r"(?:(?:±|\+/-) ?\d+)?(?: ?px)?(?![\d.])"
)
"""A size whose sides may have a tolerance."""
_SHARE = re.compile(r"(?P<what>[A-Za-z_]\w+)\)? ?[/÷] ?(?P<whole>\d{1,3})\b")
"""A share of a score: "score = 10 * (pass_count / 5)"."""
_NEAR = 20
"""Characters between two sides of one thing."""
_TALL = frozenset({"tall", "high", "height", "in height"})
_TOLERANCE = re.compile(
    r"(?<![\d.])(?P<value>\d{2,4}(?:\.\d+)?) ?(?:px)? ?(?:±|\+/-) ?(?P<slack>\d+(?:\.\d+)?) ?(?:px|%)?"
)
_NUMERALS = {word: i for i, word in enumerate("two three four five six seven eight nine ten eleven twelve".split(), 2)}
_NAME = r"`[^`\n]+`(?:\s*\([^()\n]*\))?"
_COUNT = re.compile(
    rf"\b(?:(?:following|these|all|the)[* ]+)?(?P<count>\d{{1,2}}|{'|'.join(_NUMERALS)})(?: of the following)?"
    r"(?: required| following)? (?:keys|fields|columns|members|properties|methods|flags|switches|files|sections)\b"
    rf"[^:.`\n]{{0,40}}:\s*(?P<list>{_NAME}(?:(?:,| and|,? or)\s+(?:and )?{_NAME})+)",
    re.IGNORECASE,
)
_TOGGLE = re.compile(r"\bclicking (?:an?|any|the) (?P<thing>[\w-]+) toggles\b", re.IGNORECASE)
_REFUSE = re.compile(
    r"\b(?:refuses?|rejects?|ignores?)\s+(?:the\s+)?(?:duplicate|second|repeated)\b"
    r"|\bduplicate is (?:rejected|refused|ignored)\b",
    re.IGNORECASE,
)


class ContradictoryFigures(TaskDetector):
    """What is asked and what is graded contradict each other on a size, a tolerance, a count or a repeated click.

    Rules:

    1. the text states one size only, such as 640x960, and the rubric gives the length of one side as the other side
       ("640px tall"), or gives both sides together, of which one is right and the other is not;
    2. the same length has one tolerance in the text and another in the rubric (cosmetic where the rubric is wider);
    3. the text announces a number of keys, fields or files, and the list that follows has another number of names;
    4. clicking a thing toggles it, and the rubric has a second click on it refused;
    5. a score is a share of a count, and the divisor is not the most that the count can be ("pass_count (0-4); score =
       10 * (pass_count / 5)").

    What moves the score is suspected, because no run can be scored by a rubric to show it; a wider tolerance and a
    wrong count are confirmed.

    Flagged: "a portrait stage (640x960)", graded by "640+/-6px tall"; "these five keys: `a`, `b`, `c`".
    Not flagged: "a 360×640px panel" graded by "360±4px width, 640±4px height"; "at least two of: `a`, `b`, `c`".

    Wrong where two things share a length by chance and have tolerances of their own.
    """

    id = "contradictory-figures"
    title = "text and rubric contradict each other"
    version = "4"
    category = "too-strict"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "An agent that follows one of the two statements is graded by the other."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if any(True for _ in graded(task)) else "no written criteria"

    def inspect(self, task: AgentTask) -> Iterable[Hit]:
        """Yield the contradictions of ``task``."""
        said, criteria = list(asked(task)), list(graded(task))
        yield from _sides(task, said, criteria)
        yield from _shares(task, [*criteria, *shown_criteria(task)])
        yield from _tolerances(task, said, criteria)
        yield from _counts(task, [*said, *criteria])
        yield from _toggles(task, said, criteria)


def _all(pattern: re.Pattern[str], passages: Iterable[Passage]) -> list[tuple[Passage, re.Match[str]]]:
    return [(passage, match) for passage in passages for match in pattern.finditer(passage[1])]


def _cite(task: AgentTask, passage: Passage, match: re.Match[str], note: str) -> Evidence:
    pointer, text = passage
    return quote(task, pointer, text=sentence_around(text, *match.span()), note=note)


def _sides(task: AgentTask, said: list[Passage], criteria: list[Passage]) -> Iterator[Hit]:
    sizes = _all(_SIZE, said)
    if len({(match["width"], match["height"]) for _, match in sizes}) != 1:
        return
    passage, size = sizes[0]
    width, height = size["width"], size["height"]
    for at, side in _all(_SIDE, criteria):
        own, other = (height, width) if side["side"] in _TALL else (width, height)
        if width != height and side["value"] == other != own:
            yield Hit(
                claim=f"The size asked for is {size[0]}, and the rubric wants {side[0]}",
                evidence=(_cite(task, passage, size, "asked"), _cite(task, at, side, "graded")),
                fix="Name the right side in the rubric.",
            )
    yield from _one_side_off(task, passage, size, criteria)
    for at, both in _all(_BOTH, criteria):
        if (both["width"] == width) != (both["height"] == height):
            yield Hit(
                claim=f"The size asked for is {size[0]}, and the rubric wants {both[0]}",
                evidence=(_cite(task, passage, size, "asked"), _cite(task, at, both, "graded")),
                fix="Give one size in both.",
            )


def _shares(task: AgentTask, criteria: list[Passage]) -> Iterator[Hit]:
    """Compare the divisor of a score with the most that is counted, which the criteria give as a range."""
    seen = set()
    for passage, share in _all(_SHARE, criteria):
        counted = re.compile(rf"\b{share['what']}\b[^\n;]{{0,80}}?\(?0 ?(?:–|-|to|\.\.) ?(?P<most>\d{{1,3}})\b")
        ranges = list(counted.finditer(passage[1]))
        if len(ranges) == 1 and ranges[0]["most"] != share["whole"] and share[0] not in seen:
            seen.add(share[0])
            most, whole = int(ranges[0]["most"]), int(share["whole"])
            yield Hit(
                claim=f"The score divides {share['what']!r} by {whole}, and there are at most {most}",
                evidence=(
                    _cite(task, passage, share, "the score"),
                    _cite(task, passage, ranges[0], "what is counted"),
                ),
                fix=f"Divide by {most}, or name all cases.",
                category="unreachable-score" if most < whole else None,
            )


def _one_side_off(task: AgentTask, passage: Passage, size: re.Match[str], criteria: list[Passage]) -> Iterator[Hit]:
    """Compare sentences of the rubric that give both sides: one that is right says that the same thing is meant."""
    for at in criteria:
        sides = list(_SIDE.finditer(at[1]))
        for first, second in pairwise(sides):
            tall = [side for side in (first, second) if side["side"] in _TALL]
            wide = [side for side in (first, second) if side["side"] not in _TALL]
            together = second.start() - first.end() <= _NEAR and "\n" not in at[1][first.end() : second.start()]
            if (
                together
                and len(tall) == 1
                and (wide[0]["value"] == size["width"]) != (tall[0]["value"] == size["height"])
            ):
                if {wide[0]["value"], tall[0]["value"]} != {size["width"], size["height"]}:
                    yield Hit(
                        claim=f"The size asked for is {size[0]}, and the rubric wants {wide[0][0]} and {tall[0][0]}",
                        evidence=(_cite(task, passage, size, "asked"), _cite(task, at, first, "graded")),
                        fix="Give one size in both.",
                    )


def _tolerances(task: AgentTask, said: list[Passage], criteria: list[Passage]) -> Iterator[Hit]:
    asked_for, demanded = _all(_TOLERANCE, said), _all(_TOLERANCE, criteria)
    for value in sorted({match["value"] for _, match in asked_for}):
        ours = [item for item in asked_for if item[1]["value"] == value]
        theirs = [item for item in demanded if item[1]["value"] == value]
        slacks = {float(m["slack"]) for _, m in ours}, {float(m["slack"]) for _, m in theirs}
        if len(slacks[0]) == 1 == len(slacks[1]) and slacks[0] != slacks[1]:
            strict = min(slacks[0]) > min(slacks[1])
            yield Hit(
                claim=f"The tolerance asked for is {ours[0][1][0]}, and the rubric grades {theirs[0][1][0]}",
                evidence=(_cite(task, *ours[0], "asked"), _cite(task, *theirs[0], "graded")),
                fix="Give the same tolerance in both places.",
                severity=Severity.AFFECTS_SCORE if strict else Severity.COSMETIC,
                tier=Tier.SUSPECTED if strict else Tier.CONFIRMED,
            )


def _counts(task: AgentTask, passages: list[Passage]) -> Iterator[Hit]:
    seen = set()
    for passage, match in _all(_COUNT, passages):
        count = _NUMERALS.get(match["count"].lower()) or int(match["count"])
        names = re.findall(r"`[^`\n]+`", re.sub(r"\([^()\n]*\)", "", match["list"]))
        if len(names) != count and match[0] not in seen:
            seen.add(match[0])
            yield Hit(
                claim=f"The text announces {count} names, and {len(names)} follow",
                evidence=(quote(task, passage[0], text=match[0], note="the number and the list"),),
                fix="Correct the number or the list.",
                severity=Severity.MAY_AFFECT_SCORE,
                tier=Tier.CONFIRMED,
            )


def _toggles(task: AgentTask, said: list[Passage], criteria: list[Passage]) -> Iterator[Hit]:
    toggles, refusals = _all(_TOGGLE, said), _all(_REFUSE, criteria)
    if toggles and refusals:
        yield Hit(
            claim=f"A second click on the {toggles[0][1]['thing']} undoes the first in the text, and is refused in the "
            "rubric",
            evidence=(_cite(task, *toggles[0], "asked"), _cite(task, *refusals[0], "graded")),
            fix="Decide what a second click does, and say so in both places.",
        )
