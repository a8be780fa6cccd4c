"""Counts per model or judge, the checks that use them, and labels that split them."""

from collections.abc import Sequence
from typing import Any

import pytest

from agenthard.audit.detectors.base import Conclusion, Undecided
from agenthard.audit.detectors.runs.crash_signature import CrashSignature
from agenthard.audit.detectors.runs.dead_attempt import DeadAttempt
from agenthard.audit.detectors.runs.infrastructure_error_scored import InfrastructureErrorScored
from agenthard.audit.detectors.runs.non_monotone_retry import NonMonotoneRetry
from agenthard.audit.detectors.runs.verdict_without_evidence import VerdictWithoutEvidence
from agenthard.audit.detectors.support.run_tallies import EXEMPLARS, Margins, RunTally, added, count, label_split
from agenthard.audit.evidence import failure
from agenthard.taxonomy import Judgement, Message, Origin, Trajectory
from agenthard.taxonomy.finding import Level
from tests.audit.detectors.runs.conversations import audit
from tests.builders import make_run, make_task


def split(**agents: tuple[int, int]) -> object:
    return label_split({"agent": {name: list(cell) for name, cell in agents.items()}})


def test_it_splits_where_the_habit_is_the_rule_with_some_and_never_seen_with_others() -> None:
    found = split(a=(64, 64), b=(103, 100), c=(311, 0))
    assert found == ("agent", ("a", "b"), ("c",), 164, 167, 311)


@pytest.mark.parametrize(
    "agents",
    [
        {"a": (50, 1), "b": (700, 0)},
        {"a": (50, 50), "b": (700, 1)},
        {"a": (50, 50), "b": (20, 0)},
        {"a": (50, 50)},
        {"a": (50, 0), "b": (50, 0)},
        {"a": (3, 3), "b": (300, 0)},
    ],
    ids=["rare", "also with the other", "too few of the others", "one agent", "nobody", "too few with it"],
)
def test_what_is_no_perfect_split(agents: dict[str, tuple[int, int]]) -> None:
    assert split(**agents) is None


def test_counts_of_tasks_add_up() -> None:
    one: Margins = {}
    count(one, {"agent": "a", "source file": "x"}, True)
    count(one, {"agent": "a", "source file": "y"}, False)
    assert added([one, one]) == {"agent": {"a": [4, 2]}, "source file": {"x": [2, 2], "y": [2, 0]}}


def test_crashes_of_one_file_do_not_blame_the_model() -> None:
    crashed = (Judgement(judge="j", kind="script", reason="TimeoutError"),)
    runs = [
        make_run(trial=i, judgements=crashed if i < 10 else (), origin=Origin(file="a" if i < 10 else "b"))
        for i in range(50)
    ]
    (finding,), _ = audit(CrashSignature(), [make_task()], runs)
    assert finding.level is Level.SUITE
    assert "in 10 of 10 runs whose source file is a, and in none of 40 runs whose source file is b" in finding.claim


DEAD = (Message(role="assistant", content="Task completed"),)
ALIVE = (Message(role="assistant", content="I lent the book."),)
TIMED_OUT = "Sandbox capture timed out after 20s"


def conclude(check: RunTally, runs: Sequence[Trajectory], **task: Any) -> list[Conclusion]:
    """Findings of a check on the runs; every quote is re-checked."""
    by_id = {run.id: run for run in runs}
    assert len(by_id) == len(runs)
    observed = []
    for task_id in dict.fromkeys(run.task_id for run in runs):
        subject = make_task(task_id, **task)
        assert check.not_applicable(subject) is None
        observed += check.observe(subject, iter([run for run in runs if run.task_id == task_id]))
    for item in observed:
        for quote in item.evidence:
            assert failure(quote, None, by_id) is None
    found = [item for item in check.conclude(observed) if isinstance(item, Conclusion)]
    assert all(item.task_ids == () and item.also_in for item in found)
    return found


def judged(score: float, reason: str = "", **changes: Any) -> Judgement:
    return Judgement(**{"judge": "eye", "kind": "vision", "score": score, "reason": reason, **changes})


