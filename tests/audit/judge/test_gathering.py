import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.evidence import canonical_json, text_at
from agenthard.audit.judge.context.material import Material
from agenthard.audit.judge.context.passages import gather
from agenthard.taxonomy import (
    Check,
    Coverage,
    EnvironmentSpec,
    EvaluationSpec,
    Evidence,
    Finding,
    GroundTruth,
    Message,
    Severity,
    Status,
    Tier,
    ToolCall,
    UserSpec,
)
from tests.audit.execution.tau.conftest import airline_tables
from tests.audit.execution.tau.conftest import make_task as tau_task
from tests.audit.judge.ferries import ferry_task
from tests.builders import LEND, make_run, make_task
from tests.library import call, desk_task, lend, library_desk

desk = pytest.mark.usefixtures(library_desk.__name__)


def labels(material: Material, part: str) -> list[str]:
    return [passage.label for passage in material.passages if passage.part == part]


def text(material: Material, label: str) -> str:
    passage = material.passage(label)
    assert passage is not None, label
    return passage.text


def title(material: Material, label: str) -> str:
    passage = material.passage(label)
    assert passage is not None, label
    return passage.title


def test_everything_is_labelled_by_where_it_stands() -> None:
    task = make_task(initial_state={"shelf": [1]}, metadata={"purpose": "Lending a book that is in."})
    material = gather(task)
    assert [(passage.part, passage.label) for passage in material.passages] == [
        ("about", "/metadata/purpose"),
        ("user", "/user/turns/0/0/content"),
        ("policy", "/environment/policy"),
        ("tools", "/environment/tools/0/description"),
        ("tools", "/environment/tools/0/parameters"),
        ("state", "/initial_state"),
        ("evaluation", "/evaluation/checks/0"),
        ("ground_truth", "/ground_truth/semantics"),
        ("ground_truth", "/ground_truth/call_matching"),
        ("ground_truth", "/ground_truth/turns/0/0"),
        ("replay", "replay/0"),
    ]
    for passage in material.passages:
        assert passage.pointer is None or passage.text == text_at(task, passage.pointer)
    assert {p.label for p in material.passages if not p.needed} == {"/metadata/purpose", "replay/0"}
    assert material.omitted == ()


def test_turns_hidden_tools_and_choices_are_explained() -> None:
    spare = LEND.model_copy(update={"name": "reserve_book"})
    choice = {"book_id": {"$any_of": [7, 8], "$optional": True}}
    called = ToolCall(name="lend_book", arguments=choice)
    assistant = Message(role="assistant", tool_calls=(called,))
    task = make_task(
        user=UserSpec(kind="scripted", turns=((Message(role="user", content="Hello"), assistant), ())),
        environment=EnvironmentSpec(tools=(LEND, spare), user_tools=(LEND,)),
        hidden_tools={"1": ("lend_book",), "": ("reserve_book",)},
        ground_truth=GroundTruth(semantics="required", turns=((called,), ()), outputs=("7",), answers=("seven",)),
        evaluation=EvaluationSpec(checks=(Check(kind="rubric", scored=False, expected="Be kind."),)),
    )
    material = gather(task)
    assert title(material, "/user/turns/1") == "turn 1: no message; now these tools can be called: lend_book"
    assert title(material, "/user/turns/0/1/tool_calls") == "turn 0, assistant calls tools"
    assert (
        title(material, "/environment/tools/0/description")
        == "tool of the agent: lend_book (write), withheld until turn 1"
    )
    assert (
        title(material, "/environment/tools/1/description")
        == "tool of the agent: reserve_book (write), withheld in all turns"
    )
    assert title(material, "/environment/user_tools/0/description") == "tool of the user: lend_book (write)"
    assert "any value of a list $any_of is accepted" in title(material, "/ground_truth/turns/0/0")
    assert title(material, "/ground_truth/turns/1") == "ground truth of turn 1: no call"
    assert title(material, "/evaluation/checks/0") == "evaluation: rubric, stated and NOT scored"
    assert (text(material, "/ground_truth/outputs/0"), text(material, "/ground_truth/answers/0")) == ("7", "seven")
    needed = {passage.label for passage in material.passages if passage.needed and "tools" in passage.label}
    assert needed == {"/environment/tools/0/description", "/environment/tools/0/parameters", "/hidden_tools"}


