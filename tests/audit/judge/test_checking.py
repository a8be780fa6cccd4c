"""From what a judge said to what is left of it."""

from typing import Any

import pytest

from agenthard.audit.detectors.registry import detectors
from agenthard.audit.judge.context.material import Passage
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.verdict import Change, CheckedVerdict, Issue, Judged, JudgeError, Verdict
from agenthard.audit.judge.verify.verification import check_verdict
from agenthard.audit.repair.recheck import TaskChecker
from tests.audit.judge.saying import call_at, flawed, judged, says
from tests.library import call, desk_task, lend, library_desk

pytestmark = pytest.mark.usefixtures(library_desk.__name__)

SAID = "/user/turns/0/0/content"
TASK = desk_task(lend("b8"), call("leave_note", text="one"), call("leave_note", text="two"), says="Lend b7 to ada.")
BOOK = Change(op="replace", path=f"{call_at(0)}/arguments/book", value='"b7"')
RIGHT = says("incorrect-tool-call", "b8 is lent.", (SAID, "Lend b7"), (call_at(0), '"book":"b8"'), patch=(BOOK,))
INVENTED = says("ambiguous-instruction", "Two readings.", (SAID, "Lend b7 or b8"))
IDLE = says("redundant-tool-call", "It is overwritten.", (call_at(1), '"one"'))
NEEDED = says("redundant-tool-call", "It is idle.", (call_at(0), '"b8"'))


def checked(*issues: Issue, **more: Any) -> CheckedVerdict:
    return check_verdict(judged(TASK, flawed(*issues)), TASK, gather(TASK), **more)


def test_every_issue_is_kept_with_its_standing() -> None:
    verdict = checked(RIGHT, INVENTED, IDLE, NEEDED, checker=TaskChecker("library", [TASK], detectors()))
    assert (verdict.outcome, verdict.judge, verdict.sample) == ("flawed", "m", 0)
    assert [issue.standing for issue in verdict.issues] == ["verified", "unverified", "proved", "refuted"]
    assert [issue.issue for issue in verdict.issues] == [RIGHT, INVENTED, IDLE, NEEDED]
    assert verdict.standing == (verdict.issues[0], verdict.issues[2])
    assert verdict.issues[0].patch == ({"op": "replace", "path": BOOK.path, "value": "b7"},)


def test_a_flaw_without_evidence_cannot_be_told() -> None:
    verdict = checked(INVENTED, NEEDED)
    assert verdict.outcome == "cannot_tell"
    assert verdict.reason == (
        "none of its issues is verified: ambiguous-instruction is unverified: the quote 'Lend b7 or b8' was found "
        f"not in {SAID} nor elsewhere; "
        "redundant-tool-call is refuted: without lend_book the ground truth ends in another state"
    )
    assert len(verdict.issues) == 2


def test_patches_are_left_out_where_nothing_checks_them() -> None:
    [issue] = checked(RIGHT).issues
    assert (issue.patch, issue.patch_reason) == ((), "patches were not checked again")


@pytest.mark.parametrize("outcome", ["not_flawed", "cannot_tell"])
def test_other_verdicts_stay_as_they_are(outcome: Any) -> None:
    said = Verdict(reasoning="", outcome=outcome, because="It says so.", issues=())
    verdict = check_verdict(judged(TASK, said, sample=2), TASK, gather(TASK))
    assert (verdict.outcome, verdict.reason, verdict.sample, verdict.issues) == (outcome, "It says so.", 2, ())


def test_an_error_stays_an_error() -> None:
    error = JudgeError(kind="timeout", message="no answer in 60 s")
    failed = Judged(task_id=TASK.id, judge="m", prompt_version="p1", error=error)
    verdict = check_verdict(failed, TASK, gather(TASK))
    assert (verdict.outcome, verdict.reason) == ("error", "timeout: no answer in 60 s")


def test_lookups_count() -> None:
    seen = Passage(label="lookup/1", part="state", title="b7", text="b7 can be lent")
    issue = says("incorrect-tool-call", "b7 is there.", ("lookup/1", "b7 can be lent"), (call_at(0), "b8"))
    looked = judged(TASK, flawed(issue), lookups=(seen,))
    assert check_verdict(looked, TASK, gather(TASK)).outcome == "flawed"


def test_one_task_at_a_time() -> None:
    with pytest.raises(ValueError, match="not one task"):
        check_verdict(judged(TASK, flawed(RIGHT)), desk_task(id="lib/2"), gather(TASK))
