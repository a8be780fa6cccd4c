from pathlib import Path

import pytest

from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.evaluation import UnscoredRequirement
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy import AgentTask, Check, EvaluationSpec, Status, Tier, UserSpec
from tests.builders import make_task
from tests.corpora import tasks_of

STATE = Check(kind="final_state", scored=True)


def text(required: str) -> Check:
    return Check(kind="output_substring", scored=True, expected=required)


def judged(assertion: str, *others: Check, task_id: str = "lib/1") -> AgentTask:
    unscored = Check(kind="judge", scored=False, expected=assertion)
    return make_task(task_id, evaluation=EvaluationSpec(checks=(*others, unscored)))


def asked(instruction: str, *checks: Check) -> AgentTask:
    user = UserSpec(kind="simulated", instruction=instruction)
    return make_task(user=user, evaluation=EvaluationSpec(checks=checks))


@pytest.mark.parametrize(
    "assertion",
    [
        "Agent verifies that the book is overdue.",
        "Check that Agent searched for other editions.",
        "Agent does not offer a discount before the user asks.",
        "The fee that the agent mentions is between $3 and $4.",
        "Agent should detect that the card is invalid.",
        "style: formal and brief",
        '{"text": "never discloses a code", "weight": 1}',
        "- thanks the reader\n- sums up",
    ],
)
def test_what_can_only_be_seen_in_the_run(assertion: str) -> None:
    [hit] = UnscoredRequirement().inspect(judged(assertion, STATE))
    assert hit.tier is None
    assert hit.evidence[0].quote == assertion


def restated(required: object, *assertions: str) -> AgentTask:
    """A text that the reward basis leaves out, beside assertions that are in it."""
    texts = Check(kind="output_substring", scored=False, expected=required)
    judges = (Check(kind="judge", scored=True, expected=assertion) for assertion in assertions)
    return make_task(evaluation=EvaluationSpec(checks=(STATE, texts, *judges)))


@pytest.mark.parametrize(
    "task",
    [
        restated("1628", "Agent communicates that the fee is $1,628."),
        restated(["10", "7"], "There are 10 copies.", "7 of them are lent."),
        restated("the reading room", "Agent names the Reading Room."),
    ],
)
def test_what_a_judge_scores_in_other_words(task: AgentTask) -> None:
    assert list(UnscoredRequirement().inspect(task)) == []


@pytest.mark.parametrize(
    "task",
    [
        restated("1628", "Agent communicates the fee."),
        restated(["10", "7"], "There are 10 copies."),
        restated("628", "The fee is $1,628."),
    ],
)
def test_a_value_that_no_assertion_states(task: AgentTask) -> None:
    [hit] = UnscoredRequirement().inspect(task)
    assert hit.evidence[0].pointer == "/evaluation/checks/1/expected"


@pytest.mark.parametrize(
    "task",
    [
        judged("Agent does not lend the book.", STATE),
        judged("Check that Agent renews book 7.", STATE),
        judged("Agent adds 2 checked bags.", STATE),
        judged("Agent communicates that the fee is $1,628.", STATE, text("1628")),
        judged("Agent communicates the fee.", STATE, text("12")),
    ],
)
def test_what_a_scored_check_decides(task: AgentTask) -> None:
    assert list(UnscoredRequirement().inspect(task)) == []


def test_a_figure_that_the_required_texts_do_not_carry() -> None:
    assert list(UnscoredRequirement().inspect(judged("Agent says that the fee is $5.", STATE, text("12"))))


def test_without_a_scored_state_no_assertion_is_decided() -> None:
    assert list(UnscoredRequirement().inspect(judged("Agent does not lend the book.", text("12"))))


def test_an_unscored_text_is_stated_and_not_scored() -> None:
    unscored = Check(kind="output_substring", scored=False, expected="12")
    [hit] = UnscoredRequirement().inspect(make_task(evaluation=EvaluationSpec(checks=(STATE, unscored))))
    assert hit.cause == "unscored output_substring"


def test_one_finding_for_all_tasks() -> None:
    tasks = [judged(f"Agent verifies card {i}.", STATE, task_id=f"lib/{i}") for i in range(3)]
    detector = UnscoredRequirement()
    [finding], _ = conclude("library", [t.id for t in tasks], [check_shard(tasks, {}, [detector])], [detector])
    assert finding.task_ids == ("lib/0", "lib/1", "lib/2")


@pytest.mark.parametrize(
    "instruction",
    [
        "You want to know the total amount you will get back.",
        "Return it. Ask the agent to tell you how much it costs.",
        "You want to use the card and know how much balance is left.",
        "Also ask for what the total cost is.",
    ],
)
def test_a_figure_that_the_user_wants_to_be_told(instruction: str) -> None:
    [hit] = UnscoredRequirement().inspect(asked(instruction, STATE))
    assert hit.tier is Tier.SUSPECTED


@pytest.mark.parametrize(
    "task",
    [
        asked("You wonder if you can change it to the easiest one.", STATE),
        asked("You wonder when your book arrives.", STATE),
        asked("You want to know which account has the lowest total fees.", STATE),
        asked("After it is opened, ask about savings.", STATE),
        asked("Ask for a 50% refund.", STATE),
        asked("If the agent asks how many books there are, say 3.", STATE),
        asked("You want to know if it is waterproof.", STATE),
        asked("You want to know the total cost.", STATE, text("12")),
        asked("You want to know the total cost.", Check(kind="tool_calls", scored=True)),
    ],
)
def test_acts_yes_or_no_and_what_is_checked(task: AgentTask) -> None:
    assert list(UnscoredRequirement().inspect(task)) == []


def test_what_a_scripted_user_asks_is_not_read() -> None:
    task = make_task(evaluation=EvaluationSpec(checks=(STATE,)))
    assert list(UnscoredRequirement().inspect(task)) == []


def test_without_checks_nothing_is_checked() -> None:
    [row] = check_shard([make_task(evaluation=EvaluationSpec())], {}, [UnscoredRequirement()]).coverage
    assert row.status is Status.NOT_CHECKED


@pytest.mark.corpora
def test_tau2(corpora: Path) -> None:
    tasks = tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3")
    hits = [item for item in check_shard(tasks, {}, [UnscoredRequirement()]).hits if item.hit.cause]
    assert [hit.task_ids[0] for hit in hits] == [f"airline/{i}" for i in (2, 3, 4, 5, 8, 9, 12, 13, 27, 38, 41, 44)]
