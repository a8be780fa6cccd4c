"""Rules that a reader of a policy proposes, and the books that a person accepts them into."""

import json
from collections.abc import Sequence
from functools import cache
from importlib import resources
from pathlib import Path

from pydantic import Field, ValidationError

from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.language import RuleSyntaxError, compile_expression
from agenthard.audit.execution.policy.rule import Outcome, PolicyRule, RuleBook, RuleViolation, find
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record


class ProposedRule(Record):
    """One rule, as a reader of the policy writes it."""

    id: str = Field(pattern=r"^[a-z][a-z0-9-]{2,60}$")
    """Kebab-case id, unique in the book."""
    sentences: tuple[str, ...] = Field(min_length=1)
    """The sentences of the policy that it encodes, copied exactly."""
    tools: tuple[str, ...] = Field(min_length=1)
    """Tools whose calls it looks at."""
    applies: str
    """Expression that says to which calls it applies; empty for all calls of these tools."""
    requires: str
    """Expression that has to be true for such a call."""
    claim: str
    """What is wrong with a call for which it is not, in one sentence about "the call"."""
    certain: bool
    """False where it rests on what the user does not mention, so that a breach is only suspected."""


class SentenceLeftOut(Record):
    """A sentence of the policy that no rule encodes."""

    sentence: str
    """The sentence, copied exactly."""
    because: str
    """Why the language cannot express it, or why it leaves no trace in calls."""


class PolicyProposal(Record):
    """What a reader makes of one policy."""

    rules: tuple[ProposedRule, ...]
    """The rules."""
    left_out: tuple[SentenceLeftOut, ...]
    """Sentences that bind the agent and that no rule encodes."""


class AcceptedRules(Record):
    """Rules that a person accepted for the policies of one domain."""

    domain: str
    """Domain of the tasks (the part of ``AgentTask.subtask`` before the first hyphen)."""
    proposed_by: str
    """Who read the policy: a model, or a person."""
    accepted_by: str
    """Who accepted the rules."""
    rules: tuple[ProposedRule, ...] = Field(min_length=1)
    """The rules."""

    def book(self) -> RuleBook:
        """Compile the rules to a book.

        Raises:
            RuleSyntaxError: A rule is not of the rule language.
        """
        book = RuleBook(self.domain)
        book.rules.extend(compiled(rule, self.domain) for rule in self.rules)
        return book


class RuleFileError(AgentHardError, ValueError):
    """A file of proposed or accepted rules cannot be read; the message says why."""

    code = "AH311"
    remedy = "Write the file with `agenthard policy propose` or `agenthard policy accept`."


def compiled(rule: ProposedRule, domain: str) -> PolicyRule:
    """Compile a proposed rule.

    Raises:
        RuleSyntaxError: An expression is not of the rule language.
    """
    applies = compile_expression(rule.applies) if rule.applies.strip() else None
    requires = compile_expression(rule.requires)

    def look(case: PolicyCase) -> Outcome:
        if applies is not None and not applies(case):
            return None
        if requires(case):
            return None
        return RuleViolation(claim=f"The ground truth calls {case.call.name}: {rule.claim}", certain=rule.certain)

    look.__doc__ = f"Broken where {rule.claim}."
    return PolicyRule(rule.id, domain, frozenset(rule.tools), (rule.sentences,), look)


def why_not(rule: ProposedRule, policy: str, tools: Sequence[str]) -> str | None:
    """Return why a proposed rule cannot be used with a policy; None when it can.

    Args:
        rule: the rule.
        policy: text of the policy, in which every sentence of the rule has to be.
        tools: names of the tools that the tasks offer.
    """
    lost = [sentence for sentence in rule.sentences if find(sentence, policy) is None]
    if lost:
        return f"the policy does not say: {lost[0][:200]}"
    unknown = sorted(set(rule.tools) - set(tools))
    if unknown:
        return f"no tool is called {unknown[0]}"
    try:
        compiled(rule, "")
    except RuleSyntaxError as error:
        return str(error)
    return None


def read_accepted(path: Path) -> AcceptedRules:
    """Read a file of accepted rules.

    Raises:
        RuleFileError: It cannot be read, or a rule is not of the rule language.
    """
    try:
        found = AcceptedRules.model_validate_json(path.read_bytes())
        found.book()
    except OSError as error:
        raise RuleFileError(f"{path}: {error.strerror or error}") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise RuleFileError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except RuleSyntaxError as error:
        raise RuleFileError(f"{path}: {error}") from error
    return found


@cache
def shipped_books() -> tuple[RuleBook, ...]:
    """Return the books of accepted rules that come with AgentHard, by name of the file."""
    folder = resources.files("agenthard.audit.execution.policy").joinpath("accepted")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    return tuple(AcceptedRules.model_validate(json.loads(file.read_text("utf-8"))).book() for file in files)


@cache
def accepted_book(path: str) -> RuleBook:
    """Return the book of a file of accepted rules; it is read once.

    Raises:
        RuleFileError: It cannot be read.
    """
    return read_accepted(Path(path)).book()
