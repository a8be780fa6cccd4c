"""Issues settled by checks and execution, at the library desk."""

from typing import Any

import pytest

from agenthard.audit.judge.verdict import Change, CheckedIssue
from agenthard.audit.judge.verify.verification import settle
from agenthard.taxonomy import (
    AgentTask,
    Check,
    Coverage,
    EvaluationSpec,
    Evidence,
    Finding,
    Severity,
    Status,
    Tier,
    ToolCall,
)
from tests.audit.judge.saying import call_at, gated, says
from tests.library import DESK, call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

SAID = "/user/turns/0/0/content"
ONE, TWO, FIND = call("leave_note", text="one"), call("leave_note", text="two"), call("find_book", book="b7")
SCORED_READS = frozenset({"redundant_calls_free", "unchecked_turns"})


def settled(task: AgentTask, category: str, claim: str, *evidence: tuple[str, str], **more: Any) -> CheckedIssue:
    issue = gated(task, says(category, claim, *evidence, **more))
    assert issue.standing == "verified", issue.reason
    return settle(task, issue)


def redundant(index: int, *calls: ToolCall, claim: str = "The call has no effect.", **task: Any) -> CheckedIssue:
    return settled(desk_task(*calls, **task), "redundant-tool-call", claim, (call_at(index), calls[index].name))


def test_a_call_without_which_nothing_is_lost_is_redundant() -> None:
    issue = redundant(0, ONE, TWO)
    assert issue.standing == "proved"
    assert issue.reason.startswith("without leave_note a run gets full score and the same final state")
    assert (issue.severity, issue.issue.severity) == (Severity.COSMETIC, Severity.AFFECTS_SCORE)


def test_a_write_that_changes_nothing_is_redundant() -> None:
    issue = redundant(1, ONE, ONE, lend())
    assert (issue.standing, issue.severity) == ("proved", Severity.COSMETIC)
    assert issue.reason.startswith("gold-changes-nothing finds it too")


@pytest.mark.parametrize(
    ("index", "calls", "reason"),
    [
        (0, (lend("b7"), lend("b8")), "without lend_book the ground truth ends in another state"),
        (0, (FIND, lend()), "find_book only reads, and what is read is not scored: no run has to make the call"),
    ],
)
def test_a_call_that_is_needed_or_free(index: int, calls: tuple[ToolCall, ...], reason: str) -> None:
    issue = redundant(index, *calls)
    assert (issue.standing, issue.reason) == ("refuted", reason)


def test_a_call_whose_response_a_later_call_needs() -> None:
    calls = (call("find_book", book="b9"), lend("b7", "ada"))
    needed = redundant(0, *calls, traits=SCORED_READS)
    assert (needed.standing, needed.reason) == (
        "refuted",
        "a later gold call has 'ada', which nothing but the response of find_book tells",
    )
    said = redundant(0, *calls, traits=SCORED_READS, says="Lend b7 to ada.")
    assert said.reason == ("not settled: a later call has a value that the response of find_book shows, and others too")


@pytest.mark.parametrize(
    "claim",
    [
        "The user never asked for this, and it has no effect.",
        "It was not requested.",
        "The value is ungrounded.",
        "It is unnecessary: the same is done twice.",
    ],
)
def test_no_replay_tells_what_somebody_wants(claim: str) -> None:
    issue = redundant(0, lend("b7"), lend("b8"), claim=claim)
    assert issue.standing == "verified"
    assert issue.reason == "not settled: lend_book makes a difference; whether it is wanted, no replay can tell"


def test_nor_where_the_user_is_quoted() -> None:
    task = desk_task(lend("b7"), lend("b8"), says="Lend me book b7.")
    issue = settled(task, "redundant-tool-call", "One call is idle.", (call_at(1), "b8"), (SAID, "book b7"))
    assert issue.standing == "verified"


