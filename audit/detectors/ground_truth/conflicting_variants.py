"""Check: variants of one base task whose ground truths differ where their texts agree."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from rapidfuzz.distance import OSA

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import canonical_json, quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_SHORTEST_TEXT = 8
_SHORTEST_LIST = 3


class ConflictingVariants(SuiteDetector):
    """Where two variants of one base task have the same words of the user and the same state, their golds agree.

    Variants (tasks of one cluster) are compared turn by turn, by the words of the turn, in tasks whose gold has as many
    turns as the user; turns without gold calls are skipped. A turn is flagged when two variants

    * call the same tools and give one of them **almost the same value**: texts that differ in a letter, in punctuation,
      in the case or in how a number is written; lists of three numbers or more that differ in one; or
    * call **altogether different tools**, so that the gold of one of them belongs to another turn.

    Flagged: ``mean([3, 16, 60])`` in one variant and ``mean([3, 16, 62])`` in another for "Average the three numbers";
    a message "The balance is $10." in one and "The balance is $10.00." in another.
    Not flagged: values that differ altogether, because a variant may have more in its state than the files say (a
    longer context); one more call, which may be a harmless read; a letter off what the user says, which
    near-miss-value reports.

    A wrong number or a misplaced turn is put down to the variants that are outvoted; the others only carry the cause.
    Wrong where the hidden part of a variant's state changes one of several numbers.
    """

    id = "conflicting-variants"
    title = "Variants that differ in the gold and not in the text"
    version = "1"
    category = "duplicate-or-conflicting-task"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "The same request in the same state has one right answer, so one of the variants is scored by a wrong one."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only variants with a gold turn for each turn of the user can be compared."""
        if task.cluster is None:
            return "the task has no variants"
        turns = len(task.ground_truth.turns)
        return None if turns == len(task.user.turns) else "gold turns and user turns do not pair up"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note the words and the gold of each turn."""
        state = hashlib.sha256(canonical_json(task.initial_state).encode("utf-8", "surrogatepass")).hexdigest()
        for i, (turn, calls) in enumerate(zip(task.user.turns, task.ground_truth.turns, strict=True)):
            words = " ".join(word for message in turn for word in message.content.split())
            if words and calls:
                spoken = next(j for j, message in enumerate(turn) if message.content)
                golds = (quote(task, f"/ground_truth/turns/{i}/{j}", note="the gold") for j in range(len(calls)))
                yield Observation(
                    task_id=task.id,
                    key=f"{task.cluster}\n{words}\n{state}",
                    value=[call.model_dump(mode="json", include={"name", "arguments"}) for call in calls],
                    evidence=(quote(task, f"/user/turns/{i}/{spoken}/content", note="the same words"), *golds),
                )

    def shared_keys(self, observation: Observation) -> tuple[str, ...]:
        """Only variants with the same words are compared."""
        return (observation.key,)

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion | Undecided]:
        """Yield one hit per turn that variants answer differently."""
        groups: dict[str, list[Observation]] = {}
        for observation in observations:
            groups.setdefault(observation.key, []).append(observation)
        for key, members in groups.items():
            pairs = [
                (a, b, found)
                for a, b in combinations(members, 2)
                if (found := _difference(a.value, b.value, squash(key)))
            ]
            if pairs:
                one, other, (i, j, what, severity) = pairs[0]
                odd = _outvoted(members) if severity is Severity.AFFECTS_SCORE else []
                involved = {member.task_id for a, b, _ in pairs for member in (a, b)}
                affected = [m.task_id for m in members if m.task_id in involved and (not odd or m.task_id in odd)]
                yield Conclusion(
                    task_ids=tuple(dict.fromkeys(affected)),
                    also_in=tuple(dict.fromkeys(m.task_id for m in members if m.task_id not in affected)),
                    hit=Hit(
                        claim=f"{one.task_id} and {other.task_id} are variants of the same words, but {what}.",
                        evidence=(one.evidence[0], one.evidence[1 + i], other.evidence[0], other.evidence[1 + j]),
                        fix="Decide which is right, and use it in all variants.",
                        severity=severity,
                        cause=f"variants: {key}",
                    ),
                )


def _outvoted(members: Sequence[Observation]) -> list[str]:
    """List the tasks whose gold more than half of the variants contradict by agreeing on another one."""
    golds = [canonical_json(member.value) for member in members]
    agreed = max(golds, key=golds.count)
    if golds.count(agreed) * 2 <= len(golds):
        return []
    return [member.task_id for member, gold in zip(members, golds, strict=True) if gold != agreed]


def _difference(
    one: list[dict[str, Any]], other: list[dict[str, Any]], said: str
) -> tuple[int, int, str, Severity] | None:
    """Return the places of two calls that contradict each other, how they do, and what that does to the score."""
    names, others = [call["name"] for call in one], [call["name"] for call in other]
    if set(names).isdisjoint(others):
        return 0, 0, f"the gold of one calls {names[0]!r} and that of the other {others[0]!r}", Severity.AFFECTS_SCORE
    if names != others:
        return None
    for i, (a, b) in enumerate(zip(one, other, strict=True)):
        for name in sorted(a["arguments"].keys() & b["arguments"].keys()):
            x, y = a["arguments"][name], b["arguments"][name]
            what = f"the gold of {names[i]!r} gives {name!r} as {x!r} in one and as {y!r} in the other"
            if isinstance(x, str) and isinstance(y, str) and _nearly_same(x, y, said):
                return i, i, what, Severity.MAY_AFFECT_SCORE
            if isinstance(x, list) and isinstance(y, list) and _one_number_apart(x, y):
                return i, i, what, Severity.AFFECTS_SCORE
    return None


def _nearly_same(a: str, b: str, said: str) -> bool:
    if a == b or min(len(a), len(b)) < _SHORTEST_TEXT:
        return False
    bare = [squash(_NUMBER.sub(lambda match: f"{float(match[0]):g}", text)) for text in (a, b)]
    if bare[0] != bare[1] and (bare[0] in said or bare[1] in said):
        return False
    digits = [_NUMBER.findall(text) for text in bare]
    return digits[0] == digits[1] and OSA.distance(*bare, score_cutoff=1) <= 1


def _one_number_apart(a: list[Any], b: list[Any]) -> bool:
    numbers = all(isinstance(item, (int, float)) for item in (*a, *b))
    return numbers and len(a) == len(b) >= _SHORTEST_LIST and sum(x != y for x, y in zip(a, b, strict=True)) == 1
