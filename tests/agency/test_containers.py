"""Scenarios whose commands run in containers, here of a fake engine."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from agenthard.agency.conditions import AgencyConditions
from agenthard.flows.evaluation.finished import read_finished
from agenthard.flows.evaluation.settings import EvaluationSettings
from tests.agency.sandbox.fake_engine import IMAGE, IMAGE_ID, FakeEngine, fake_engine
from tests.flows.evaluation.conftest import evaluated


@pytest.fixture
def engine() -> Iterator[FakeEngine]:
    with tempfile.TemporaryDirectory() as folder, fake_engine(Path(folder)) as found:
        yield found


def settings_of(suite: Path, out: Path, **options: str) -> EvaluationSettings:
    given = {"rounds": "0", **options}
    return EvaluationSettings(benchmark="agency", path=str(suite), agents=("reference",), out=str(out), options=given)


def isolation_of(out: Path) -> str:
    return str(json.loads((out / "manifest.json").read_text())["conditions"]["isolation"])


def test_a_scenario_in_containers_scores_as_in_jobs(engine: FakeEngine, suite: Path, tmp_path: Path) -> None:
    docker = {"sandbox": "docker", "image": IMAGE, "engine": engine.address}
    scores = {}
    for name, options in (("job", {}), ("docker", docker)):
        outcome = evaluated(settings_of(suite, tmp_path / name, **options))
        assert outcome.complete, outcome.infrastructure_errors
        runs = list(read_finished(tmp_path / name, "agency").runs())
        scores[name] = [(run.task_id, run.score, run.usage["changed_files"]) for run in runs]
    assert scores["docker"] == scores["job"] and {score for _, score, _ in scores["job"]} == {10.0}
    assert engine.created and engine.containers == {}
    assert f"Docker containers of {IMAGE} ({IMAGE_ID}): user " in isolation_of(tmp_path / "docker")
    assert "; graded programs in jobs: user " in isolation_of(tmp_path / "docker")
    assert "Docker" not in isolation_of(tmp_path / "job")


def test_without_an_engine_nothing_is_played_and_the_manifest_says_why(suite: Path, tmp_path: Path) -> None:
    nowhere = f"unix://{tmp_path}/none.sock"
    outcome = evaluated(settings_of(suite, tmp_path / "out", sandbox="docker", image=IMAGE, engine=nowhere))
    said = f"the Docker engine at {nowhere} cannot be used: "
    assert not outcome.complete and said in str(outcome.infrastructure_errors)
    assert isolation_of(tmp_path / "out").startswith(f"none: {said}")


@pytest.mark.parametrize("options", [{"sandbox": "docker"}, {"image": IMAGE}, {"engine": "unix:///x"}])
def test_options_that_do_not_fit_together_are_refused(options: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="sandbox=docker needs image=NAME"):
        AgencyConditions.model_validate(options)