@pytest.mark.parametrize(
    ("calls", "changes", "reason"),
    [
        ((ONE, TWO), {"subtask": "buying"}, "only lending is known here"),
        ((ONE, TWO), {"benchmark": "elsewhere"}, "no environment is registered for elsewhere"),
        ((lend("b9", "bea"), ONE), {}, "lend_book fails when replayed, so what it is for cannot be seen"),
        ((call("break_down"), ONE), {}, "the desk broke down"),
    ],
)
def test_what_cannot_be_executed_is_not_settled(
    calls: tuple[ToolCall, ...], changes: dict[str, Any], reason: str
) -> None:
    issue = redundant(0, *calls, **changes)
    assert (issue.standing, issue.reason) == ("verified", f"not settled: {reason}")


def test_two_calls_at_once_are_not_settled() -> None:
    task = desk_task(ONE, TWO)
    issue = settled(task, "redundant-tool-call", "Idle.", (call_at(0), "one"), (call_at(1), "two"))
    assert issue.reason == "not settled: its quotes do not name one call of the ground truth"


def test_a_malformed_call() -> None:
    task = desk_task(lend(kind="forever"), call("pay_fee", member="ada", amount=5))
    broken = settled(task, "malformed-tool-call", "No such kind.", (call_at(0), '"kind": "forever"'))
    # The desk ignores how long a loan is to be: a wrong kind decides no score.
    assert (broken.standing, broken.severity, broken.proof) == ("proved", Severity.COSMETIC, None)
    assert broken.reason.startswith("call-schema finds it too: The gold call of 'lend_book' gives 'kind' as")
    other = settled(task, "malformed-tool-call", "The argument book has the wrong type.", (call_at(0), '"book": "b7"'))
    assert (other.standing, other.reason) == ("verified", "not settled: call-schema flags something else of the call")
    fits = settled(task, "malformed-tool-call", "A text is wanted.", (call_at(1), '"amount": 5'))
    assert fits.standing == "refuted"
    day = settled(task, "malformed-tool-call", "There is no such day.", (call_at(1), '"amount": 5'))
    assert day.reason == "not settled: its claim is about something else than the schema"
    assert fits.reason.startswith("call-schema looked at the gold call of pay_fee: it fits the documented schema")


def test_what_the_documentation_says_in_words_is_left_to_people() -> None:
    told = DESK.tools[2].model_copy(update={"description": "Amounts are in whole cents."})
    desk = DESK.model_copy(update={"tools": (*DESK.tools[:2], told, *DESK.tools[3:])})
    task = desk_task(call("pay_fee", member="ada", amount=0.5), environment=desk)
    gold, tool = (call_at(0), '"amount": 0.5'), "/environment/tools/2"
    words = settled(
        task,
        "malformed-tool-call",
        "The argument is to be in whole cents.",
        gold,
        (tool, "Amounts are in whole cents."),
    )
    assert words.reason.startswith("not settled: it rests on prose of the documentation")
    types = settled(task, "malformed-tool-call", "Not a text.", gold, (tool, '"amount": {"type": "number"}'))
    assert types.standing == "refuted"


def test_a_failing_call() -> None:
    task = desk_task(lend("b9", "bea"), lend("b7"), says="Lend b9 to Bea.")
    wrong = ("incorrect-tool-call", "The gold call fails when it is made.")
    fails = settled(task, *wrong, (call_at(0), "b9"), (SAID, "b9 to Bea"))
    assert (fails.standing, fails.severity) == ("proved", Severity.AFFECTS_SCORE)
    assert fails.reason.startswith("gold-fails finds it too: The gold call lend_book fails")
    works = settled(task, *wrong, (call_at(1), "b7"), (SAID, "Lend"))
    assert (works.standing, works.reason) == (
        "refuted",
        "the gold call of lend_book succeeds when replayed, with the response: lent",
    )
    opinion = settled(task, "incorrect-tool-call", "It fails to lend b9.", (call_at(1), "b7"), (SAID, "Lend b9"))
    assert (opinion.standing, opinion.reason) == ("verified", "")


def test_a_missing_tool() -> None:
    task = desk_task(call("sell_book", book="b7"))
    gold = (call_at(0), "sell_book")
    # The desk passes over a call that it does not know, so a run without it passes: no score is shown to be wrong.
    assert settled(task, "insufficient-toolset", "No tool sells.", gold).standing == "verified"
    there = settled(desk_task(lend()), "insufficient-toolset", "There is no tool `pay_fee`.", (call_at(0), "lend_book"))
    assert (there.standing, there.reason) == ("refuted", "the task offers a tool called pay_fee")
    unable = settled(desk_task(lend()), "insufficient-toolset", "`pay_fee` takes no coins.", (call_at(0), "lend_book"))
    assert (unable.standing, unable.reason) == ("verified", "")


