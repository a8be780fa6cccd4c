from pathlib import Path

import pytest

from agenthard.audit.detectors.user import WeekdayDate
from agenthard.audit.evidence import failure
from agenthard.audit.sources.bfcl import BFCL
from agenthard.taxonomy import AgentTask, Message, UserSpec
from tests.builders import make_task
from tests.corpora import tasks_of


def task(said: str, cluster: str | None = None) -> AgentTask:
    user = UserSpec(kind="scripted", turns=((Message(role="user", content=said),),))
    return make_task(user=user, cluster=cluster)


@pytest.mark.parametrize(
    ("said", "quoted", "day"),
    [
        ("Lend it on Friday, May 15th, 2023.", "Friday, May 15th, 2023", "Monday"),
        ("Today is 2023-05-15 (friday).", "2023-05-15 (friday", "Monday"),
        ("By Tuesday the 1st of March 2023, please.", "Tuesday the 1st of March 2023", "Wednesday"),
        ("It is Sunday 2024.2.29", "Sunday 2024.2.29", "Thursday"),
    ],
)
def test_a_weekday_on_another_date(said: str, quoted: str, day: str) -> None:
    subject = task(said)
    [hit] = WeekdayDate().inspect(subject)
    assert hit.evidence[0].quote == quoted and f"is a {day}" in hit.claim
    assert failure(hit.evidence[0], subject, {}) is None


@pytest.mark.parametrize(
    "said",
    [
        "Monday, May 15, 2023",
        "Friday the 13th",
        "on Friday and 2023-05-15",
        "Friday 15/05/2023",
        "Friday, February 30, 2023",
        "Friday 2023-05-151",
        "a holiday 2023-05-15",
    ],
)
def test_right_dates_and_what_is_no_date_are_clean(said: str) -> None:
    assert list(WeekdayDate().inspect(task(said))) == []


def test_variants_share_the_cause_and_silence_is_not_checked() -> None:
    one, other = (
        next(WeekdayDate().inspect(task(said, "base/1"))) for said in ("Friday 2023-05-15", "On Friday 2023-05-15!")
    )
    assert one.cause == other.cause is not None
    assert WeekdayDate().not_applicable(make_task(user=UserSpec(kind="simulated"))) == "the user says nothing"


@pytest.mark.corpora
def test_bfcl(corpora: Path) -> None:
    tasks = tasks_of(BFCL, corpora / "bfcl_v3_2025-07-17")
    flagged = {subject.id for subject in tasks if list(WeekdayDate().inspect(subject))}
    assert {"multi_turn_base_151", "live_multiple_269-127-4"} <= flagged and len(flagged) == 25
