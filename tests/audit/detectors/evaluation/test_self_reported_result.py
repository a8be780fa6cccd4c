import pytest

from agenthard.audit.detectors.evaluation import SelfReportedResult
from agenthard.taxonomy import Tier, UserSpec
from tests.audit.detectors.evaluation.open_tasks import open_task
from tests.builders import make_task

REPORT = "The script must write a JSON report with `jobs_done` and `jobs_total`."


@pytest.mark.parametrize(
    ("said", "criterion"),
    [
        (REPORT, "Completion: `clamp(jobs_done / jobs_total, 0, 1)`."),
        ("Recognise the switch `--run-tests`.", "Isolation: the share passed, as reported by `--run-tests`."),
        ("Record the results in JSON format in result.json, with the keys: loss, comment.", ""),
    ],
)
def test_figures_that_the_agent_reports(said: str, criterion: str) -> None:
    [hit] = SelfReportedResult().inspect(open_task(said, criterion))
    assert hit.tier is None and SelfReportedResult.tier is Tier.SUSPECTED


@pytest.mark.parametrize(
    ("said", "criterion"),
    [
        (REPORT, "Completeness: both keys are there."),
        ("Fit it with `evaluate.py`.", "Score = 0 if the loss reported by `evaluate.py` is large."),
        ("Sort the jobs.", "Isolation: the share passed, as reported by `--run-tests`."),
        ("The files `jobs_done` and `jobs_total` are given.", "`clamp(jobs_done / jobs_total, 0, 1)`"),
    ],
)
def test_figures_that_are_measured(said: str, criterion: str) -> None:
    assert list(SelfReportedResult().inspect(open_task(said, criterion))) == []


def test_a_simulated_user_is_no_such_task() -> None:
    assert SelfReportedResult().not_applicable(make_task(user=UserSpec(kind="simulated", instruction="Lend it.")))
