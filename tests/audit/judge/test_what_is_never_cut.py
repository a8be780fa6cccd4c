"""Calls, the records that a decision needs, dates and what is never compared, in prompts of real tasks."""

from pathlib import Path

import pytest

from agenthard.audit.judge.context.budget import PromptTooLongError, trim
from agenthard.audit.judge.context.compared import never_compared
from agenthard.audit.judge.context.conventions import conventions
from agenthard.audit.judge.context.dates import LABEL
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.sources.acebench import AceBench
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import AgentTask
from tests.corpora import tasks_of

ORDERS = "/environment/state/orders/"


@pytest.fixture
def retail(corpora: Path) -> tuple[AgentTask, ...]:
    return tasks_of(TauBench, corpora / "tau-bench_59a200c", ["retail"])


@pytest.fixture
def base(corpora: Path) -> tuple[AgentTask, ...]:
    return tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17", ["multi_turn_base"])


def _customers(task: AgentTask) -> set[str]:
    """Users that calls of the ground truth name, directly or by an order."""
    state = task.environment.state
    assert isinstance(state, dict)
    values = [str(value) for _, call in task.gold_calls() for value in call.arguments.values()]
    return {state["orders"][value]["user_id"] if value in state["orders"] else value for value in values} & set(
        state["users"]
    )


@pytest.mark.corpora
@pytest.mark.long
def test_every_order_of_a_user_is_shown_and_stays(retail: tuple[AgentTask, ...]) -> None:
    seen = 0
    for task in retail:
        state = task.environment.state
        assert isinstance(state, dict)
        material = gather(task)
        needed = {passage.label for passage in material.passages if passage.needed}
        wanted = {ORDERS + order for user in _customers(task) for order in state["users"][user]["orders"]}
        assert wanted <= needed, task.id
        seen += len(wanted)
        small = trim(material, task, 24_000)
        kept = {passage.label for passage in small.passages}
        assert wanted <= kept, task.id
        calls = {pointer for pointer, _ in task.gold_calls()}
        assert calls <= kept, task.id
    assert seen > 300


@pytest.mark.corpora
def test_what_is_needed_and_does_not_fit_is_an_error(retail: tuple[AgentTask, ...]) -> None:
    with pytest.raises(PromptTooLongError, match="retail/76: what a decision needs has"):
        trim(gather(retail[76]), retail[76], 4_000)


@pytest.mark.corpora
def test_a_user_who_speaks_of_the_latest_order_is_told_that_there_are_no_dates(retail: tuple[AgentTask, ...]) -> None:
    [dated] = [passage for passage in gather(retail[34]).passages if passage.label == LABEL]
    assert 'says "recently"' in dated.text and "- orders (1000): no field holds a date" in dated.text


@pytest.mark.corpora
def test_dates_are_named_where_there_are_some(base: tuple[AgentTask, ...]) -> None:
    by_id = {task.id: task for task in base}
    texts = {i: gather(by_id[f"multi_turn_base_{i}"]) for i in (143, 127, 0)}
    dated = {i: material.passage(LABEL) for i, material in texts.items()}
    assert dated[143] is not None and "dates in timestamp" in dated[143].text
    assert dated[127] is not None and "no field holds a date" in dated[127].text
    assert dated[0] is None


@pytest.mark.corpora
def test_calls_and_states_of_turns_are_never_cut(base: tuple[AgentTask, ...]) -> None:
    for task in base:
        needed = {passage.label for passage in gather(task).passages if passage.needed}
        assert {pointer for pointer, _ in task.gold_calls()} <= needed
        assert any(label.startswith("/initial_state") for label in needed)


@pytest.mark.corpora
def test_the_prompt_says_what_is_never_compared(
    corpora: Path, retail: tuple[AgentTask, ...], base: tuple[AgentTask, ...]
) -> None:
    [said] = [sentence for sentence in conventions(retail[0]) if "never compares" in sentence]
    assert "what the agent says to the user; which calls lead to the compared state" in said
    assert "besides the required texts" in never_compared(retail[19])
    assert "unless the note of a check says so" in never_compared(base[0])
    ace = {task.id: task for task in tasks_of(AceBench, corpora / "acebench_2025-02-26")}
    assert "the order of the calls" in never_compared(ace["normal_atom_bool_0"])
    assert "what the tools return" in never_compared(ace["normal_atom_bool_0"])
