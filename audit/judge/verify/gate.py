"""The evidence gate: every quote of a judge is searched in what the judge was shown, and in the task record.

An issue stands (verified) when

* it has quotes, and each of them is found: in the passage that it names, or in exactly one other. A quote of fewer
  than two letters and digits counts only where it is the whole passage: a required "5", or ``[]`` for no call;
* each quote from a part of the task stands in the task record too, and at least one quote does: replays, checks,
  look-ups and runs are not the task;
* the sides that its category needs are quoted (`agenthard.audit.judge.verify.sides`), each by words of its own.

Else it is unverified, with the reason. It is counted and kept, and it is no finding.
"""

from collections.abc import Iterable, Mapping, Sequence

from agenthard.audit.evidence import failure, text_at
from agenthard.audit.judge.context.material import Material, Part, Passage
from agenthard.audit.judge.verdict import Issue, Quote, Verdict
from agenthard.audit.judge.verify.checked import CheckedIssue, CheckedQuote
from agenthard.audit.judge.verify.locating import SearchedText, locate, proves
from agenthard.audit.judge.verify.sides import missing_side
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import split
from agenthard.taxonomy.task import AgentTask

_SHOWN_CHARACTERS = 60
"""Characters of a quote that a reason shows."""


def check_evidence(
    verdict: Verdict, material: Material, task: AgentTask, lookups: Sequence[Passage] = ()
) -> tuple[CheckedIssue, ...]:
    """Search every quote of a verdict.

    Args:
        verdict: what the judge said.
        material: what it was shown.
        task: the task.
        lookups: what it fetched; passages like those of the material.

    Returns:
        All issues in order, verified or unverified.
    """
    searched = _Searched((*material.passages, *lookups), task)
    return tuple(_check(issue, searched, task) for issue in verdict.issues)


class _Searched:
    """The passages of one task, each with its normal form made when it is needed first."""

    def __init__(self, passages: Sequence[Passage], task: AgentTask) -> None:
        self.passages: Mapping[str, Passage] = {passage.label: passage for passage in passages}
        self._texts = {label: SearchedText(passage.text) for label, passage in self.passages.items()}
        self._task = task

    def named(self, label: str) -> Passage | None:
        """Return the passage of a label, with or without brackets around it, or that a pointer leads into."""
        known = self.passages.get(label)
        bare = label.strip(" \n\t[]()<>`'\"")
        while known is None and bare:
            known = self.passages.get(bare)
            bare = bare.rpartition("/")[0] if bare.startswith("/") else ""
        return known

    def find(self, passage: Passage, words: str) -> str | None:
        """Find words in a passage, and again in the task record when it is of the record."""
        whole = words.strip() != "" and words.strip() == passage.text.strip()
        found = passage.text if whole else self._texts[passage.label].find(words)
        if found is None or passage.pointer is None:
            return found
        if _stands(self._task, passage.pointer, found):
            return found
        try:
            return locate(found, text_at(self._task, passage.pointer))
        except (LookupError, ValueError):
            return None

    def elsewhere(self, words: str, besides: Passage | None) -> list[tuple[Passage, str]]:
        """Find words in other passages; passages with one text are one, and a part stands for the whole around it.

        A look-up that is no part of the record is left out: its answer may repeat the words that the judge asked with.
        """
        others = [passage for passage in self.passages.values() if passage is not besides and not _repeats(passage)]
        found = [(passage, hit) for passage in others if (hit := self.find(passage, words)) is not None]
        inner = [item for item in found if not any(_within(other, item[0]) for other, _ in found)]
        return list({passage.text: (passage, hit) for passage, hit in reversed(inner)}.values())


def _check(issue: Issue, searched: _Searched, task: AgentTask) -> CheckedIssue:
    quotes, parts, reasons = [], [], []
    for quote in issue.evidence:
        checked, part, reason = _search(quote, searched, task)
        quotes.append(checked)
        if reason:
            reasons.append(reason)
        if part:
            parts.append(part)
    reason = reasons[0] if reasons else _incomplete(issue, quotes, parts, task)
    return CheckedIssue(
        issue=issue, standing="unverified" if reason else "verified", quotes=tuple(quotes), reason=reason
    )


def _search(quote: Quote, searched: _Searched, task: AgentTask) -> tuple[CheckedQuote, Part | None, str]:
    """Return a quote with where it was found, the part of the material it stands in, and why it counts for nothing."""
    named = searched.named(quote.passage)
    words = searched.find(named, quote.quote) if named else None
    if named and words is not None:
        how = "exact" if words == quote.quote else "normalised"
        return _found(quote, named, words, how, task), named.part, ""
    others = searched.elsewhere(quote.quote, named) if proves(quote.quote) else []
    if len(others) == 1:
        [(other, words)] = others
        return _found(quote, other, words, "elsewhere", task), other.part, ""
    shown = quote.quote if len(quote.quote) <= _SHOWN_CHARACTERS else quote.quote[: _SHOWN_CHARACTERS - 3] + "..."
    place = quote.passage if named else f"the unknown passage {quote.passage[:_SHOWN_CHARACTERS]!r}"
    where = f"not in {place}" + (f", but in {len(others)} other passages" if others else " nor elsewhere")
    reason = f"the quote {shown!r} was found {where}"
    if not proves(quote.quote):
        reason = f"the quote {shown!r} is too short, or too long, to prove anything"
    return CheckedQuote(passage=quote.passage, quote=quote.quote, found="no"), None, reason


def _found(quote: Quote, passage: Passage, words: str, how: str, task: AgentTask) -> CheckedQuote:
    evidence = None
    if passage.pointer is not None:
        evidence = Evidence(task_id=task.id, pointer=passage.pointer, quote=words, note=quote.shows)
    return CheckedQuote.model_validate({"passage": quote.passage, "quote": words, "found": how, "evidence": evidence})


def _incomplete(issue: Issue, quotes: Sequence[CheckedQuote], parts: Sequence[Part], task: AgentTask) -> str:
    """Say what an issue lacks all of whose quotes were found; empty when nothing."""
    if not quotes:
        return "it quotes nothing"
    if not any(quote.evidence for quote in quotes):
        return "it quotes nothing of the task itself"
    places = [(quote.evidence.pointer if quote.evidence else quote.passage, quote.quote) for quote in quotes]
    by_place = dict(zip(places, parts, strict=True))
    different = [part for place, part in by_place.items() if not _in_a_longer(place, by_place)]
    empty = not task.ground_truth.outputs and not task.ground_truth.answers and not any(task.ground_truth.turns)
    return missing_side(issue.category, different, empty) or ""


def _in_a_longer(place: tuple[str, str], places: Iterable[tuple[str, str]]) -> bool:
    """Tell whether words are part of a longer quote from the same place."""
    return any(other != place and other[0] == place[0] and place[1] in other[1] for other in places)


def _stands(task: AgentTask, pointer: str, words: str) -> bool:
    return failure(Evidence(task_id=task.id, pointer=pointer, quote=words), task, {}) is None


def _repeats(passage: Passage) -> bool:
    return passage.label.startswith("lookup/") and passage.pointer is None


def _within(inner: Passage, outer: Passage) -> bool:
    """Tell whether one passage is a part of another."""
    if inner.pointer is None or outer.pointer is None or inner.pointer == outer.pointer:
        return False
    return split(inner.pointer)[: len(split(outer.pointer))] == split(outer.pointer)
