"""The question that asks a model to write the rules of a policy down, and its answer."""

from collections.abc import Sequence

from pydantic import ValidationError

from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.policy.proposals import PolicyProposal
from agenthard.audit.judge.context.fence import fence_code, fenced_text
from agenthard.audit.judge.templates import render
from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError, answer_object
from agenthard.models.request import ChatMessage, OutputSchema, Request
from agenthard.models.structured import strict_schema
from agenthard.taxonomy.task import AgentTask

_SAMPLE = 600
"""Characters of a record that shows what a table is like."""


def policy_request(model: str, task: AgentTask) -> Request:
    """Return the request for the rules of the policy that a task gives its agent.

    Args:
        model: name of the model.
        task: a task with the policy; its tools and tables are shown too.
    """
    tools = "\n".join(
        f"{tool.name} ({tool.effect}): {tool.description}\n{canonical_json(tool.parameters)}"
        for tool in (*task.environment.tools, *task.environment.user_tools)
    )
    tables = "\n".join(_samples(task.environment.state))
    shown = (("policy", task.environment.policy), ("tools", tools), ("tables with one record each", tables))
    code = fence_code((), [text for _, text in shown])
    parts = [fenced_text(text, code, title) for title, text in shown]
    return Request(
        model=model,
        messages=(
            ChatMessage(role="system", text=render("policy_system.md.j2")),
            ChatMessage(role="user", text="\n\n".join((f"The fence code is {code}.", *parts, "Write the rules."))),
        ),
        output=OutputSchema(name="rules", json_schema=strict_schema(PolicyProposal)),
    )


def read_proposal(text: str) -> PolicyProposal:
    """Read a model's answer.

    Raises:
        UnreadableVerdictError: It is not a proposal.
    """
    try:
        found = PolicyProposal.model_validate_json(answer_object(text), strict=True)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, f['loc']))[:200]}: {f['msg'][:200]}" for f in error.errors()[:5])
        raise UnreadableVerdictError(f"the answer is not a list of rules: {faults}") from None
    names = [rule.id for rule in found.rules]
    if len(set(names)) < len(names):
        raise UnreadableVerdictError(f"two rules are called {max(names, key=names.count)}")
    return found


def _samples(state: object, prefix: str = "") -> Sequence[str]:
    """Show each table by its first record, also below the part of the agent or of the user."""
    if not isinstance(state, dict):
        return ()
    found = []
    for name, records in state.items():
        members = list(records.values()) if isinstance(records, dict) else records if isinstance(records, list) else []
        if members and all(isinstance(member, dict) for member in members):
            found.append(f"{prefix}{name}: {canonical_json(members[0])[:_SAMPLE]}")
        elif isinstance(records, dict) and not prefix:
            found += _samples(records, f"{name} / ")
    return found
