"""Prompts of judges that name the judged model."""

from pathlib import Path

import pytest

from agenthard.audit.detectors.runs import JudgeSeesModel
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.taxonomy import Status, Trajectory
from agenthard.taxonomy.trajectory import Judgement
from tests.audit.detectors.runs.conversations import agent, audit, played, shop_task


def judged(prompt: str | None, model: str = "model-x-4.5", judge: str = "judge-y", trial: int = 0) -> Trajectory:
    verdict = Judgement(judge=judge, kind="text", score=6.0, prompt=prompt)
    return played(agent("Done."), model=model, judgements=(verdict,), trial=trial)


def test_a_model_that_is_named_in_a_path_and_in_words() -> None:
    prompts = ["Score /bench/Model-X-4.5/sub1.", "Score the work of model-x-4.5.", "Score /bench/run-7/sub1."]
    runs = [judged(prompt, trial=i) for i, prompt in enumerate(prompts)]
    (finding,), _ = audit(JudgeSeesModel(), [shop_task()], runs)
    assert finding.claim == (
        "2 of 3 (66.7 %, 95 % interval 20.8 % to 93.9 %) prompts of judge-y judging model-x-4.5 name the judged model: "
        "1 in a path; 1 in words."
    )
    assert finding.evidence[0].pointer == "/judgements/0/prompt"


@pytest.mark.parametrize(
    "run",
    [
        judged("Score /bench/model-x-4.51/sub1, not /bench/mymodel-x-4.5."),
        judged("You are gpt; score gpt.", model="gpt"),
        judged("You are judge-y. Score it.", model="judge-y"),
    ],
    ids=["another name", "too short a name", "the judge's own name"],
)
def test_other_names(run: Trajectory) -> None:
    assert audit(JudgeSeesModel(), [shop_task()], [run])[0] == []


def test_runs_without_a_prompt_are_not_checked() -> None:
    _, (row,) = audit(JudgeSeesModel(), [shop_task()], [judged(None)])
    assert row.status is Status.NOT_CHECKED and "logs the prompt" in row.reason


@pytest.mark.corpora
def test_the_released_run_of_agencybench(corpora: Path) -> None:
    source = open_source("agencybench", corpora / "agencybench")
    tasks, runs = list(source.tasks(Quarantine())), list(source.runs(corpora / "agencybench", Quarantine()))
    (finding,), _ = audit(JudgeSeesModel(), tasks, runs)
    assert finding.claim.startswith("62 of 62 ") and finding.claim.endswith(": 62 in a path.")
