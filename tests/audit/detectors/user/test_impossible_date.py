from pathlib import Path

import pytest

from agenthard.audit.detectors.user import ImpossibleDate
from agenthard.audit.sources.tau.tau_bench import TauBench
from agenthard.taxonomy import EnvironmentSpec, GroundTruth, ToolCall
from tests.audit.detectors.evaluation.open_tasks import open_task
from tests.builders import make_task
from tests.corpora import tasks_of


@pytest.mark.parametrize(
    ("said", "claim"),
    [
        ("Fly on June 31, 2024.", "does not exist"),
        ("Between 2023-02-30 and 2023-03-02.", "does not exist"),
        ("On the 31st of April 2024.", "does not exist"),
    ],
)
def test_dates_that_are_not_in_the_calendar(said: str, claim: str) -> None:
    [hit] = ImpossibleDate().inspect(open_task(said))
    assert claim in hit.claim


@pytest.mark.parametrize(
    "said",
    [
        "Fly on Friday, November 10th, 2024.",
        "It is August 10, 2022, Wednesday。",
        "Leave on February 29, 2024 and return on 2024-03-02.",
        "Fly on Friday, November 10th.",
        "From 2024-11-10 Monday to Friday.",
        "Version 2023-02-30-1 of the file.",
    ],
)
def test_dates_that_are(said: str) -> None:
    assert list(ImpossibleDate().inspect(open_task(said))) == []


def test_a_gold_date() -> None:
    call = ToolCall(name="lend_book", arguments={"due": "2024-02-31"})
    task = make_task(ground_truth=GroundTruth(semantics="required", turns=((call,),)))
    [hit] = ImpossibleDate().inspect(task)
    assert hit.category == "incorrect-tool-call"


def test_a_shared_policy_is_one_cause() -> None:
    policy = EnvironmentSpec(policy="Closed on November 31st, 2024.")
    causes = {hit.cause for i in "ab" for hit in ImpossibleDate().inspect(make_task(i, environment=policy))}
    assert len(causes) == 1


def test_a_date_that_is_to_be_refused() -> None:
    assert ImpossibleDate().not_applicable(make_task(traits=frozenset({"expects_no_call"})))


@pytest.mark.corpora
def test_tau_bench_airline_has_none(corpora: Path) -> None:
    tasks = tasks_of(TauBench, corpora / "tau-bench_59a200c", ["airline"])
    assert len(tasks) == 50
    assert not [hit for task in tasks for hit in ImpossibleDate().inspect(task)]
