from pathlib import Path

import pytest

from agenthard.audit.detectors.ground_truth import UnknownOutput
from agenthard.audit.evidence import failure
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy import AgentTask, EnvironmentSpec, GroundTruth, ToolCall
from tests.builders import make_task
from tests.corpora import tasks_of

STATE = {"loans": {"LN88231": {"tracking": "286422338955", "mail": "ada@example.org"}}}


def task(*outputs: str) -> AgentTask:
    call = ToolCall(name="lend_book", arguments={"card": "CARD771"})
    truth = GroundTruth(semantics="reference_path", turns=((call,),), outputs=outputs, call_matching="state")
    return make_task(environment=EnvironmentSpec(state=STATE), ground_truth=truth)


@pytest.mark.parametrize("output", ["286422338956", "LN88299", "bob@example.org"])
def test_an_identifier_that_stands_nowhere(output: str) -> None:
    subject = task("286422338955", output)
    [hit] = UnknownOutput().inspect(subject)
    assert hit.evidence[0].pointer == "/ground_truth/outputs/1" and failure(hit.evidence[0], subject, {}) is None


@pytest.mark.parametrize(
    "output", ["286422338955", "ln88231", "CARD771", "1093.34", "23553", "linen", "2024-05-15", ""]
)
def test_existing_identifiers_amounts_and_words_are_clean(output: str) -> None:
    assert list(UnknownOutput().inspect(task(output))) == []


def test_what_cannot_be_checked() -> None:
    assert UnknownOutput().not_applicable(task()) == "no output is required"
    bare = make_task(ground_truth=GroundTruth(semantics="none", outputs=("LN88231",)))
    assert UnknownOutput().not_applicable(bare) == "no database is part of the files"


SHELVES = {
    "books": [{"mark": mark} for mark in ("595.78 HAL", "623.88 PAS", "641.81 ODU")],
    "prices": ["12.50 EUR", "13.10 EUR", "9.10 EUR", "10.10 EUR"],
    "shops": [{"closes": "19:30", "since": "2024-01-05"}],
}


def shelf(output: str) -> AgentTask:
    truth = GroundTruth(semantics="reference_path", outputs=(output,), call_matching="state")
    rules = "Rule L1: be kind. Rule L2: be quick. Visits take 10 hours, or 24 hours."
    return make_task(environment=EnvironmentSpec(state=SHELVES, policy=rules), ground_truth=truth)


@pytest.mark.parametrize(
    "output",
    ["59.578 HAL", "no. 20155.2", "591.78 HAL", "VN-27712", "72:10", "12:75", "2024-02-30", "2054-01-05", "rule L9"],
)
def test_codes_days_and_times_that_do_not_exist(output: str) -> None:
    assert len(list(UnknownOutput().inspect(shelf(output)))) == 1


@pytest.mark.parametrize(
    "output", ["595.78 HAL", "22.60 EUR", "18:15", "2024-02-29", "2025-01-05", "rule L2", "20 hours", "Rule of thumb"]
)
def test_what_exists_or_can_be_worked_out(output: str) -> None:
    assert list(UnknownOutput().inspect(shelf(output))) == []


def test_hours_and_minutes_may_be_a_duration_where_no_times_of_day_are_stored() -> None:
    assert list(UnknownOutput().inspect(task("72:10"))) == []


PEOPLE = {"books": [{"author": "Moss Tindall", "window": "evening", "cloth": "polyester", "rack": "F HARR"}]}


def misspelt(output: str) -> list[str]:
    truth = GroundTruth(semantics="reference_path", outputs=(output,), call_matching="state")
    environment = EnvironmentSpec(state=PEOPLE, policy="Deliver in the morning only.")
    return [hit.claim for hit in UnknownOutput().inspect(make_task(environment=environment, ground_truth=truth))]


@pytest.mark.parametrize(
    ("output", "right"),
    [
        ("evenign", "evening"),
        ("Moss Tinadll", "moss tindall"),
        ("Moss Tindell", "moss tindall"),
        ("Mos Tindall", None),
        ("F HRAR", "f harr"),
        ("polyestter", "polyester"),
        ("polyistr", None),
        ("mornign", "morning"),
        ("evenings", None),
        ("heaven", None),
    ],
)
def test_a_text_that_is_one_slip_away_from_one_that_stands(output: str, right: str | None) -> None:
    claims = misspelt(output)
    assert len(claims) == bool(right)
    assert all(repr(right) in claim for claim in claims)


