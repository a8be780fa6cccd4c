"""Amounts that the user states, against what the gold calls move when they are replayed."""

from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.ground_truth import UnmetFigure
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import AgentTask, GroundTruth, Message, Status, ToolCall, UserSpec
from tests.library import call, desk_task, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

PAY = call("pay_fee", member="ada", amount=5)


def claims(task: AgentTask) -> list[str]:
    return [item.hit.claim for item in check_shard([task], {}, [UnmetFigure()]).hits]


def two_turns(first: str, *calls: ToolCall, then: str = "Now pay Ada's fee.") -> AgentTask:
    said = (first, then)
    return desk_task(
        user=UserSpec(kind="scripted", turns=tuple((Message(role="user", content=text),) for text in said)),
        ground_truth=GroundTruth(semantics="reference_path", turns=(calls, (PAY,)), call_matching="state"),
    )


def test_another_cost_than_stated() -> None:
    (claim,) = claims(desk_task(PAY, says="Pay Ada's fee, the total is $7."))
    assert claim == "The request states 7; the replayed gold calls of that turn move 5 (pay_fee)."


def test_more_than_the_user_allows() -> None:
    (claim,) = claims(two_turns("I can spend no more than 4 dollars."))
    assert claim == "The request limits what is spent to 4; a replayed gold call moves 5 (pay_fee)."


@pytest.mark.parametrize(
    "task",
    [
        desk_task(PAY, says="Pay Ada's fee, the total is $5."),
        desk_task(PAY, PAY, says="Pay both fees of Ada; the total is $10.00."),
        desk_task(PAY, says="Pay Ada's fee; the cost is at most $7."),
        desk_task(PAY, says="Pay Ada's fee if it costs no more than $4, else ask."),
        two_turns("Ada's fee had a total of $7."),  # nothing is paid in that turn
        two_turns("Pay for Bea.", call("pay_fee", member="bea", amount=5), then="Pay for Ada too, at most $4."),
    ],
    ids=["met", "met together", "a bound", "a condition", "another turn", "the user has seen the sum"],
)
def test_what_is_met_or_not_meant(task: AgentTask) -> None:
    assert claims(task) == []


def test_a_sound_variant_is_not_flagged_for_its_twin() -> None:
    said = {"lib/1": "Pay Ada's fee, the total is $7.", "lib/2": "Pay Ada's fee, the total is $5."}
    tasks = [desk_task(PAY, id=name, says=text, cluster="base 1") for name, text in said.items()]
    check = UnmetFigure()
    (finding,), _ = conclude("library", list(said), [check_shard(tasks, {}, [check])], [check])
    assert (finding.task_ids, finding.also_in) == (("lib/1",), ())


def test_figures_of_a_simulated_user_are_a_story() -> None:
    task = desk_task(PAY, user=UserSpec(kind="simulated", instruction="You saw a total of $7 last week."))
    (row,) = check_shard([task], {}, [UnmetFigure()]).coverage
    assert row.status is Status.NOT_CHECKED and row.reason == "no text states what something costs or may cost"


@pytest.mark.long
@pytest.mark.corpora
def test_bookings_of_bfcl_that_cost_something_else(corpora: Path) -> None:
    source = open_source("bfcl", corpora / "bfcl_v3_2025-07-17", ("multi_turn_base",))
    tasks = [task for task in source.tasks(Quarantine()) if task.id.rpartition("_")[2] in ("160", "164", "171", "179")]
    found = check_shard(tasks, {}, [UnmetFigure()]).hits
    assert [hit.task_ids[0].rpartition("_")[2] for hit in found] == ["171", "179"]
