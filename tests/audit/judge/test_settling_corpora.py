"""Claims about gold calls of real benchmarks, settled by replay and compared with what the replay itself shows."""

from collections import Counter
from pathlib import Path

import pytest

from agenthard.audit.evidence import canonical_json
from agenthard.audit.execution.gold import environment_of, gold_replay, why_not_replayed
from agenthard.audit.execution.necessity import unneeded_calls
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.verdict import CheckedIssue
from agenthard.audit.judge.verify.evidence import check_evidence
from agenthard.audit.judge.verify.verification import settle
from agenthard.audit.sources.base import Quarantine, Source
from agenthard.audit.sources.bfcl import BFCL
from agenthard.audit.sources.tau.tau2 import Tau2Bench
from agenthard.taxonomy import AgentTask
from tests.audit.judge.saying import flawed, says

pytestmark = pytest.mark.corpora


def replayable(source: Source, prefix: str, most: int) -> list[AgentTask]:
    tasks = [task for task in source.tasks(Quarantine()) if task.id.startswith(prefix)][:most]
    found = [task for task in tasks if why_not_replayed(task) is None]
    if not found:
        pytest.skip(f"nothing of {source.name} can be executed here: {why_not_replayed(tasks[0])}")
    return found


def claims(task: AgentTask, category: str, claim: str) -> list[tuple[str, CheckedIssue]]:
    """The claim on every gold call of a task, quoted with other white space than the record has."""
    material = gather(task)
    found = []
    for pointer, call in task.gold_calls():
        words = canonical_json(call).replace(": ", ":").replace(", ", ",\n")
        [issue] = check_evidence(flawed(says(category, claim, (pointer, words))), material, task)
        assert (issue.standing, issue.quotes[0].found) == ("verified", "normalised"), issue.reason
        assert issue.quotes[0].quote == canonical_json(call)
        found.append((pointer, settle(task, issue)))
    return found


@pytest.mark.long
def test_reads_and_writes_of_airline(corpora: Path) -> None:
    tasks = replayable(Tau2Bench(corpora / "tau2-bench_v0.1.3/data/tau2/domains"), "airline/", 50)
    seen: Counter[tuple[str, str]] = Counter()
    for task in tasks:
        steps = {step.pointer: step for step in gold_replay(task).steps}
        for pointer, issue in claims(task, "redundant-tool-call", "The call has no effect."):
            step = steps[pointer]
            tool = task.tool(step.call.name)
            kind = "write" if step.changed else "read" if tool and tool.effect == "read" else "other"
            seen[kind, issue.standing] += 1
            assert (kind, issue.standing) not in (("write", "proved"), ("read", "proved"))
    assert seen["write", "refuted"] > 40 and seen["read", "refuted"] > 80


def test_what_can_be_left_out_of_bfcl(corpora: Path) -> None:
    tasks = replayable(BFCL(corpora / "bfcl_v3_2025-07-17/data"), "multi_turn_base_4", 11)
    proved = set()
    for task in tasks:
        left_out = {step.pointer for step in unneeded_calls(environment_of(task), task, gold_replay(task))}
        found = claims(task, "redundant-tool-call", "The call has no effect.")
        assert left_out <= {pointer for pointer, issue in found if issue.standing == "proved"}
        proved |= {(task.id, pointer) for pointer, issue in found if issue.standing == "proved"}
    assert ("multi_turn_base_44", "/ground_truth/turns/2/0") in proved, "a file is made, and then written anew"
    assert len(proved) <= 3