def test_dead_attempts_are_counted_per_model() -> None:
    runs = [
        make_run("t/1", "m1", False, messages=DEAD, trial=0),
        make_run("t/1", "m1", True, messages=DEAD, trial=1),
        make_run("t/2", "m1", True, messages=ALIVE),
        make_run("t/2", "m2", True, messages=ALIVE),
        make_run("t/3", "m1", True),
    ]
    (found,) = conclude(DeadAttempt(), runs)
    # Wilson, 2 of 3: 20.8 % to 93.9 %.
    assert found.hit.claim == (
        "2 of 3 (66.7 %, 95 % interval 20.8 % to 93.9 %) runs of m1 whose log tells of the agent hold no work of it: "
        "2 in which the agent replies with a stock phrase; 1 passed; 1 scored above zero."
    )
    assert found.also_in == ("t/1",)
    assert found.hit.measures["looked"] == 3 and found.hit.measures["passed"] == 1
    assert found.hit.evidence[0].quote == "Task completed"


def test_where_the_log_tells_nothing_the_task_is_undecided() -> None:
    check = DeadAttempt()
    (item,) = check.conclude(list(check.observe(make_task("t/3"), iter([make_run("t/3")]))))
    assert isinstance(item, Undecided)
    assert item.task_ids == ("t/3",)


def test_doing_nothing_may_be_right_where_no_call_is_expected() -> None:
    assert DeadAttempt().not_applicable(make_task(traits=frozenset({"expects_no_call"})))


def test_infrastructure_errors_with_a_score() -> None:
    timed_out = {"status_reason": TIMED_OUT, "score": 4.0}
    runs = [
        make_run("t/1", passed=None, trial=0, **timed_out),
        make_run("t/1", passed=None, trial=1, retry_of="m1:t/1:0", **timed_out),
        make_run("t/2", passed=None, status="judge_error", score=0.0),
        make_run("t/3", passed=None),
        make_run("t/4", passed=False),
        make_run("t/4", "m2", passed=False, status="agent_error"),
    ]
    (found,) = conclude(InfrastructureErrorScored(), runs)
    assert found.hit.claim.startswith("3 of 5 (60.0 %")
    assert found.hit.claim.endswith(
        "runs of m1 failed outside the agent and were scored: 2 counted in the result; "
        "2 with an error of the infrastructure; 1 replaced by a retry; 1 with an error of the judge."
    )
    assert found.also_in == ("t/1", "t/2")


def test_retries_that_score_lower_and_count() -> None:
    def chain(task_id: str, *scores: float | None, **last: Any) -> list[Trajectory]:
        ids = [f"m1:{task_id}:{i}" for i in range(len(scores))]
        return [
            make_run(
                task_id,
                passed=None if i + 1 == len(scores) and last else bool(score and score >= 6),
                trial=i,
                **{"score": score, "retry_of": ids[i - 1] if i else None, "messages": ALIVE},
                **(last if i + 1 == len(scores) else {}),
            )
            for i, score in enumerate(scores)
        ]

    runs = [
        *chain("t/worse", 9.0, 4.0),
        *chain("t/better", 4.0, 9.0),
        *chain("t/same", 4.0, 4.0),
        *chain("t/mended", 9.0, 4.0, 9.0),
        *chain("t/timeout", 8.0, 7.0, status="infrastructure_error"),
        *chain("t/unscored", 8.0, None),
        make_run("t/trial", "m2", trial=0, score=9.0),
        make_run("t/trial", "m2", trial=1, score=1.0, passed=False),
    ]
    (found,) = conclude(NonMonotoneRetry(), runs)
    assert found.also_in == ("t/worse", "t/timeout")
    assert found.hit.measures | {"low": 0, "high": 0} == {
        "looked": 5,
        "affected": 2,
        "rate": 0.4,
        "low": 0,
        "high": 0,
        "in which the agent worked and was scored": 1,
        "from a pass to a fail": 1,
        "in which the harness or the judge failed": 1,
    }


