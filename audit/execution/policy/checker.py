"""Checks the calls of a ground truth against the rules of its policy, and finds the rule books of a domain."""

from collections.abc import Iterator, Sequence
from functools import cache

from agenthard.audit.execution.context import current_execution
from agenthard.audit.execution.environment import Environment
from agenthard.audit.execution.policy import airline, retail
from agenthard.audit.execution.policy.case import EarlierCall, PolicyCase
from agenthard.audit.execution.policy.proposals import accepted_book, shipped_books
from agenthard.audit.execution.policy.rule import CannotTell, Outcome, PolicyRule, RuleBook
from agenthard.audit.execution.replay import concrete
from agenthard.audit.plugins import PluginError, installed_plugins
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.task import AgentTask, ToolCall


class RuleJudgement(Record):
    """Outcome of one rule on one call."""

    rule: str
    """Id of the rule."""
    cited: tuple[str, ...]
    """The sentences of the policy, verbatim."""
    outcome: Outcome
    """Outcome."""


class CheckedCall(Record):
    """One call of a ground truth with the outcomes of its rules and of the call itself."""

    pointer: str
    """JSON Pointer of the call."""
    call: ToolCall
    """The call."""
    judgements: tuple[RuleJudgement, ...]
    """One per rule for this tool."""
    refused: str | None
    """Why the tool refused the call; None when it did not."""


def check_calls(task: AgentTask, environment: Environment, rules: Sequence[PolicyRule]) -> Iterator[CheckedCall]:
    """Replay a ground truth and apply the rules to each call of the agent before it is made.

    Rules are applied to refused calls too, which do not change the state. A rule whose facts are missing from the call
    or the database cannot tell.

    Args:
        task: the task.
        environment: environment of the task; its snapshots hold at least the changed records, by table and id.
        rules: rules of the task's domain; rules whose sentences are not in the policy are skipped.

    Yields:
        Every call of the ground truth, in order.

    Raises:
        UnavailableError: the task cannot be executed.
        ExecutionError: the environment broke.
    """
    sentences = {rule.id: rule.cited(task.environment.policy) for rule in rules}
    environment.reset(task)
    earlier: list[EarlierCall] = []
    for pointer, gold in task.gold_calls():
        call = concrete(gold)
        wanted = [rule for rule in rules if call.name in rule.tools and call.requestor == "assistant"]
        case = PolicyCase(task, pointer, call, environment.snapshot(), tuple(earlier))
        judgements = tuple(
            RuleJudgement(rule=rule.id, cited=sentences[rule.id], outcome=_look(rule, case))
            for rule in wanted
            if sentences[rule.id]
        )
        seen = environment.call(call)
        yield CheckedCall(pointer=pointer, call=call, judgements=judgements, refused=seen.error)
        earlier.append(EarlierCall(pointer, call, seen.text, seen.error is not None))


def _look(rule: PolicyRule, case: PolicyCase) -> Outcome:
    try:
        return rule.look(case)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        return CannotTell(reason=f"the call or the database lacks what the rule needs ({error})")


GROUP = "agenthard.policies"


@cache
def rule_books() -> tuple[RuleBook, ...]:
    """Return every rule book; those of other packages come last, in order of their name.

    Raises:
        PluginError: an entry point is something else, or cannot be loaded.
    """
    offered = [(plugin, plugin.load()) for plugin in installed_plugins(GROUP)]
    for plugin, found in offered:
        if not isinstance(found, RuleBook):
            raise PluginError(f"{plugin.target} of the package {plugin.package} is not a RuleBook")
    return (*airline.BOOKS, *retail.BOOKS, *shipped_books(), *(found for _, found in offered))


def rules_for(task: AgentTask) -> list[PolicyRule]:
    """Return the rules of a task's domain whose sentences are in its policy."""
    domain = task.subtask.partition("-")[0]
    given = current_execution().policy_rules
    books = (*rule_books(), *((accepted_book(str(given)),) if given else ()))
    rules = [rule for book in books if book.domain == domain for rule in book.rules]
    return [rule for rule in rules if rule.cited(task.environment.policy)]
