"""Judging over a loopback server, in both protocols: every failure ends as specified, and the books agree."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest

from agenthard.flows.audited_run import read_coverage, read_decisions, read_findings
from agenthard.flows.judging.run import run_judging
from agenthard.flows.judging.store import AnswerStore
from agenthard.models.ledger import Ledger, Total
from agenthard.taxonomy.finding import Status, Tier
from tests.flows.judging.made import always_sound, curious, judging, model, panel, verdict
from tests.loopback import Faults, Loopback

pytestmark = pytest.mark.usefixtures("keys")


def rows(out: Path) -> list[dict[str, Any]]:
    table: list[dict[str, Any]] = pyarrow.parquet.read_table(out / "judge" / "questions.parquet").to_pylist()
    return table


def total(out: Path) -> Total:
    ledger = Ledger(out / "judge" / "ledger.sqlite")
    try:
        return ledger.totals(by=())[0]
    finally:
        ledger.close()


@pytest.mark.parametrize("api", ["chat", "responses", "gemini"])
def test_forty_tasks(api: str, audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    chances = {"429": 0.05, "500": 0.05, "503": 0.05, "malformed": 0.05, "dropped": 0.05}
    loopback.service.faults = Faults(chances=chances, seed=1, most_in_a_row=2)  # type: ignore[arg-type]
    out = tmp_path / "out"
    outcome = run_judging(judging(audited, out, panel([{"model": model(api, loopback.url)}], attempts=2)))
    # Of forty, four each end in 1 (flawed), 7 (garbage), 8 (refused) and 9 (cut off).
    assert outcome.panels == {"flawed": 4, "not_flawed": 24, "uncertain": 0, "error": 12, "not asked": 0}
    assert (outcome.questions, outcome.answered, outcome.not_asked) == (40, 28, 0)
    assert outcome.errors == {"refusal": 4, "unreadable": 8}
    assert outcome.findings["suspected"] + outcome.findings["confirmed"] == 4
    found = [finding for finding in read_findings(out) if finding.check == "judge"]
    assert sorted(f.task_ids[0] for f in found) == ["lib/1", "lib/11", "lib/21", "lib/31"]
    status = {row.task_id: row.status for row in read_coverage(out) if row.check == "judge"}
    assert (status["lib/1"], status["lib/2"], status["lib/7"]) == (Status.FLAGGED, Status.CLEAN, Status.ERROR)
    assert len(read_decisions(out)) == 40
    # What cannot be used is asked for a second time, and not a third.
    assert {row["attempts"] for row in rows(out) if row["error"]} == {2}
    counts, books = loopback.counts, total(out)
    (billed,) = counts["billed"].values()
    assert books.sent == counts["received"]
    assert (books.answered, books.prompt_tokens, books.completion_tokens) == (
        *(billed[name] for name in ("requests", "prompt", "completion")),
    )
    assert billed["requests"] == 28 + 2 * 12
    kept = sum(row["cost"] for row in rows(out))
    assert kept == pytest.approx(books.cost)
    evidence = json.loads((out / "judge" / "evidence.json").read_text())
    assert (evidence["judges"][0]["verified"]["k"], evidence["judges"][0]["verified"]["n"]) == (4, 4)


@pytest.mark.long
def test_going_on_asks_nothing_twice_and_changes_nothing(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    out = tmp_path / "out"
    content = panel([{"model": model("chat", loopback.url), "samples": 2}])
    some = run_judging(judging(audited, out, content, sample=10))
    assert (some.tasks, some.questions) == (10, 20)
    assert sum(row.reason == "not judged" for row in read_coverage(out) if row.check == "judge") == 30
    run_judging(judging(audited, out, content))
    received = loopback.counts["received"]
    before = (out / "judge" / "panels.jsonl").read_bytes()
    again = run_judging(judging(audited, out, content))
    assert loopback.counts["received"] == received == 2 * 28 + 2 * 2 * 12
    assert (out / "judge" / "panels.jsonl").read_bytes() == before
    assert again.audit.split_id == json.loads((out / "manifest.json").read_text())["outcome"]["split_id"]


def test_errors_are_asked_again_where_that_is_wanted(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    content = panel([{"model": model("chat", loopback.url)}], attempts=1)
    first = run_judging(judging(audited, tmp_path / "out", content))
    assert first.errors == {"refusal": 4, "unreadable": 8}
    loopback.service.brain = always_sound
    received = loopback.counts["received"]
    again = run_judging(judging(audited, tmp_path / "out", content, retry=True))
    # Replies that could not be used are in the cache; another reply to the same words is asked for.
    assert loopback.counts["received"] == received + 12
    assert again.complete and again.panels["not_flawed"] == 36


@pytest.mark.parametrize(
    ("fault", "settings", "error"),
    [
        ("hang", {"timeout": 0.2}, "timeout"),
        ("500", {}, "provider"),
        ("dropped", {}, "provider"),
        ("malformed", {}, "unreadable"),
        ("too_long", {}, "context_overflow"),
    ],
)
def test_a_fault_that_lasts_is_an_error(
    fault: Any, settings: dict[str, Any], error: str, audited: Path, loopback: Loopback, tmp_path: Path
) -> None:
    loopback.service.brain = verdict
    loopback.service.faults = Faults(chances={fault: 1.0})
    retries = {"attempts": 2, "first_wait": 0.0}
    judge = {"model": model("chat", loopback.url, retries=retries, **settings)}
    outcome = run_judging(judging(audited, tmp_path / "out", panel([judge]), tasks=("lib/1", "lib/2")))
    assert (outcome.answered, outcome.errors, outcome.stopped) == (0, {error: 2}, "")
    status = {row.task_id: row.status for row in read_coverage(tmp_path / "out") if row.check == "judge"}
    assert status["lib/1"] is Status.ERROR
    assert {d.task_id: d.action for d in read_decisions(tmp_path / "out")}["lib/1"] == "review"


def test_a_budget_ends_the_run_and_keeps_what_is_done(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = always_sound
    content, out = panel([{"model": model("chat", loopback.url)}]), tmp_path / "out"
    outcome = run_judging(judging(audited, out, content, token_budget=60_000, in_flight=4))
    assert "budget is spent" in outcome.stopped
    assert 0 < outcome.answered < 40 and outcome.not_asked == 40 - outcome.answered
    assert outcome.panels["not asked"] == outcome.not_asked
    more = run_judging(judging(audited, out, content))
    assert more.complete
    assert total(out).answered == loopback.counts["received"] == 40


def test_a_wrong_key_ends_the_run(
    audited: Path, loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMPATIBLE_API_KEY", "another")
    outcome = run_judging(judging(audited, tmp_path / "out", panel([{"model": model("chat", loopback.url)}])))
    assert "key" in outcome.stopped and outcome.panels["not asked"] == 40


def test_judges_alike_and_samples_never_share_a_reply(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = always_sound
    judge = {"model": model("chat", loopback.url), "samples": 2}
    outcome = run_judging(judging(audited, tmp_path / "out", panel([judge, judge]), tasks=("lib/1",)))
    assert outcome.answered == loopback.counts["received"] == 4
    assert len({row["digest"] for row in rows(tmp_path / "out")}) == 4


def test_the_second_tier_sees_what_the_first_flags(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    strong = {"model": model("chat", loopback.url), "tier": "second"}
    content = panel([{"model": model("chat", loopback.url)}, strong])
    tasks = tuple(f"lib/{n}" for n in range(7))
    outcome = run_judging(judging(audited, tmp_path / "out", content, tasks=tasks))
    asked = [(row["task_id"], row["judge"]) for row in rows(tmp_path / "out")]
    assert outcome.complete and [task for task, judge in asked if judge == "j1"] == ["lib/1"]


def test_a_defence_sends_a_task_to_review(audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    content = panel([{"model": model("chat", loopback.url)}], rebuttal=True)
    tasks = ("lib/1", "lib/2", "lib/11")
    outcome = run_judging(judging(audited, tmp_path / "out", content, tasks=tasks))
    # The defence of lib/1 gives in, that of lib/11 overturns the flaw.
    assert outcome.panels == {"flawed": 1, "not_flawed": 1, "uncertain": 1, "error": 0, "not asked": 0}
    panels = {p["task_id"]: p for p in map(json.loads, (tmp_path / "out/judge/panels.jsonl").open())}
    assert [panels[t]["issues"][0]["rebuttal"] for t in ("lib/1", "lib/11")] == ["upheld", "overturned"]
    tiers = {f.task_ids[0]: f.tier for f in read_findings(tmp_path / "out") if f.check == "judge"}
    assert tiers == {"lib/1": Tier.SUSPECTED, "lib/11": Tier.SIGNAL}
    received = loopback.counts["received"]
    assert received == 5
    again = run_judging(judging(audited, tmp_path / "out", content, tasks=tasks))
    assert (again.panels, loopback.counts["received"]) == (outcome.panels, received)


@pytest.mark.parametrize("api", ["chat", "responses", "gemini"])
def test_an_investigating_judge(api: str, audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = curious
    judge = {"model": model(api, loopback.url), "investigates": True}
    tasks = ("lib/1", "lib/2", "lib/7")
    outcome = run_judging(judging(audited, tmp_path / "out", panel([judge], attempts=1), tasks=tasks))
    assert outcome.panels == {"flawed": 1, "not_flawed": 1, "uncertain": 0, "error": 1, "not asked": 0}
    assert [row["lookups"] for row in rows(tmp_path / "out")] == [1, 1, 1]
    assert loopback.counts["received"] == total(tmp_path / "out").sent == 9


def test_a_task_that_cannot_be_written_is_an_error_of_its_own(
    audited: Path, loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agenthard.flows.judging import prompts

    gather = prompts.gather

    def broken(task: Any, *more: Any) -> Any:
        if task.id == "lib/2":
            raise RuntimeError("its record is broken")
        return gather(task, *more)

    monkeypatch.setattr(prompts, "gather", broken)
    loopback.service.brain = verdict
    content = panel([{"model": model("chat", loopback.url)}])
    outcome = run_judging(judging(audited, tmp_path / "out", content, tasks=("lib/1", "lib/2", "lib/3")))
    assert (outcome.answered, outcome.errors) == (2, {"prompt": 1})
    store = AnswerStore(tmp_path / "out" / "judge" / "questions.sqlite")
    (answer,) = store.of_task("lib/2").values()
    assert "its record is broken" in answer.checked.reason
    store.close()
