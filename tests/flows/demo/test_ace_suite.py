"""The demo's ACE-Bench suite: the same everywhere, sound without its flaws, and each flaw found as its key says."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from agenthard.ace.source import AceBench
from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.registry import detectors
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.demo import ANSWER_KEY, KeyEntry, score_audit, write_ace_demo
from agenthard.flows.demo.ace_flaws import ACE_FLAWS
from agenthard.flows.demo.ace_suite import SUITE
from agenthard.flows.demo.benchmark import QUARANTINE
from agenthard.taxonomy import Coverage, Finding, Status


@dataclass(frozen=True)
class Audited:
    key: tuple[KeyEntry, ...]
    tasks: int
    findings: list[Finding]
    coverage: list[Coverage]
    set_aside: set[str | None]


def audited(out: Path, *, flawed: bool) -> Audited:
    key, quarantine = write_ace_demo(out, flawed=flawed), Quarantine()
    tasks = list(AceBench(out).tasks(quarantine))
    shard = check_shard(tasks, {}, detectors())
    findings, coverage = conclude("ace", [task.id for task in tasks], [shard], detectors())
    return Audited(key, len(tasks), findings, coverage, {item.task_id for item in quarantine.items})


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return audited(tmp_path_factory.mktemp("sound"), flawed=False)


@pytest.fixture(scope="module")
def flawed(tmp_path_factory: pytest.TempPathFactory) -> Audited:
    return audited(tmp_path_factory.mktemp("flawed"), flawed=True)


@pytest.mark.long
def test_the_sound_suite_has_no_finding(sound: Audited) -> None:
    assert (sound.tasks, sound.key, sound.findings, sound.set_aside) == (SUITE.count, (), [], set())
    assert [row for row in sound.coverage if row.status is Status.ERROR] == []


@pytest.mark.long
def test_every_flaw_is_seeded_into_an_instance_of_its_own(flawed: Audited) -> None:
    ids = [task_id for entry in flawed.key for task_id in entry.task_ids]
    assert sorted(entry.change for entry in flawed.key) == sorted(flaw.change for flaw in ACE_FLAWS)
    assert len(set(ids)) == len(ids) == len(ACE_FLAWS) + sum(flaw.copied for flaw in ACE_FLAWS)


def test_every_flaw_is_found_and_nothing_else(flawed: Audited) -> None:
    found = {(f.check, f.category, task_id) for f in flawed.findings for task_id in f.task_ids}
    found |= {(QUARANTINE, "", str(task_id)) for task_id in flawed.set_aside}
    assert found >= {(entry.check, entry.category, task_id) for entry in flawed.key for task_id in entry.task_ids}
    wrong = {task_id for entry in flawed.key for task_id in entry.task_ids}
    assert {task_id for _, _, task_id in found} == wrong
    assert [row for row in flawed.coverage if row.status is Status.ERROR] == []


def test_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in "ab":
        write_ace_demo(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert len(files) == len(SUITE.domains) + 1
    assert all((tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes() for name in files)


@pytest.mark.long
def test_the_demo_compares_the_audit_with_the_key(tmp_path: Path) -> None:
    write_ace_demo(tmp_path / "suite")
    settings = AuditSettings(source="ace", path=str(tmp_path / "suite"), runs=(), out=str(tmp_path / "run"), workers=1)
    run_audit(AuditInput(settings))
    scored = score_audit(tmp_path / "suite", tmp_path / "run")
    assert len(scored) == len(ACE_FLAWS) and [each.entry.cause for each in scored if each.missed] == []
    key = tmp_path / "suite" / ANSWER_KEY
    first = KeyEntry.model_validate_json(key.read_text().splitlines()[0])
    key.write_text(first.model_copy(update={"check": "call-schema"}).model_dump_json() + "\n")
    (missed,) = score_audit(tmp_path / "suite", tmp_path / "run")
    assert (missed.entry.check, missed.missed) == ("call-schema", first.task_ids[:1])
