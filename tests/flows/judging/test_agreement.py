"""Three readers of each prompt: seeds, agreement with intervals, and prompts that changed between readers."""

import json
from pathlib import Path

import pytest

from agenthard.audit.judge.verdict import CheckedVerdict, Judged, JudgeError
from agenthard.audit.statistics.agreement import krippendorff_alpha
from agenthard.audit.statistics.result import Estimate
from agenthard.flows.judging.agreement import agreement_table, reader_agreement
from agenthard.flows.judging.run import run_judging
from agenthard.flows.judging.store import Answer
from tests.audit.judge.verdicts import flawed, sound
from tests.flows.judging.made import flawed as said_flawed
from tests.flows.judging.made import judging, model, panel, readable
from tests.loopback import Answer as Reply
from tests.loopback import Asked, Loopback

pytestmark = pytest.mark.usefixtures("keys")


def answer(verdict: CheckedVerdict, task: str, prompt: str = "p", version: str = "v1") -> Answer:
    error = JudgeError(kind="timeout", message="not looked at here")
    checked = verdict.model_copy(update={"task_id": task})
    judged = Judged(task_id=task, judge=verdict.judge, sample=verdict.sample, prompt_version=version, error=error)
    return Answer(judged=judged, checked=checked, digest="", attempts=1, prompt=prompt)


def test_alpha_is_that_of_the_votes() -> None:
    votes = {"t1": (1, 1, 1), "t2": (0, 0, 0), "t3": (0, 1, 1), "t4": (0, 0, 0), "t5": (1, 1, 0)}
    answers = [
        answer(flawed("a", sample) if cast else sound("a", sample), task)
        for task, own in votes.items()
        for sample, cast in enumerate(own)
    ]
    [row] = reader_agreement(answers, {"a": "first"}, seed=3).rows
    expected = krippendorff_alpha([["flawed" if v else "sound" for v in own] for own in votes.values()], seed=3)
    assert isinstance(expected, Estimate) and row.alpha == expected
    assert (row.readers, row.tasks, row.unanimous, row.changed) == (3, 5, 3, ())
    table = agreement_table(reader_agreement(answers, {"a": "first"}, seed=3))
    assert f"{expected.value:.2f} [{expected.low:.2f}, {expected.high:.2f}] (5 of 5 tasks)" in table


def test_a_prompt_that_changed_is_said() -> None:
    same = [answer(sound("a", sample), task) for task in ("t1", "t2") for sample in range(2)]
    later = [answer(sound("a", 2), "t1", prompt="q"), answer(sound("a", 2), "t2")]
    found = reader_agreement([*same, *later], {"a": "first"}, seed=1)
    assert found.rows[0].changed == ("t1",)
    assert "1 changed between readers" in agreement_table(found)
    assert found.prompts != reader_agreement(same, {"a": "first"}, seed=1).prompts
    newer = reader_agreement([*same, answer(sound("a", 2), "t1", version="v2")], {"a": "first"}, seed=1)
    assert "changed between readers: versions v1, v2" in agreement_table(newer)


def test_one_reader_has_no_agreement() -> None:
    assert "read once" in agreement_table(reader_agreement([answer(sound("a"), "t1")], {"a": "first"}, seed=1))


@pytest.mark.parametrize("api", ["chat", "gemini"])
def test_three_readers_have_three_seeds(api: str, audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    seeds: list[int] = []

    def brain(asked: Asked) -> Reply:
        assert asked.seed is not None
        seeds.append(asked.seed)
        # The third reader sees a flaw in task 5 too.
        if asked.seed == 13 and "Case 5:" in asked.said[-1].text:
            return Reply(text=said_flawed(5005, '"book_id":5005'))
        return readable(asked)

    loopback.service.brain = brain
    judge = {"model": model(api, loopback.url, sampling={"max_output_tokens": 1000, "seed": 11}), "samples": 3}
    tasks = tuple(f"lib/{number}" for number in range(1, 7))
    outcome = run_judging(judging(audited, tmp_path / "out", panel([judge], attempts=1), tasks=tasks))
    assert outcome.complete
    assert sorted(seeds) == [11] * 6 + [12] * 6 + [13] * 6
    agreement = json.loads((tmp_path / "out" / "judge" / "agreement.json").read_text())
    [row] = agreement["rows"]
    assert (row["readers"], row["tasks"], row["unanimous"], row["changed"]) == (3, 6, 5, [])
    assert 0 < row["alpha"]["value"] < 1
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["judge"]["prompts"] == agreement["prompts"] != ""
