"""What the user, the ground truth and the evaluation of a task say, by the terms and the days of a state."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.context.dated import Field
from agenthard.audit.judge.context.listings import Synonyms, synonyms
from agenthard.audit.judge.context.state_index import OWN, StateIndex
from agenthard.audit.judge.context.terms import days, mentioned, shifts, terms_in
from agenthard.taxonomy.task import AgentTask


class Said(NamedTuple):
    """A text of the user, the ground truth or the evaluation."""

    terms: set[str]
    """Terms of the state that it names."""
    days: set[str]
    """Days of calendars that it names."""
    call: Any = None
    """Arguments, where it is a call of the ground truth."""


class Texts:
    """What the user, the ground truth and the evaluation say."""

    def __init__(self, task: AgentTask, index: StateIndex) -> None:
        """Read the texts.

        Args:
            task: the task.
            index: the state whose terms and days count.
        """
        self._index = index
        self._synonyms: Synonyms = synonyms(task)
        self._known = index.known | self._synonyms.keys()
        user = "\n".join(text for _, text in task.user_texts())
        self.user = self._said(user)
        self._by_the_user = mentioned(user, self._known)
        self.shifts = shifts(user)
        texts = [*task.ground_truth.outputs, *task.ground_truth.answers]
        texts += [canonical_json(check.expected) for check in task.evaluation.checks if check.expected]
        if task.initial_state is not None and not index.records[0].passage.label.startswith(OWN):
            texts.append(canonical_json(task.initial_state))
        self.others = [self._said(text) for text in texts]
        for _, call in task.gold_calls():
            said = self._said(canonical_json(call.arguments), call.arguments)
            said.terms.update(term for term in terms_in(call.arguments) if term in index.known)
            self.others.append(said)

    def _said(self, text: str, call: Any = None) -> Said:
        terms = mentioned(text, self._known)
        if call is None:
            terms |= {other for term in terms for other in self._synonyms.get(term, ())}
        named = days(text)
        return Said(terms & self._index.known, {d for d in self._index.calendar if {d, d[5:]} & named}, call)

    def spread(self, fields: Iterable[Field]) -> set[Field]:
        """Add, for each value that the user names by a synonym, the others that this synonym has."""
        names = self._synonyms
        spread = set(fields)
        for name, term in sorted(spread):
            said = names.get(term, frozenset()) & self._by_the_user
            spread |= {(name, other) for each in said for other in names[each]}
        return spread
