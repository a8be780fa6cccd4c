"""The evidence gate: find every quote of a judge in the material that it was shown, and in the task record.

An issue is verified when

* it has quotes, and each of them is found: in the passage that it names, or in exactly one other. A quote of fewer
  than two letters and digits counts only if it is the whole passage: a required "5", or ``[]`` for no call;
* each quote from a part of the task is in the task record too, and at least one quote is: replays, checks, look-ups
  and runs are not part of the task;
* both sides that its category needs are quoted (`missing_side`), each by a quote of its own.

Otherwise it is unverified, with the reason. It is counted and kept, but it does not become a finding.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations

from agenthard.audit.evidence import canonical_json, failure, text_at
from agenthard.audit.judge.context.material import Material, Part, Passage
from agenthard.audit.judge.verdict import CheckedIssue, CheckedQuote, Issue, Quote, Verdict
from agenthard.audit.judge.verify.quotes import SearchedText, locate, proves
from agenthard.taxonomy.accepted import ANY_OF
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import join, split
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
        """Find words in other passages; passages with one text are one, and a part counts as the whole around it.

        A look-up that is not in the record is left out: its answer may repeat the words that the judge asked with.
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
    """Return a quote with where it was found, the part of the material it is in, and why it does not count."""
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
    """Describe what an issue lacks although all its quotes were found; empty when nothing."""
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


_TURNS = ["ground_truth", "turns"]
_CALL = 4
"""Tokens of the pointer to a call: ground_truth, turns, turn, call."""


def evidence_of(issue: CheckedIssue) -> list[Evidence]:
    """List the places in the task record that an issue quotes."""
    return [quote.evidence for quote in issue.quotes if quote.evidence]


def cited_calls(task: AgentTask, issue: CheckedIssue) -> tuple[str, ...]:
    """Return the pointers of the gold calls that an issue quotes, each once, in the order of the quotes.

    A quote from a whole turn refers to a call when its words occur in that call and in no other of the turn.
    """
    found: dict[str, None] = {}
    for item in evidence_of(issue):
        tokens = split(item.pointer)
        if tokens[:2] != _TURNS[: len(tokens)]:
            continue
        if len(tokens) >= _CALL:
            found[join("", *tokens[:_CALL])] = None
            continue
        below = [(pointer, call) for pointer, call in task.gold_calls() if split(pointer)[: len(tokens)] == tokens]
        holding = [pointer for pointer, call in below if item.quote in canonical_json(call)]
        if len(holding) == 1:
            found[holding[0]] = None
    return tuple(found)


def same_place(found: Sequence[Evidence], issue: CheckedIssue) -> bool:
    """Tell whether a check that quotes ``found`` is about the place that an issue quotes.

    It does when one pointer leads into the other. At one pointer the quotes have to overlap; where the check's is the
    deeper one, the issue has to name the field in its quote or its claim. A check that quotes the ground truth is
    about that: many flaws of a ground truth contradict the same words of the user.
    """
    decisive = [item for item in found if item.pointer.startswith("/ground_truth")] or found
    return any(_same(check, cited, issue.issue.claim) for check in decisive for cited in evidence_of(issue))


def _same(check: Evidence, cited: Evidence, claim: str) -> bool:
    deep, shallow = split(check.pointer), split(cited.pointer)
    if deep == shallow:
        return check.quote in cited.quote or cited.quote in check.quote
    if len(deep) < len(shallow):
        return shallow[: len(deep)] == deep
    fields = [token for token in deep[len(shallow) :] if not token.isdigit() and token not in ("arguments", ANY_OF)]
    named = not fields or fields[-1] in cited.quote or fields[-1] in claim or check.quote in cited.quote
    return deep[: len(shallow)] == shallow and named


Side = frozenset[Part]
"""Parts of the material, any of which will do."""

