"""Which calls of a ground truth an issue speaks of, by the places of its quotes."""

from collections.abc import Sequence

from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.verify.checked import CheckedIssue
from agenthard.taxonomy.accepted import ANY_OF
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.pointer import join, split
from agenthard.taxonomy.task import AgentTask

_TURNS = ["ground_truth", "turns"]
_CALL = 4
"""Tokens of the pointer to a call: ground_truth, turns, turn, call."""


def evidence_of(issue: CheckedIssue) -> list[Evidence]:
    """List the places in the task record that an issue quotes."""
    return [quote.evidence for quote in issue.quotes if quote.evidence]


def cited_calls(task: AgentTask, issue: CheckedIssue) -> tuple[str, ...]:
    """Return the pointers of the gold calls that an issue quotes, each once, in the order of the quotes.

    A quote from a whole turn speaks of a call when its words stand in that call and in no other of the turn.
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
    """Tell whether a check that quotes ``found`` speaks of what an issue quotes.

    It does when one pointer leads into the other. At one pointer the quotes have to overlap; where the check's is the
    deeper one, the issue has to name the field in its quote or its claim. A check that quotes the ground truth speaks
    of that: many flaws of a ground truth contradict the same words of the user.
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
