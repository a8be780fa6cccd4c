import pytest

from audit.detectors.environment import LiveDependence
from tests.audit.detectors.evaluation.open_tasks import open_task
from tests.builders import make_task


@pytest.mark.parametrize(
    "said",
    [
        "Open an issue in https://github.com/acme/board.",
        "Issue web queries about trains.",
        "Locate a Hugging Face dataset of tweets.",
        "Collect reports published within the last three years.",
        "Write a script that calls `gpt-4o` for each row.",
    ],
)
def test_what_changes_outside(said: str) -> None:
    [hit] = LiveDependence().inspect(open_task(said))
    assert hit.evidence[0].quote == said


@pytest.mark.parametrize(
    "said",
    [
        "Serve it at http://localhost:8080/app.",
        'Write {"url": "https://..."} for each source.',
        "Run a web search; all facts as of March 2024.",
        "Write a script that calls `gpt-4o`, and test it with a mock client.",
        "The game was published in the last century.",
    ],
)
def test_what_stays(said: str) -> None:
    assert list(LiveDependence().inspect(open_task(said))) == []


def test_tools_of_the_benchmark_answer_for_the_world() -> None:
    assert LiveDependence().not_applicable(make_task())