def test_two_texts_that_are_near_leave_it_open() -> None:
    truth = GroundTruth(semantics="reference_path", outputs=("Tindlal",), call_matching="state")
    people = {"names": ["Tindall", "Tindlaal"]}
    task = make_task(environment=EnvironmentSpec(state=people), ground_truth=truth)
    assert list(UnknownOutput().inspect(task)) == []


def due(output: str, policy: str = "A loan is renewed for 7, 14 or 21 days.") -> list[str]:
    loans = {"loans": [{"due": f"2025-03-{day}"} for day in ("11", "14", "20")]}
    truth = GroundTruth(semantics="reference_path", outputs=(output,), call_matching="state")
    task = make_task(environment=EnvironmentSpec(state=loans, policy=policy), ground_truth=truth)
    return [hit.claim for hit in UnknownOutput().inspect(task)]


def test_a_day_that_no_span_leads_to() -> None:
    [claim] = due("2025-06-19")
    assert "the nearest day that is named is 2025-03-20, and no span of more than 31 days is" in claim
    assert due("2025-06-19", "A loan is renewed for 8 weeks.") == []
    assert due("2025-06-19", "In June the desk is closed.") == []
    assert due("2025-05-19") == due("2026-03-14") == due("2025-03-20") == []


DAYS = {
    "shelves": ["2025-04-01", "2025-04-09", "2025-05-30"],
    "marks": ["75 ORD", "81 SAL", "92 PEK"],
    "by": "Ida Moor",
}


@pytest.mark.parametrize(
    ("output", "hits"),
    [
        ("20255-04-09", 1),
        ("2025-4-09", 1),
        ("755 ORD", 1),
        ("77341-20-B", 1),
        ("Ida Noor", 1),
        ("2025-04-10", 0),
        ("04/09/2025", 0),
        ("Ida Poor", 0),
        ("3-4", 0),
    ],
)
def test_slips_in_days_codes_and_names(output: str, hits: int) -> None:
    truth = GroundTruth(semantics="reference_path", outputs=(output,), call_matching="state")
    assert (
        len(list(UnknownOutput().inspect(make_task(environment=EnvironmentSpec(state=DAYS), ground_truth=truth))))
        == hits
    )


def seats(*amounts: float, members: int = 3) -> ToolCall:
    arguments = {
        "members": [{"name": f"m{i}"} for i in range(members)],
        "payments": [{"by": f"p{i}", "amount": amount} for i, amount in enumerate(amounts)],
    }
    return ToolCall(name="book_seats", arguments=arguments)


@pytest.mark.parametrize(
    ("output", "call", "found"),
    [
        ("20", seats(80, 220), True),
        ("$1,020.50", seats(979.5, 5020.5), True),
        ("220", seats(80, 220), False),
        ("100", seats(80, 220), False),
        ("100", seats(300), False),
        ("20", seats(80, 220, members=1), False),
        ("20", seats(80, 223), False),
        ("20", seats(80, float("inf")), False),
        ("20", seats(80, float("nan")), False),
        ("twenty", seats(80, 220), False),
    ],
)
def test_what_one_would_pay_is_not_what_all_pay(output: str, call: ToolCall, found: bool) -> None:
    truth = GroundTruth(semantics="reference_path", turns=((call,),), outputs=(output,), call_matching="state")
    subject = make_task(environment=EnvironmentSpec(state={"seats": [20, 220, 100]}), ground_truth=truth)
    hits = [hit for hit in UnknownOutput().inspect(subject) if "for all of them" in hit.claim]
    assert bool(hits) == found
    for hit in hits:
        assert "one of the 3 members" in hit.claim
        assert all(failure(item, subject, {}) is None for item in hit.evidence)


@pytest.mark.corpora
def test_the_amount_of_one_fare_in_tau2(corpora: Path) -> None:
    tasks = tasks_of(Tau2Bench, corpora / "tau2-bench_v0.1.3", ("airline", "retail"))
    found = {task.id: hit.claim for task in tasks for hit in UnknownOutput().inspect(task)}
    assert {task_id for task_id, claim in found.items() if "for all of them" in claim} == {"airline/14"}
