"""Readings that a judge writes down: carried out at the library desk, and put to the vote."""

import json
from typing import Any

import pytest

from agenthard.audit.judge.aggregate.findings import to_findings
from agenthard.audit.judge.aggregate.panel import PanelIssue, PanelVerdict
from agenthard.audit.judge.aggregate.readings import (
    Votes,
    apply_votes,
    ballot_of,
    letters,
    read_votes,
    to_vote_on,
    voters,
    votes_request,
)
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.verdict import CheckedIssue, WantedState, WrittenCall, WrittenReading
from agenthard.audit.judge.verify.readings import carried_out
from agenthard.audit.judge.verify.verdict_parser import UnreadableVerdictError
from agenthard.audit.readings.outcome import Ballot
from agenthard.taxonomy import AgentTask, Severity, Tier
from tests.audit.judge.saying import call_at, gated, says
from tests.audit.judge.verdicts import panel as settings_of
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

SAID = "/user/turns/0/0/content"
TASK = desk_task(lend("b7"), says="Lend ada a book.")


def written(*books: str, right: bool = True, arguments: str = "") -> WrittenReading:
    calls = tuple(
        WrittenCall(
            turn=0,
            tool="lend_book",
            requestor="assistant",
            arguments=arguments or json.dumps({"book": book, "member": "ada", "kind": "short"}),
        )
        for book in books
    )
    return WrittenReading(meaning=f"{', '.join(books) or 'nothing'} is wanted", right=right, calls=calls, says=())


def tried(category: str, *readings: WrittenReading, task: AgentTask = TASK, **more: Any) -> CheckedIssue:
    both = ((SAID, "a book"), (call_at(0), "b7"))
    issue = gated(task, says(category, "The wish is open.", *both, readings=readings, **more))
    assert issue.standing == "verified", issue.reason
    return carried_out(task, issue)


def panel(issue: CheckedIssue) -> PanelVerdict:
    seen = PanelIssue(category=issue.issue.category, votes=1, of=1, best=issue, judges=("a",))
    return PanelVerdict(task_id=TASK.id, outcome="flawed", probability=1.0, answered=1, asked=1, issues=(seen,))


def ballots(issue: CheckedIssue, **right: str) -> list[Ballot]:
    """Two readers, who vote by the names of the readings."""
    assert issue.readings is not None
    found = []
    for number in range(2):
        cast = [
            {"run": letter, "right": right[trial.reading.name], "because": "so"}
            for letter, trial in letters(issue.readings, number).items()
        ]
        answer = json.dumps({"reasoning": "", "votes": cast})
        found.append(ballot_of(issue.readings, f"reader {number}", number, read_votes(answer)))
    return found


def test_an_ambiguity_without_readings_is_lowered_to_a_signal() -> None:
    issue = tried("ambiguous-instruction")
    assert (issue.standing, issue.lowered) == ("verified", True)
    verdict = apply_votes(panel(issue), {})
    assert verdict.outcome == "uncertain"
    [finding], _ = to_findings(TASK, verdict)
    assert finding.tier is Tier.SIGNAL


def test_two_readings_of_which_one_passes_hold() -> None:
    issue = tried("ambiguous-instruction", written("b7"), written("b8"))
    assert issue.standing == "verified" and issue.readings is not None and issue.readings.standing == "holds"
    assert [(trial.reading.name, trial.passed) for trial in issue.readings.trials] == [("B", False), ("gold", True)]


@pytest.mark.parametrize(
    ("readings", "reason"),
    [
        ((written("b9"), written("b7")), ""),
        ((written("b8", arguments="{"),), "no right run is written besides the ground truth; reading A: the "),
        (
            (written("b8", arguments="[]"),),
            "no right run is written besides the ground truth; reading A: the ",
        ),
        ((written("b7"),), "no right run is written besides the ground truth"),
        ((written("b7", "b7"),), "its readings end in the same state"),
    ],
)
def test_readings_that_fail_are_withdrawn_with_the_reason(readings: tuple[WrittenReading, ...], reason: str) -> None:
    task = desk_task(lend("b7"), says="Lend bea a book.") if not reason else TASK
    if not reason:
        refused = json.dumps({"book": "b9", "member": "bea", "kind": "short"})
        readings = (written("b9", arguments=refused),)
        reason = "reading A the replay refuses: lend_book("
    issue = tried("ambiguous-instruction", *readings, task=task)
    assert issue.standing == "refuted"
    assert issue.reason.startswith(reason)


def test_votes_confirm_an_ambiguity_and_its_proof_is_carried_out_again() -> None:
    issue = tried("ambiguous-instruction", written("b7"), written("b8"))
    verdict = apply_votes(panel(issue), {"ambiguous-instruction": ballots(issue, B="yes", gold="yes")})
    best = verdict.issues[0].best
    assert (verdict.outcome, best.standing, best.severity) == ("flawed", "proved", Severity.AFFECTS_SCORE)
    [finding], _ = to_findings(TASK, verdict)
    assert finding.tier is Tier.CONFIRMED and finding.proof is not None
    assert finding.proof.evaluator == "library desk 1" and not finding.proof.passes
    assert '/books/b8/lent_to: null → "ada"' in finding.why
    assert "The evaluator rejects it (state)." in finding.why


