"""Wording that was left over when one task was made from another."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_LONG = 60
"""Lines of fewer characters are shared by chance."""
_MOST_COPIES = 8
"""A line in more tasks than this is a template of the benchmark."""
_TERM = re.compile(r"(?<=[a-z,:;] )[A-Z][a-z]{2,}\b")


class LeftoverWording(SuiteDetector):
    """A line copied from another task still mentions that task's subject.

    Rule: two tasks of different scenarios (clusters) share a line of at least 60 characters word for word, and
    most of their lines; the line holds a capitalised term in mid-sentence that is in the lines which only the
    first task has, and in no line that only the second has. The second task then carries the first one's subject.

    Flagged: "compare Trains vs Planes" in a task on gardening, whose twin asks "Trains or Planes?".
    Not flagged: a shared line without a term of either subject ("Write valid JSON"); twins that share their subject.

    Wrong where the term belongs to both subjects and one text happens not to say it elsewhere.
    """

    id = "leftover-wording"
    title = "a line about another task's subject"
    version = "1"
    category = "ambiguous-instruction"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "The line demands something that the question does not ask, and a judge may score it."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Return why the task cannot be checked, or None."""
        return None if task.cluster and len(_lines(task)) > 3 else "no scenario, or too few lines to compare"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterable[Observation]:
        """Note the lines of one task."""
        yield Observation(task_id=task.id, key=task.cluster or "", value=[[p, line] for p, line in _lines(task)])

    def conclude(self, observations: Sequence[Observation]) -> Iterable[Conclusion | Undecided]:
        """Compare the tasks that share long lines."""
        holders: dict[str, list[int]] = defaultdict(list)
        for i, item in enumerate(observations):
            for line in dict.fromkeys(line for _, line in item.value):
                if len(line) >= _LONG:
                    holders[line].append(i)
        pairs = {
            (i, j)
            for copies in holders.values()
            if len(copies) <= _MOST_COPIES
            for i in copies
            for j in copies
            if observations[i].key != observations[j].key
        }
        for i, j in sorted(pairs):
            yield from _left_over(observations[i], observations[j])


def _lines(task: AgentTask) -> list[tuple[str, str]]:
    return [
        (pointer, line.strip())
        for pointer, text in task.user_texts()
        for line in text.split("\n")
        if len(line.strip()) > 1
    ]


def _left_over(source: Observation, copy: Observation) -> Iterator[Conclusion]:
    theirs, ours = ({line for _, line in item.value} for item in (source, copy))
    shared = theirs & ours
    if 2 * len(shared) < len(ours):
        return
    subject, own = " ".join(sorted(theirs - shared)), " ".join(sorted(ours - shared)).lower()
    for pointer, line in copy.value:
        if line not in shared or len(line) < _LONG:
            continue
        terms = [term for term in _TERM.findall(line) if re.search(rf"\b{term}\b", subject) and term.lower() not in own]
        if terms:
            at = next(pointer for pointer, text in source.value if text == line)
            where = next((p, text) for p, text in source.value if text not in shared and terms[0] in text)
            yield Conclusion(
                task_ids=(copy.task_id,),
                also_in=(source.task_id,),
                hit=Hit(
                    claim=f"A line mentions {terms[0]}, the subject of the task {source.task_id} and not of this one",
                    evidence=(
                        _evidence(copy.task_id, pointer, line, "the line"),
                        _evidence(source.task_id, at, line, "the same line in the other task"),
                        _evidence(source.task_id, where[0], where[1], "the other task's subject"),
                    ),
                    fix="Rewrite the line for this task.",
                ),
            )
            return


def _evidence(task_id: str, pointer: str, line: str, note: str) -> Evidence:
    return Evidence(task_id=task_id, pointer=pointer, quote=line, note=note)
