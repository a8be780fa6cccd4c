from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agenthard.audit.evidence import text_at
from agenthard.audit.judge.context.budget import PromptTooLongError, trim
from agenthard.audit.judge.context.material import Material, Passage, omission_tokens, passage_tokens
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy import AgentTask, EnvironmentSpec
from tests.audit.judge.ferries import ferry_task
from tests.builders import LEND, make_task
from tests.corpora import tasks_of

ROUTE = ferry_task("I am member_002. I want to go from RIGA to KIEL on June 3rd, or to OSLO by way of GENT.")


def size(material: Material) -> int:
    return sum(map(passage_tokens, material.passages)) + sum(map(omission_tokens, material.omitted))


def test_what_fits_is_left_alone() -> None:
    material = gather(ROUTE)
    assert trim(material, ROUTE, size(material)) == material


def test_the_highest_rank_goes_first_and_the_table_is_told() -> None:
    material = gather(ROUTE)
    trimmed = trim(material, ROUTE, size(material) - 600)
    gone = {passage.label for passage in material.passages} - {passage.label for passage in trimmed.passages}
    ranks = {passage.label: passage.rank for passage in material.passages}
    kept = {ranks[passage.label] for passage in trimmed.passages}
    assert gone
    assert min(ranks[label] for label in gone) >= max(kept)
    assert trimmed.omitted[: len(material.omitted)] == material.omitted
    [more] = trimmed.omitted[len(material.omitted) :]
    assert more.label == "/environment/state/sailings"
    assert more.what.endswith("records that the task leads to: no room")
    assert more.tokens == sum(passage_tokens(p) for p in material.passages if p.label in gone)


@settings(max_examples=60, deadline=None)
@given(limit=st.integers(min_value=0, max_value=12_000))
def test_no_limit_is_passed_and_every_cut_is_told(limit: int) -> None:
    material = gather(ROUTE)
    try:
        trimmed = trim(material, ROUTE, limit)
    except PromptTooLongError as error:
        assert ROUTE.id in str(error)
        return
    assert size(trimmed) <= limit
    assert trim(material, ROUTE, limit) == trimmed
    assert {p.label for p in material.passages if p.needed} <= {p.label for p in trimmed.passages}
    told = sum(each.tokens for each in trimmed.omitted) - sum(each.tokens for each in material.omitted)
    lost = sum(map(passage_tokens, material.passages)) - sum(map(passage_tokens, trimmed.passages))
    assert told == lost


def test_tools_and_messages_are_told_together() -> None:
    tools = tuple(LEND.model_copy(update={"name": f"tool_{n}", "description": "d" * 400}) for n in range(6))
    task = make_task(environment=EnvironmentSpec(tools=(LEND, *tools)))
    trimmed = trim(gather(task), task, 2100)
    [omission] = [each for each in trimmed.omitted if each.label == "/environment/tools"]
    count = 14 - sum(1 for passage in trimmed.passages if passage.part == "tools")
    assert omission.what.startswith(f"{count} of 14: parameters of tool_")
    assert trimmed.passage("/environment/tools/0/description") is not None


def response(text: str) -> tuple[AgentTask, Material]:
    task = make_task()
    long = Passage(label="run/1/1", part="run", title="run 1, tool", text=text, rank=2)
    return task, Material(task_id=task.id, passages=(*gather(task).passages, long))


def test_a_long_response_is_shortened_before_it_is_dropped() -> None:
    task, material = response("ab" * 5000)
    trimmed = trim(material, task, size(material) - 100)
    head, tail = [passage for passage in trimmed.passages if passage.part == "run"]
    assert (head.label, tail.label, head.text + tail.text) == ("run/1/1#head", "run/1/1#tail", "ab" * 1200)
    assert [each.what for each in trimmed.omitted] == ["the middle of run 1, tool: characters 1800 to 9400 of 10000"]
    dropped = trim(material, task, size(material) - 4900)
    assert [each.what for each in dropped.omitted] == ["run 1, tool: no room"]


def test_needed_text_is_shortened_only_when_it_alone_is_too_long() -> None:
    policy = "".join(f"Rule {n}: lend at most {n} books. " for n in range(1000))
    task = make_task(environment=EnvironmentSpec(tools=(LEND,), policy=policy))
    trimmed = trim(gather(task), task, 5000)
    pieces = [passage for passage in trimmed.passages if passage.part == "policy"]
    assert [piece.label for piece in pieces] == ["/environment/policy#head", "/environment/policy#tail"]
    assert all(piece.text in text_at(task, "/environment/policy") and piece.needed for piece in pieces)
    assert len(pieces[0].text) + len(pieces[1].text) > 4000
    with pytest.raises(PromptTooLongError, match=r"lib/1: .* /environment/policy. Give the judge more context_tokens"):
        trim(gather(task), task, 2000)


@pytest.mark.long
@pytest.mark.corpora
def test_tau2_airline(corpora: Path) -> None:
    for task in tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3", ("airline",)):
        material = gather(task)
        for limit in (100_000, 32_000):
            trimmed = trim(material, task, limit)
            assert size(trimmed) <= limit
            for passage in trimmed.passages:
                assert passage.pointer is None or passage.text in text_at(task, passage.pointer)
            labels = {passage.label for passage in trimmed.passages}
            for _, call in task.gold_calls():
                named = call.arguments.get("reservation_id")
                if named in task.environment.state["reservations"]:
                    assert f"/environment/state/reservations/{named}" in labels
