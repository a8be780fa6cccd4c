"""The audit's check for answer leakage on ACE-Bench files: the paper's and ours."""

from pathlib import Path

import pytest

from agenthard.ace.generator import Parameters, generate
from agenthard.ace.reference_format import write
from agenthard.audit.conclude import conclude
from agenthard.audit.detectors.evaluation import AnswerLeakage
from agenthard.audit.shards import check_shard
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import Coverage, Finding, Status


def audit(folder: Path) -> tuple[list[Finding], list[Coverage]]:
    records = list(open_source("ace", folder).tasks(Quarantine()))
    return conclude(
        "ace", [task.id for task in records], [check_shard(records, {}, [AnswerLeakage()])], [AnswerLeakage()]
    )


@pytest.mark.long
@pytest.mark.corpora
def test_the_paper_s_files_are_flagged_for_what_gives_them_away(corpora: Path) -> None:
    findings, coverage = audit(corpora / "ace_reference" / "5x5_released")
    claims = "\n".join(finding.claim for finding in findings)
    for known in (
        "the answer has the lowest number in name in 100 % of 1638 choices",
        "the answer has the lowest place in the file's list of all items in 100 % of 1638 choices",
        "the answer has no word that contradicts another",
        "the answer keeps to the range of the shown items",
    ):
        assert known in claims
    assert "listed" not in claims and " id " not in claims  # the order of the candidates and their ids tell nothing
    assert {row.status for row in coverage} == {Status.FLAGGED}
    assert all(finding.evidence for finding in findings)


@pytest.mark.long
def test_our_instances_are_clean(tmp_path: Path) -> None:
    suite = Parameters(hidden_slots=(7, 15), decoy_budgets=(10, 21), domains=("meal", "travel"), per_cell=4)
    for name in suite.domains:
        part = suite.model_copy(update={"domains": (name,)})
        write(tmp_path / part.header(name).filename(0), part.header(name), generate(part), part.count)
    findings, coverage = audit(tmp_path)
    assert findings == []
    assert [row.status for row in coverage] == [Status.CLEAN] * 32
