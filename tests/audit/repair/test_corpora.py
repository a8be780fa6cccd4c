"""A repair of a real task, in the benchmark's own file."""

from pathlib import Path

import pytest

from agenthard.audit.detectors.ground_truth import DuplicateTask, GoldFails, NearMissValue
from agenthard.audit.repair.proposals import propose
from agenthard.audit.repair.recheck import TaskChecker
from agenthard.audit.repair.repairs import RepairRunner
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2 import Tau2Bench


@pytest.mark.corpora
def test_a_date_of_birth_becomes_that_of_the_record(corpora: Path) -> None:
    source = Tau2Bench(corpora / "tau2-bench_v0.1.3", ["airline"])
    tasks = list(source.tasks(Quarantine()))
    task = next(each for each in tasks if each.id == "airline/35")
    checker = TaskChecker(source.name, tasks, [NearMissValue(), GoldFails(), DuplicateTask()])
    [finding] = checker.check(task).findings
    workshop = RepairRunner(source.root, lambda root: Tau2Bench(root, ["airline"]), tasks, checker)
    [repair] = workshop.try_all([propose(source.name, finding, task, NearMissValue())], lambda _: None)
    assert repair.accepted, repair.reason
    assert [line for line in repair.diff.splitlines() if line[0] in "+-"][2:] == [
        '-        "dob": "1985-04-04"',
        '+        "dob": "1981-05-26"',
    ]
    [edit] = repair.edits
    assert edit.file == "data/tau2/domains/airline/tasks.json"
    assert repair.recheck and repair.recheck.after.accepted