def test_votes_lower_what_readers_do_not_find_right() -> None:
    issue = tried("ambiguous-instruction", written("b7"), written("b8"))
    verdict = apply_votes(panel(issue), {"ambiguous-instruction": ballots(issue, B="no", gold="yes")})
    assert (verdict.outcome, verdict.issues[0].best.lowered) == ("uncertain", True)
    assert "found right: B 0 of 2, gold 2 of 2" in verdict.reason
    [finding], _ = to_findings(TASK, verdict)
    assert finding.tier is Tier.SIGNAL


def test_a_careless_run_that_passes_and_a_better_ground_truth() -> None:
    doubled = tried("too-lenient", written("b7", "b7", right=False))
    lenient = apply_votes(panel(doubled), {"too-lenient": ballots(doubled, A="no", gold="yes")})
    assert lenient.issues[0].best.proof is not None and lenient.issues[0].best.proof.passes
    better = tried("incorrect-tool-call", written("b8"))
    wrong = apply_votes(panel(better), {"incorrect-tool-call": ballots(better, A="yes", gold="no")})
    assert wrong.issues[0].best.standing == "proved"


def test_a_missing_tool_that_a_search_finds_is_refuted() -> None:
    goal = (WantedState(pointer="/books/b7/lent_to", value='"ada"'),)
    issue = tried("insufficient-toolset", goal=goal, task=_with("lend_book"))
    assert issue.standing == "refuted" and "a search over all sequences" in issue.reason
    fees = (WantedState(pointer="/members/ada/fees", value='["5"]'),)
    kept = tried("insufficient-toolset", goal=fees, task=_with("lend_book"))
    assert kept.standing == "verified" and kept.reason.startswith("a search does not reach it")


def _with(*tools: str) -> AgentTask:
    kept = tuple(tool for tool in TASK.environment.tools if tool.name in tools)
    return TASK.model_copy(update={"environment": TASK.environment.model_copy(update={"tools": kept})})


def test_readers_see_neither_the_ground_truth_nor_the_evaluation() -> None:
    issue = tried("ambiguous-instruction", written("b7"), written("b8"))
    assert issue.readings is not None
    judge = settings_of("a").judges[0]
    request = votes_request(judge, TASK, gather(TASK), issue.readings, 0)
    text = "\n".join(message.text for message in request.messages)
    assert "Lend ada a book." in text and '"b8"' in text
    for hidden in ("ground_truth", "/evaluation", "final_state", "gold", "rejects", "The wish is open"):
        assert hidden not in text, hidden
    orders = {tuple(t.reading.name for t in letters(issue.readings, n).values()) for n in range(8)}
    assert orders == {("B", "gold"), ("gold", "B")}


def test_judges_that_did_not_report_the_issue_vote_first() -> None:
    issue = panel(tried("ambiguous-instruction", written("b7"), written("b8"))).issues[0]
    assert voters(settings_of("a", "b", "c"), issue) == (("b", 0), ("c", 0))
    assert voters(settings_of("a"), issue) == (("a", 0), ("a", 1))
    assert voters(settings_of("a", votes=0), issue) == ()


def test_only_readings_that_hold_are_put_to_the_vote() -> None:
    assert to_vote_on(panel(tried("ambiguous-instruction"))) == ()
    assert len(to_vote_on(panel(tried("ambiguous-instruction", written("b8"))))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        '{"reasoning": ""}',
        '{"reasoning": "", "votes": [{"run": "A", "right": "maybe", "because": ""}]}',
        json.dumps({"reasoning": "", "votes": [{"run": "A", "right": "yes", "because": ""}] * 2}),
    ],
)
def test_what_is_no_ballot(text: str) -> None:
    with pytest.raises(UnreadableVerdictError):
        read_votes(text)


def test_votes_on_unknown_letters_do_not_count() -> None:
    issue = tried("ambiguous-instruction", written("b8"))
    assert issue.readings is not None
    votes = Votes.model_validate({"reasoning": "", "votes": [{"run": "Z", "right": "yes", "because": ""}]})
    assert ballot_of(issue.readings, "x", 0, votes).votes == ()


def test_what_cannot_be_executed_stays_as_it_was() -> None:
    elsewhere = desk_task(lend("b7"), says="Lend ada a book.", benchmark="elsewhere")
    issue = tried("ambiguous-instruction", written("b8"), task=elsewhere)
    assert issue.standing == "verified" and issue.readings is None
    assert issue.reason.startswith("its readings cannot be carried out: no environment is registered")
    assert not tried("ambiguous-instruction", task=elsewhere).lowered
    gold = (lend("b7"), call("break_down"))
    broken = tried("ambiguous-instruction", written("b8"), task=desk_task(*gold, says="Lend ada a book."))
    assert broken.reason == "its readings cannot be carried out: the desk broke down"