@pytest.mark.parametrize(
    ("judgement", "messages", "kind"),
    [
        (judged(6, "nice", shown=()), ALIVE, "with no image or video"),
        (judged(0, "nothing was captured", shown=()), ALIVE, "with no image or video"),
        (judged(7, "I cannot see any screenshot, yet it works.", kind="text"), ALIVE, "by its own words"),
        (judged(3, "No images were provided."), ALIVE, "by its own words"),
        (judged(6, "nice", shown=("a.png",)), ALIVE, None),
        (judged(0, "No images were provided."), ALIVE, None),
        (judged(8, "The image shows no video controls; the layout is fine.", kind="text"), ALIVE, None),
        (judged(0, "Skipped due to plan failure", shown=()), ALIVE, None),
        (judged(0, "nothing there", shown=()), DEAD, None),
        (judged(5, "cannot see any screenshot", kind="script"), ALIVE, None),
    ],
)
def test_verdicts_on_what_was_not_shown(judgement: Judgement, messages: Any, kind: str | None) -> None:
    found = conclude(VerdictWithoutEvidence(), [make_run("t/1", messages=messages, judgements=(judgement,))])
    if kind is None:
        assert found == []
        return
    assert "verdicts of eye judging m1 score what was not shown" in found[0].hit.claim
    height = "scored above zero" if judgement.score else "scored zero"
    assert found[0].hit.measures[kind] == found[0].hit.measures[height] == 1


@pytest.mark.parametrize(
    ("run", "kind"),
    [
        ({"judgements": (judged(4, diagnostics=(TIMED_OUT,)),)}, "with a time-out of the harness"),
        ({"status_reason": "litellm.Timeout: Request timed out."}, "with a time-out of the harness"),
        ({"judgements": (judged(0, "Failed to locate JSON plan in reply"),)}, "whose reply could not be parsed"),
        ({"judgements": (judged(0, "Unable to parse judge JSON: Well"),)}, "whose judge could not be read"),
        ({"status_reason": "ServiceUnavailableError - 503"}, "with an error of a service"),
        ({"judgements": (judged(2, "check failed: 'Mock' object has no attribute 'count'"),)}, "with an exception"),
        ({"judgements": (judged(2, "No module named 'grader.helpers'"),)}, "with an exception"),
        ({"judgements": (judged(2, "can't open file '/w/hidden.py': [Errno 2] No such file"),)}, "with an exception"),
        ({"judgements": (judged(2, "[Errno 2] No such file: '/w/hidden.json'"),)}, "with an exception"),
        ({"judgements": (judged(2, "No module named 'app.lend'"),)}, None),
        ({"judgements": (judged(2, "'Desk' object has no attribute 'lend_to'"),)}, None),
        ({"judgements": (judged(2, "can't open file '/w/list.py': [Errno 2] No such file"),)}, None),
        ({"judgements": (judged(2, "AssertionError: the list is empty"),)}, None),
        ({"messages": (Message(role="tool", content="Traceback (most recent call last)"),)}, None),
    ],
)
def test_signatures_of_a_crash(run: dict[str, Any], kind: str | None) -> None:
    asked = Message(role="user", content="Write `app/lend` with `lend_to(member)`, and list.py.")
    user = make_task().user.model_copy(update={"turns": ((asked,),)})
    found = conclude(CrashSignature(), [make_run("t/1", **run), make_run("t/1", trial=1)], user=user)
    if kind is None:
        assert found == []
    else:
        assert found[0].hit.claim.startswith("Something failed in 1 of 2 (50.0 %")
        assert any(name.startswith(kind) for name in found[0].hit.measures)


@pytest.mark.parametrize(
    ("reason", "counted"),
    [
        ("'Desk' object has no attribute 'shelve'", False),
        ("No module named 'app.shelf'", False),
        ("'MockDesk' object has no attribute 'matched_count'", True),
        ("Traceback (most recent call last)", True),
    ],
)
def test_a_task_before_may_have_asked_for_what_is_missing(reason: str, counted: bool) -> None:
    run = make_run("t/1", judgements=(judged(2, reason),))
    traits = frozenset({"continues_previous"})
    assert bool(conclude(CrashSignature(), [run, make_run("t/1", trial=1)], traits=traits)) is counted


def test_a_finding_quotes_a_few_tasks_spread_over_all() -> None:
    runs = [make_run(f"t/{i:02}", passed=False, messages=DEAD) for i in range(23)]
    (found,) = conclude(DeadAttempt(), runs)
    assert [quote.task_id for quote in found.hit.evidence] == ["t/00", "t/04", "t/08", "t/12", "t/16"]
    assert len(found.hit.evidence) == EXEMPLARS and len(found.also_in) == 23