@desk
def test_the_replay_tells_responses_failures_and_changes() -> None:
    material = gather(desk_task(lend(), call("lend_book", book="b99", member="ada"), call("find_book", book="b7")))
    assert labels(material, "replay") == ["replay/1", "replay/2", "replay/3"]
    assert text(material, "replay/1").splitlines()[1:] == [
        "response: lent",
        "changes of the state:",
        '  /books/b7/lent_to: nothing -> "ada"',
    ]
    assert title(material, "replay/2") == "replay of /ground_truth/turns/0/1: it FAILED"
    assert "the call failed: 'b99'" in text(material, "replay/2")
    assert text(material, "replay/3").endswith("changes of the state: none")
    assert [p.rank for p in material.passages if p.part == "replay"] == [0, 0, 1]


@desk
@pytest.mark.parametrize(
    ("task", "reason"),
    [
        (desk_task(call("break_down")), "the environment broke: "),
        (desk_task(lend(), subtask="returns"), "only lending is known here"),
        (make_task(), "nothing executes them"),
        (desk_task(), "the ground truth has no call"),
    ],
    ids=["broken", "unsupported", "compared", "no call"],
)
def test_a_replay_that_is_not_possible_says_why(task: Any, reason: str) -> None:
    [replay] = [passage for passage in gather(task).passages if passage.part == "replay"]
    assert (replay.label, replay.pointer) == ("replay/0", None)
    assert replay.text.startswith("Not replayed: ") and reason in replay.text


def test_a_record_that_comes_back_as_it_stands_is_named_and_not_repeated() -> None:
    tables = airline_tables()
    tables["users"] |= {
        f"eve_{n}": {**tables["users"]["ada_1"], "user_id": f"eve_{n}", "reservations": []} for n in range(90)
    }
    task = tau_task("tau2", "airline", [ToolCall(name="get_user_details", arguments={"user_id": "eve_7"})])
    environment = task.environment.model_copy(update={"state": tables})
    truth = task.ground_truth.model_copy(update={"call_matching": "state"})
    task = task.model_copy(update={"environment": environment, "ground_truth": truth})
    assert "response: the record /environment/state/users/eve_7 as it stands there" in text(gather(task), "replay/1")


def finding(check: str = "gold-fails", task_id: str = "lib/1", **changes: Any) -> Finding:
    values: dict[str, Any] = {
        "id": "0" * 12,
        "check": check,
        "check_version": "1",
        "category": "incorrect-tool-call",
        "severity": Severity.AFFECTS_SCORE,
        "tier": Tier.SUSPECTED,
        "claim": "The call fails.",
        "task_ids": (task_id,),
        "evidence": (Evidence(task_id=task_id, pointer="/environment/policy", quote="five", note="a rule"),),
    }
    return Finding(**{**values, **changes})


def test_findings_are_shown_surest_first_but_for_those_of_judges_and_of_other_tasks() -> None:
    found = [
        finding("a-doubt"),
        finding("a-proof", tier=Tier.CONFIRMED, task_ids=("lib/1", "lib/2")),
        finding("judge"),
        finding(task_id="lib/2"),
    ]
    material = gather(make_task(), found)
    assert labels(material, "checks") == ["checks/1", "checks/2"]
    assert title(material, "checks/1") == "finding of the check a-proof (confirmed)"
    assert text(material, "checks/2") == (
        "The call fails.\ncategory: incorrect-tool-call; severity: affects_score\nat /environment/policy: five (a rule)"
    )
    assert "the same cause is in 2 tasks" in text(material, "checks/1")


def test_a_whole_call_in_a_finding_is_named_and_not_repeated() -> None:
    task = make_task()
    [(at, gold)] = task.gold_calls()
    whole = Evidence(task_id=task.id, pointer=at, quote=canonical_json(gold), note="first")
    part = Evidence(task_id=task.id, pointer=f"{at}/name", quote=gold.name)
    lines = text(gather(task, [finding(evidence=(whole, part))]), "checks/1").splitlines()
    assert lines[2:] == [f"at {at}: this call of {gold.name} (first)", f"at {at}/name: {gold.name}"]