_USER: Side = frozenset({"user"})
_USER_OR_RUN: Side = frozenset({"user", "run"})
_PROMPTS: Side = frozenset({"user", "policy"})
_NEED: Side = frozenset({"user", "policy", "ground_truth"})
_REQUIREMENT: Side = frozenset({"user", "policy", "evaluation"})
_SHOWN: Side = frozenset({"user", "policy", "tools", "user_tools", "state"})
_DOCUMENTED: Side = frozenset({"tools", "user_tools"})
_DEMANDED: Side = frozenset({"ground_truth", "evaluation"})
_GOLD: Side = frozenset({"ground_truth"})
_RESPONSE: Side = frozenset({"replay", "run"})
_AGAINST_RESPONSE: Side = frozenset({"tools", "user_tools", "state", "ground_truth", "run"})
_AGAINST_GOLD: Side = frozenset(
    {"user", "policy", "tools", "user_tools", "state", "evaluation", "ground_truth", "replay", "run", "about"}
)
_ANY: Side = _AGAINST_GOLD | {"checks"}

_NAMES: dict[Side, str] = {
    _USER: "the user's text",
    _USER_OR_RUN: "the user's text or a run",
    _PROMPTS: "the policy or the user's text",
    _NEED: "what is needed: the user's text, the policy or the ground truth",
    _REQUIREMENT: "the requirement: the user's text, the policy or the evaluation",
    _SHOWN: "what the agent sees",
    _DOCUMENTED: "the documentation of a tool",
    _DEMANDED: "the ground truth or the evaluation",
    _GOLD: "the ground truth",
    _RESPONSE: "the response of a tool, in the replay or a run",
    _AGAINST_RESPONSE: "what the response contradicts",
    _AGAINST_GOLD: "what it contradicts",
    _ANY: "the task",
}

_SIDES: dict[str, tuple[Side, ...]] = {
    "ambiguous-instruction": (_USER,),
    "user-role-confusion": (_USER_OR_RUN,),
    "incorrect-tool-response": (_RESPONSE, _AGAINST_RESPONSE),
    "insufficient-toolset": (_NEED,),
    "misleading-tool-design": (_DOCUMENTED,),
    "incorrect-system-prompt": (_PROMPTS,),
    "too-lenient": (_DEMANDED,),
    "too-strict": (_DEMANDED,),
    "answer-leakage": (_SHOWN, _DEMANDED),
    "unscored-requirement": (_REQUIREMENT,),
    "unreachable-score": (_DEMANDED,),
    "malformed-tool-call": (_GOLD,),
    "incorrect-tool-call": (_GOLD, _AGAINST_GOLD),
    "redundant-tool-call": (_GOLD,),
    "wrong-expected-output": (_DEMANDED, _AGAINST_GOLD),
}
"""Two sides where the rule of the category is that one text contradicts, or gives away, another. What is missing cannot
be quoted, and neither can the schema that a call of an unknown tool breaks, so one side is enough there."""


def missing_side(category: str, quoted: Sequence[Part], gold_is_empty: bool) -> str | None:
    """Return which side of an issue is not quoted.

    Every side needs a quote of its own. Where the ground truth is empty, nothing of it can be quoted, and its side is
    not asked for.

    Args:
        category: id of the category; any one quote will do for one that is not listed here.
        quoted: parts that the different quotes of the issue are in, one entry per quote.
        gold_is_empty: whether the ground truth has neither calls nor texts.

    Returns:
        A description of what is missing; None when nothing is.
    """
    sides = _SIDES.get(category, (_ANY,))
    if gold_is_empty:
        sides = tuple(side for side in sides if not side <= _DEMANDED) or (_ANY,)
    chosen = permutations(quoted, len(sides))
    if any(all(part in side for part, side in zip(parts, sides, strict=True)) for parts in chosen):
        return None
    alone = [side for side in sides if not any(part in side for part in quoted)]
    if alone:
        return f"no quote is of {_NAMES[alone[0]]}"
    return "only one side of the contradiction is quoted"
