"""All rule books: our own, then those that other packages register."""

from functools import cache

from agenthard.audit.execution.policy import airline, retail
from agenthard.audit.execution.policy.rule import Rule, RuleBook
from agenthard.audit.plugins import PluginError, installed_plugins
from agenthard.taxonomy.task import AgentTask

GROUP = "agenthard.policies"


@cache
def rule_books() -> tuple[RuleBook, ...]:
    """Return every rule book; those of entry points come last, in order of their name.

    Raises:
        PluginError: when an entry point is something else, or cannot be loaded.
    """
    offered = [(plugin, plugin.load()) for plugin in installed_plugins(GROUP)]
    for plugin, found in offered:
        if not isinstance(found, RuleBook):
            raise PluginError(f"{plugin.target} of the package {plugin.package} is not a RuleBook")
    return (*airline.BOOKS, *retail.BOOKS, *(found for _, found in offered))


def rules_for(task: AgentTask) -> list[Rule]:
    """Return the rules of a task's domain whose sentences its policy holds."""
    domain = task.subtask.partition("-")[0]
    rules = [rule for book in rule_books() if book.domain == domain for rule in book.rules]
    return [rule for rule in rules if rule.cited(task.environment.policy)]
