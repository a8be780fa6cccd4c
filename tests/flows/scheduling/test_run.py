"""A schedule without a server: what is audited again, what is told, which split is published."""

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agenthard.flows import stages
from agenthard.flows.demo import write_demo
from agenthard.flows.errors import CommandError
from agenthard.flows.scheduling.run import approve, reject, run_schedule
from agenthard.flows.scheduling.series import SeriesFolder
from agenthard.flows.scheduling.settings import PathOrigin, Schedule, SplitStep, Webhook, load_schedule
from agenthard.taxonomy.errors import AgentHardError
from tests.flows.refusals import refused
from tests.flows.scheduling.sinks import WebhookSink

AT = datetime(2026, 11, 23, 3, tzinfo=UTC)


@pytest.fixture
def schedule(tmp_path: Path) -> Schedule:
    write_demo(tmp_path / "bench")
    return Schedule(
        name="nightly",
        source="native",
        origin=PathOrigin(path=str(tmp_path / "bench")),
        folder=str(tmp_path / "audits"),
        publish=SplitStep(),
    )


def drop_first_task(schedule: Schedule) -> None:
    assert isinstance(schedule.origin, PathOrigin)
    tasks = Path(schedule.origin.path) / "tasks.jsonl"
    tasks.write_text(tasks.read_text(encoding="utf-8").partition("\n")[2], encoding="utf-8")


def test_the_published_split_changes_only_when_a_person_says_so(schedule: Schedule) -> None:
    series = SeriesFolder(Path(schedule.folder))
    first = run_schedule(schedule, AT)
    assert first.waits is not None and first.published is None
    with pytest.raises(CommandError, match="waits, and not 0123"):
        approve(schedule, "0123", "ana", "", AT)
    done = approve(schedule, first.waits.split_id, "ana", "looked at it", AT)
    assert (series.root / done.folder / "native" / "tasks.jsonl").is_file() and series.pending is None
    assert done.version == "1.0.0"

    again = run_schedule(schedule, AT)
    assert again.difference is None and "nothing changed" in again.sentence and again.waits is None

    drop_first_task(schedule)
    second = run_schedule(schedule, AT)
    assert second.difference is not None and (second.difference.checked, second.difference.removed) == (
        0,
        ("library/0",),
    )
    assert second.waits is not None and second.waits.removed == ("library/0",) and second.published == done
    reject(schedule, second.waits.split_id)
    assert series.pending is None and series.published == done
    drop_first_task(schedule)
    run_schedule(schedule, AT)
    assert approve(schedule, None, "ana", "", AT).version == "1.1.0"
    with pytest.raises(CommandError, match="no split waits"):
        approve(schedule, None, "ana", "", AT)


def test_without_a_gate_the_split_changes_at_once(schedule: Schedule) -> None:
    outcome = run_schedule(schedule.model_copy(update={"publish": SplitStep(gate=False)}), AT)
    assert outcome.waits is None and outcome.published is not None
    assert outcome.published.by == "no approval asked"


def test_a_failure_is_recorded_told_and_does_not_end_the_schedule(schedule: Schedule, tmp_path: Path) -> None:
    run_schedule(schedule, AT)
    shutil.move(tmp_path / "bench", tmp_path / "away")
    with WebhookSink() as sink:
        told = schedule.model_copy(update={"notify": (Webhook(url=sink.address),)})
        with pytest.raises(AgentHardError, match="nothing is at this path"):
            run_schedule(told, AT)
    assert "audit 2 failed" in sink.texts[0]
    series = SeriesFolder(Path(schedule.folder))
    assert series.history[-1].failure and "failed: " in (series.root / "index.html").read_text(encoding="utf-8")
    shutil.move(tmp_path / "away", tmp_path / "bench")
    assert "nothing changed" in run_schedule(schedule, AT).sentence
    assert [each.number for each in series.history] == [1, 2, 3]


def test_old_audits_are_removed_and_what_a_split_is_from_stays(schedule: Schedule) -> None:
    series = SeriesFolder(Path(schedule.folder))
    schedule = schedule.model_copy(update={"keep": 2})
    run_schedule(schedule, AT)
    approve(schedule, None, "ana", "", AT)
    for _ in range(3):
        drop_first_task(schedule)
        run_schedule(schedule, AT)
    kept = sorted(path.name[:4] for path in series.runs.iterdir())
    assert kept == ["0001", "0003", "0004"] == sorted(path.name[:4] for path in series.benchmarks.iterdir())
    assert len(series.history) == 4


def test_another_policy_decides_again_without_checking(schedule: Schedule, tmp_path: Path) -> None:
    from agenthard.audit.decisions.policy import default_policy_text

    run_schedule(schedule, AT)
    policy = tmp_path / "policy.yaml"
    policy.write_text(default_policy_text() + "\n# reviewed\n", encoding="utf-8")
    second = run_schedule(schedule.model_copy(update={"policy": str(policy)}), AT)
    assert second.difference is not None and second.difference.checked == 0 and second.difference.new == ()


def test_hostile_names_stay_text(schedule: Schedule) -> None:
    assert isinstance(schedule.origin, PathOrigin)
    tasks = Path(schedule.origin.path) / "tasks.jsonl"
    row = json.loads(tasks.read_text(encoding="utf-8").partition("\n")[0])
    row["id"] = "<script>alert(1)</script> [x](http://evil) @all"
    with tasks.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
    with WebhookSink() as sink:
        run_schedule(schedule.model_copy(update={"notify": (Webhook(url=sink.address),)}), AT)
    page = (Path(schedule.folder) / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page and "<script>" not in sink.texts[0]


def test_a_wrong_schedule_names_each_field(tmp_path: Path) -> None:
    path = tmp_path / "schedule.yaml"
    path.write_text("name: Nightly!\nsource: native\norigin: {path: x}\nfolder: y\ncron: a\ninterval_seconds: 5\n")
    with pytest.raises(CommandError, match=r"schedule\.yaml.*name"):
        load_schedule(path)
    assert "says no time" in refused("schedule", "serve", timeless(tmp_path))


def test_serving_needs_a_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "has_server", lambda: False)
    config = timeless(tmp_path)
    config.write_text(config.read_text(encoding="utf-8") + "interval_seconds: 60\n", encoding="utf-8")
    assert "prefect server start" in refused("schedule", "serve", config)


def timeless(folder: Path) -> Path:
    path = folder / "valid.yaml"
    path.write_text("name: nightly\nsource: native\norigin: {path: x}\nfolder: y\n")
    found = load_schedule(path)
    assert found.folder == str(folder / "y") and found.origin == PathOrigin(path=str(folder / "x"))
    return path
