"""Look-ups over real tasks: each answers, agrees with the replay, and what it shows of the record can be quoted."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.evidence import failure
from agenthard.audit.execution.gold import gold_replay
from agenthard.audit.execution.replay import concrete
from agenthard.audit.judge.context.material import Material, Passage
from agenthard.audit.judge.investigation.investigator import Investigator
from agenthard.audit.judge.investigation.results import CHARACTERS, CUT
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.models.request import Call
from agenthard.taxonomy import AgentTask, Evidence

pytestmark = pytest.mark.corpora


@pytest.mark.parametrize("domain", ["airline", "retail"])
def test_a_judge_that_looks_everything_up(corpora: Path, domain: str) -> None:
    root = corpora / "tau2-bench_v0.1.3" / "data" / "tau2" / "domains"
    tasks = list(Tau2Bench(root, [domain]).tasks(Quarantine()))[:15]
    assert tasks
    quoted = sum(_look(task) for task in tasks)
    assert quoted > len(tasks)


def _look(task: AgentTask) -> int:
    """Look up whatever the gold calls name; return how much of it can be quoted."""
    quoted = 0
    for number, (_, call) in enumerate(task.gold_calls()):
        call = concrete(call)
        tried = _ask(task, "try_call", name=call.name, arguments=call.arguments, after=number)
        assert gold_replay(task).steps[number].observation.text[:1_000] in tried.text
        for value in call.arguments.values():
            found = _ask(task, "look_up", at=value) if isinstance(value, str) else None
            if found is not None and found.pointer is not None:
                words = found.text.split(",\n")[0].removesuffix(CUT)
                item = Evidence(task_id=task.id, pointer=found.pointer, quote=words)
                assert failure(item, task, {}) is None
                quoted += 1
    return quoted


def _ask(task: AgentTask, name: str, /, **arguments: Any) -> Passage:
    looking = Investigator(task, Material(task_id=task.id, passages=()))
    found = looking.look_up(Call(id="c", name=name, arguments=json.dumps(arguments)))
    assert found.text and len(found.text) <= CHARACTERS + len(CUT)
    return found