def test_a_rejected_ground_truth() -> None:
    claim = "The evaluator rejects the ground truth."
    sound = settled(desk_task(lend()), "unreachable-score", claim, (call_at(0), "lend_book"))
    assert (sound.standing, sound.reason) == ("refuted", "the evaluator gives the ground truth full score")
    other = settled(desk_task(lend()), "unreachable-score", "Nobody knows the book.", (call_at(0), "lend_book"))
    assert (other.standing, other.reason) == ("verified", "")


@pytest.mark.parametrize(
    ("task", "standing"),
    [
        (desk_task(FIND), "proved"),
        (desk_task(lend()), "refuted"),
        (desk_task(FIND, traits=frozenset({"expects_no_call"})), "refuted"),
        (desk_task(FIND, evaluation=EvaluationSpec(checks=(Check(kind="judge", scored=True),))), "verified"),
    ],
)
def test_doing_nothing(task: AgentTask, standing: str) -> None:
    claim = "An agent that does nothing gets full score."
    assert settled(task, "too-lenient", claim, (call_at(0), "book")).standing == standing


def test_an_answer_that_is_accepted_already() -> None:
    def said(path: str, value: str) -> CheckedIssue:
        patch = (Change(op="replace", path=path, value=value),)
        return settled(desk_task(lend()), "too-strict", "Another answer is right.", (call_at(0), "b7"), patch=patch)

    kind = said(f"{call_at(0)}/arguments/kind", '"long"')
    assert (kind.standing, kind.reason) == (
        "refuted",
        "the evaluator accepts already what the patch is to make it accept",
    )
    either = said(f"{call_at(0)}/arguments/kind", '{"$any_of": ["short", "long"], "$optional": false}')
    assert either.standing == "refuted"
    book = said(f"{call_at(0)}/arguments/book", '"b8"')
    assert (
        book.reason == "not settled: the evaluator rejects the other answer; whether it is right, no execution can tell"
    )


def test_a_confirmed_finding_at_the_same_place() -> None:
    task = desk_task(lend(), says="Lend me b7 for long, please.")
    wrong = gated(task, says("ambiguous-instruction", "Long is vague.", (SAID, "for long")))
    where = Evidence(task_id=task.id, pointer=SAID, quote="b7 for long")
    finding = Finding(
        id="1",
        check="damaged-text",
        check_version="1",
        category="ambiguous-instruction",
        severity=Severity.MAY_AFFECT_SCORE,
        tier=Tier.CONFIRMED,
        claim="Words are missing.",
        task_ids=(task.id,),
        evidence=(where,),
    )
    proved = settle(task, wrong, [finding])
    assert (proved.standing, proved.reason) == ("proved", "damaged-text finds it too: Words are missing.")
    changes: list[dict[str, Any]] = [
        {"tier": Tier.SUSPECTED},
        {"category": "too-strict"},
        {"task_ids": ("lib/9",)},
        {"evidence": (where.model_copy(update={"quote": "please"}),)},
        {"evidence": (where.model_copy(update={"task_id": "lib/9"}),), "task_ids": (task.id, "lib/9")},
    ]
    for change in changes:
        assert settle(task, wrong, [finding.model_copy(update=change)]).standing == "verified"


def test_a_check_that_broke_on_the_task_is_not_asked() -> None:
    task = desk_task(lend("b9", "bea"), ONE)
    issue = gated(task, says("incorrect-tool-call", "Taken.", (call_at(0), "b9"), (call_at(1), "one")))
    broke = Coverage(task_id=task.id, check="gold-fails", status=Status.ERROR, reason="broke")
    assert settle(task, issue).standing == "proved"
    assert settle(task, issue, (), [broke]).standing == "verified"


def test_what_is_unverified_stays_so() -> None:
    task = desk_task(ONE, TWO)
    issue = gated(task, says("redundant-tool-call", "Idle.", (call_at(0), "three")))
    assert settle(task, issue) is issue
