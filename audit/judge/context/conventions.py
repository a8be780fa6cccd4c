"""What a judge is told about a task: how its user is simulated, how it is scored, and what is by design."""

from collections.abc import Iterator
from typing import Any

from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.context.compared import never_compared
from agenthard.audit.judge.templates import data
from agenthard.taxonomy.accepted import ANY_OF
from agenthard.taxonomy.task import AgentTask


def conventions(task: AgentTask) -> list[str]:
    """List the sentences that hold for a task, by its records and traits; they say nothing about its content."""
    words = data("wording.yaml")
    never = never_compared(task)
    return [
        *_user(task, words["user"]),
        *_scoring(task, words),
        *([never] if never else []),
        *_traits(task, words["traits"]),
    ]


def _user(task: AgentTask, words: dict[str, str]) -> Iterator[str]:
    if task.user.kind == "simulated":
        yield words["simulated"]
        yield words["settled"]
    else:
        yield words["scripted_turns" if len(task.user.turns) > 1 else "scripted"]
        if "expects_no_call" not in task.traits:
            yield words["grounded"]
    if any(message.role == "assistant" for turn in task.user.turns for message in turn):
        yield words["recorded"]


def _scoring(task: AgentTask, words: dict[str, Any]) -> Iterator[str]:
    truth, said = task.ground_truth, words["truth"]
    no_call = "expects_no_call" in task.traits
    if not no_call:
        yield words["semantics"][truth.semantics]
        if truth.semantics != "none":
            given = truth.semantics == "milestones" and truth.call_matching == "state"
            yield words["matching"]["end_state" if given else truth.call_matching]
    if truth.call_matching == "state" and not any(truth.turns) and not no_call:
        yield said["no_calls_state"]
    if f'"{ANY_OF}"' in canonical_json(truth.turns):
        yield said["any_of"]
    if "alternatives" in task.metadata:
        yield said["alternatives"]
    if truth.outputs:
        yield said["outputs_named" if no_call else "outputs"]
    if truth.call_matching == "state":
        yield said["talk"]
    if task.hidden_tools:
        yield said["hidden_tools"]
    if any(not check.scored for check in task.evaluation.checks):
        yield said["unscored"]


def _traits(task: AgentTask, words: dict[str, str]) -> Iterator[str]:
    """Return one sentence for each trait that has one; other traits are used only by a source and its own checks."""
    return (sentence for trait, sentence in words.items() if trait in task.traits)
