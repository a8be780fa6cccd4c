"""Judging through batches of a loopback server, in all protocols."""

from pathlib import Path

import pytest

from agenthard.flows.judging.batches import cancel_batches, run_batches
from agenthard.flows.judging.run import run_judging
from tests.flows.judging.made import judging, model, panel, readable, verdict
from tests.flows.judging.test_run import total
from tests.loopback import Answer, Asked, Faults, Loopback

pytestmark = pytest.mark.usefixtures("keys")
APIS = ("chat", "responses", "gemini")


def defending(asked: Asked) -> Answer:
    """Right verdicts, and defences of which three overturn a flaw."""
    return verdict(asked) if asked.schema and "argument" in asked.schema["properties"] else readable(asked)


@pytest.mark.long
@pytest.mark.parametrize("api", APIS)
def test_the_same_call_until_nothing_is_left(api: str, audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = defending
    loopback.service.batches.polls = 2
    content = panel([{"model": model(api, loopback.url)}], rebuttal=True)
    settings = judging(audited, tmp_path / "out", content)
    begun = run_batches(settings)
    assert (begun.submission.batches, begun.submission.requests) == (1, 40)
    assert begun.judging.panels["not asked"] == 40
    waiting = run_batches(settings)
    assert (waiting.intake.waiting, waiting.submission.requests, waiting.submission.under_way) == (1, 0, 40)
    back = run_batches(settings)
    # Forty verdicts are in, and four flaws are to be defended against.
    assert (back.intake.answered, back.submission.requests) == (40, 4)
    assert back.judging.panels["flawed"] == 4
    while run_batches(settings).intake.waiting:
        pass
    done = run_batches(settings)
    assert (done.intake.waiting, done.submission.requests, len(done.batches)) == (0, 0, 2)
    assert done.judging.panels == {"flawed": 1, "not_flawed": 36, "uncertain": 3, "error": 0, "not asked": 0}
    (billed,) = loopback.counts["billed"].values()
    books = total(tmp_path / "out")
    assert (books.answered, books.prompt_tokens, books.unknown) == (44, billed["prompt"], 0)
    received = loopback.counts["received"]
    assert run_judging(settings).panels == done.judging.panels
    assert loopback.counts["received"] == received, "all answers are there"


def test_waiting_and_what_fails(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    loopback.service.faults = Faults(script=["500"] * 3)
    content = panel([{"model": model("chat", loopback.url)}])
    done = run_batches(judging(audited, tmp_path / "out", content), wait=0.0)
    assert done.intake.errors == {"ServerError": 3} and done.submission.batches == 2
    assert done.judging.panels == {"flawed": 4, "not_flawed": 24, "uncertain": 0, "error": 12, "not asked": 0}


def test_a_request_that_fails_in_every_batch_ends_as_an_error(
    audited: Path, loopback: Loopback, tmp_path: Path
) -> None:
    loopback.service.brain = readable
    loopback.service.faults = Faults(chances={"500": 1.0}, most_in_a_row=100)
    content = panel([{"model": model("chat", loopback.url)}])
    done = run_batches(judging(audited, tmp_path / "out", content, tasks=("lib/1", "lib/2")), wait=0.0)
    assert len(done.batches) == 3
    assert done.judging.panels["error"] == 2 and done.judging.errors == {"provider": 2}


def test_judges_that_look_things_up_are_left_to_judge_run(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    content = panel([{"model": model("chat", loopback.url), "investigates": True}])
    outcome = run_batches(judging(audited, tmp_path / "out", content))
    assert (outcome.investigators, outcome.submission.requests) == (("j0",), 0)
    assert loopback.service.batches.begun == {}


def test_cancelling_where_nothing_was_begun_leaves_no_folder(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    assert cancel_batches(judging(audited, tmp_path / "out", panel([{"model": model("chat", loopback.url)}]))) == 0
    assert not (tmp_path / "out").exists()


def test_cancelled_batches_are_handed_over_again(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = readable
    loopback.service.batches.polls = 100
    settings = judging(audited, tmp_path / "out", panel([{"model": model("chat", loopback.url)}]), tasks=("lib/1",))
    run_batches(settings)
    assert cancel_batches(settings) == 1
    loopback.service.batches.polls = 0
    again = run_batches(settings)
    assert (again.intake.errors, again.submission.requests) == ({"NotAnswered": 1}, 1)
    assert run_batches(settings).judging.panels["flawed"] == 1