@pytest.mark.parametrize(
    ("place", "category", "of", "shown"),
    [
        ("/evaluation/checks/1/expected", "unscored-requirement", "lib/1", False),
        ("/evaluation/checks/0", "unscored-requirement", "lib/1", True),
        ("/evaluation/checks/0", "unscored-requirement", "lib/2", False),
        ("/environment/policy", "unscored-requirement", "lib/1", True),
        ("/evaluation/checks/1/expected", "too-lenient", "lib/1", True),
    ],
)
def test_that_a_check_is_stated_and_not_scored_is_no_news(place: str, category: str, of: str, shown: bool) -> None:
    checks = (Check(kind="final_state", scored=True), Check(kind="rubric", scored=False, expected="Be kind."))
    task = make_task(evaluation=EvaluationSpec(checks=checks))
    evidence = (Evidence(task_id=of, pointer=place, quote="Be kind."),)
    found = finding(category=category, evidence=evidence, task_ids=("lib/1", "lib/2"))
    assert bool(labels(gather(task, [found]), "checks")) == shown


HASH = """
import hashlib
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.context.budget import trim
from tests.audit.judge.ferries import ferry_task
task = ferry_task("I am First1 Last2 of Town 8, or member_002. Move BK004 to June 9th, RIGA to KIEL by OSLO.")
material = gather(task)
print(hashlib.sha256((material.model_dump_json() + trim(material, task, 7000).model_dump_json()).encode()).hexdigest())
"""


def test_the_order_of_sets_does_not_matter() -> None:
    runs = [
        subprocess.run(
            [sys.executable, "-c", HASH],
            env={**os.environ, "PYTHONHASHSEED": seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout != ""


def test_what_ran_clean_and_what_could_not_run_is_said() -> None:
    rows = [
        Coverage(task_id="lib/1", check="b", status=Status.CLEAN),
        Coverage(task_id="lib/1", check="a", status=Status.CLEAN),
        Coverage(task_id="lib/1", check="c", status=Status.NOT_CHECKED, reason="no runs"),
        Coverage(task_id="lib/1", check="d", status=Status.ERROR, reason="it broke"),
        Coverage(task_id="lib/1", check="judge", status=Status.CLEAN),
        Coverage(task_id="lib/2", check="e", status=Status.CLEAN),
    ]
    said = text(gather(make_task(), coverage=rows), "checks/0")
    assert said == "Ran and found nothing: a, b. Not applicable: 1. Failed: d."


def test_runs_are_shown_message_by_message_without_the_policy() -> None:
    messages = (
        Message(role="system", content="Lend at most five books. Be kind."),
        Message(role="assistant", content="At once.", tool_calls=(lend(),)),
        Message(role="tool", content="lent"),
    )
    runs = [make_run(messages=messages), make_run("lib/2")]
    material = gather(make_task(), runs=runs)
    assert labels(material, "run") == ["run/1", "run/1/2", "run/1/3"]
    assert text(material, "run/1") == "run by m1, trial 0: passed, status ok"
    assert text(material, "run/1/2").startswith("At once.\ncalls lend_book(")


def test_metadata_that_is_long_or_shown_elsewhere_is_left_out() -> None:
    said = "Lend book 7 to Ada, and do so at once."
    user = UserSpec(kind="simulated", instruction=f"You say: {said}")
    material = gather(make_task(user=user, metadata={"query": said, "dump": "x" * 7000, "none": None, "level": 3}))
    assert labels(material, "about") == ["/metadata/level"]
    assert [(each.label, each.what) for each in material.omitted] == [
        ("/metadata/dump", "dump of the metadata, 7000 characters")
    ]


def test_labels_differ_even_where_keys_look_like_pieces() -> None:
    state = {"a": {"b": {"c": "x" * 5000}, "d": 1}, "a#1": {"b": {"c": "y" * 5000}}}
    found = labels(gather(make_task(environment=EnvironmentSpec(state=state))), "state")
    assert len(found) == len(set(found)) == 3


def test_what_of_the_state_is_left_out_is_said_and_counted() -> None:
    material = gather(ferry_task("Cancel booking BK004, please."))
    assert [(each.label, each.what) for each in material.omitted] == [
        ("/environment/state/bookings", "bookings: 118 of 120 records: not what the task is about"),
        ("/environment/state/members", "members: 59 of 60 records: not what the task is about"),
        (
            "/environment/state/sailings",
            "sailings: 72 of 73 records: not what the task is about; "
            "9 parts (days) of 1 others: not the days in question",
        ),
    ]
    assert min(each.tokens for each in material.omitted) > 1000
