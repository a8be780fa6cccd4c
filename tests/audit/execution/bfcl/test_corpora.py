"""The real benchmark: golds run without an error, and pass before their own checkers but for known defects."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthard.audit.execution.bfcl import BfclEnvironment
from agenthard.audit.execution.environment import Attempt, Verdict
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask, ToolCall
from agenthard.taxonomy.accepted import concrete_values
from tests.corpora import tasks_of

pytestmark = [pytest.mark.corpora, pytest.mark.network]


def tasks(corpora: Path, *categories: str) -> Iterator[AgentTask]:
    return tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17" / "data", categories)


def first_choice(call: ToolCall) -> ToolCall:
    return call.model_copy(update={"arguments": next(iter(concrete_values(call.arguments, 1)), {})})


def test_multi_turn_golds_run_without_error_and_pass(bfcl: BfclEnvironment, corpora: Path) -> None:
    errors, rejected, count = [], [], 0
    kinds = ("base", "miss_func", "miss_param", "long_context")
    for task in tasks(corpora, *(f"multi_turn_{kind}" for kind in kinds)):
        count += 1
        bfcl.reset(task)
        gold = task.ground_truth.turns
        errors += [(task.id, call.text) for turn in gold for call in turn if bfcl.call(call).error]
        if not bfcl.evaluate(task, Attempt(turns=gold)).passed:
            rejected.append(task.id)
    assert (count, errors, rejected) == (800, [], [])


def test_the_order_of_tasks_does_not_matter(bfcl: BfclEnvironment, corpora: Path) -> None:
    some = list(tasks(corpora, "multi_turn_long_context"))[::10]

    def final_states(chosen: list[AgentTask]) -> dict[str, str]:
        hashes = {}
        for task in chosen:
            bfcl.reset(task)
            for turn in task.ground_truth.turns:
                for call in turn:
                    bfcl.call(call)
            hashes[task.id] = bfcl.state_hash()
        return hashes

    assert final_states(some) == final_states(some[::-1])


def test_python_golds_pass_but_for_known_defects(bfcl: BfclEnvironment, corpora: Path) -> None:
    kinds = ("simple", "multiple", "parallel", "parallel_multiple")
    rejected, count = [], 0
    for task in tasks(corpora, *kinds, *(f"live_{kind}" for kind in kinds)):
        count += 1
        calls = tuple(first_choice(call) for call in task.ground_truth.turns[0])
        [verdict] = bfcl.evaluate_many(task, [Attempt(turns=(calls,))])
        if not (isinstance(verdict, Verdict) and verdict.passed):
            rejected.append(task.id)
    assert (count, len(rejected)) == (2351, 7)
