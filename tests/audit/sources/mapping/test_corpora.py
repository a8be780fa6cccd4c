"""Real benchmarks read as if nobody knew them: what the proposed mapping reads is what the real source reads."""

from pathlib import Path
from typing import Any

import pytest

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.mapping import MappingFile
from agenthard.audit.sources.mapping.infer import infer
from agenthard.audit.sources.mapping.source import Reader
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy.task import AgentTask

CASES = [
    ("bfcl", "bfcl_v3_2025-07-17/data", "simple", "BFCL_v3_simple.json", 400, 399),
    ("bfcl", "bfcl_v3_2025-07-17/data", "live_parallel", "BFCL_v3_live_parallel.json", 39, 39),
    ("acebench", "acebench_2025-02-26/data_all/data_en", "agent_multi_turn", "data_agent_multi_turn.json", 128, 128),
    ("acebench", "acebench_2025-02-26/data_all/data_en", "normal_atom_enum", "data_normal_atom_enum.json", 50, 50),
    ("tau-bench", "tau-bench_59a200c", "airline", "airline/tasks.json", 158, 158),
    ("tau2", "tau2-bench_v0.1.3", "retail", "data/tau2/domains/retail/tasks.json", 553, 553),
]


def gold(task: AgentTask) -> list[Any]:
    return [(call.name, call.arguments, call.requestor) for turn in task.ground_truth.turns for call in turn]


def texts(task: AgentTask) -> set[str]:
    said = {m.content.strip() for turn in task.user.turns for m in turn if m.role != "system"}
    return said or {text.strip() for _, text in task.user_texts()}


@pytest.mark.long
@pytest.mark.corpora
@pytest.mark.parametrize(("source", "root", "domain", "file", "calls", "equal"), CASES)
def test_a_proposal_reads_what_the_source_reads(
    corpora: Path, source: str, root: str, domain: str, file: str, calls: int, equal: int
) -> None:
    proposal = infer(corpora / root / file)
    reader = Reader(MappingFile.model_validate(proposal.mapping), proposal.folder)
    mapped = {task.native_id: task for _, task in reader.tasks(Quarantine())}
    real = {task.native_id: task for task in open_source(source, corpora / root, (domain,)).tasks(Quarantine())}
    assert set(mapped) == set(real)
    assert [key for key in real if texts(mapped[key]) != texts(real[key])] == []
    assert sum(len(gold(task)) for task in real.values()) == calls
    assert sum(call in gold(mapped[key]) for key, task in real.items() for call in gold(task)) == equal
