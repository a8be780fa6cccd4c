"""A rule: sentences of a policy, and a function that checks one call against them."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.taxonomy.finding import Evidence, Severity
from agenthard.taxonomy.record import Record


class RuleViolation(Record):
    """The call breaks the rule."""

    claim: str
    """What is wrong, in one self-contained sentence."""
    facts: tuple[Evidence, ...] = ()
    """Evidence in addition to the call and the sentences of the policy."""
    certain: bool = True
    """False when it depends on what the user's text does not mention."""
    severity: Severity | None = None
    """Severity, if lower than usual; None: a right run fails."""


class CannotTell(Record):
    """The files do not show whether the call follows the rule."""

    reason: str
    """Missing fact."""


Outcome = RuleViolation | CannotTell | None
"""Outcome of a rule; None: the call follows it."""


@dataclass(frozen=True)
class PolicyRule:
    """One rule of a policy."""

    id: str
    """Stable kebab-case id, unique in its rule book."""
    domain: str
    """Domain of its tasks."""
    tools: frozenset[str]
    """Tools whose calls it checks."""
    wordings: tuple[tuple[str, ...], ...]
    """The sentences it encodes, once for each wording of the policy."""
    look: Callable[[PolicyCase], Outcome]
    """Looks at one call."""

    @property
    def title(self) -> str:
        """First line of the function's docstring."""
        return (self.look.__doc__ or self.id).strip().splitlines()[0]

    def cited(self, policy: str) -> tuple[str, ...]:
        """Return the sentences as a policy writes them, of the first wording that is there in full.

        Returns:
            Nothing when the policy has none of the wordings; the rule does not apply to it then.
        """
        for wording in self.wordings:
            found = [find(sentence, policy) for sentence in wording]
            if all(found):
                return tuple(text for text in found if text)
        return ()


class RuleBook:
    """The rules of one domain, in order of definition.

    >>> book = RuleBook("library")
    >>> @book.rule("at-most-five", tools=("lend",), sentences=("Lend at most five books.",))
    ... def at_most_five(case):
    ...     '''No member takes six books.'''
    >>> book.rules[0].title
    'No member takes six books.'
    """

    def __init__(self, domain: str) -> None:
        """Create an empty book for a domain (the part of ``AgentTask.subtask`` before the first hyphen)."""
        self.domain = domain
        self.rules: list[PolicyRule] = []

    def rule(
        self, rule_id: str, *, tools: Sequence[str], sentences: Sequence[str | tuple[str, ...]]
    ) -> Callable[[Callable[[PolicyCase], Outcome]], Callable[[PolicyCase], Outcome]]:
        """Register the decorated function as a rule.

        Args:
            rule_id: stable kebab-case id.
            tools: names of the tools whose calls it checks.
            sentences: accepted wordings of the policy; a tuple holds sentences that belong together.

        Raises:
            ValueError: when the id is taken, or nothing is cited.
        """
        wordings = tuple((item,) if isinstance(item, str) else item for item in sentences)
        if not wordings or not all(wordings) or any(rule.id == rule_id for rule in self.rules):
            raise ValueError(f"rule {rule_id!r} cites no sentence, or there is another one of this id")

        def register(look: Callable[[PolicyCase], Outcome]) -> Callable[[PolicyCase], Outcome]:
            self.rules.append(PolicyRule(rule_id, self.domain, frozenset(tools), wordings, look))
            return look

        return register


def find(sentence: str, policy: str) -> str | None:
    """Find a sentence in a policy, whatever its white space, and return it as the policy writes it."""
    found = re.search(r"\s+".join(map(re.escape, sentence.split())), policy)
    return found and found.group()
