"""One odd reply is one error row: the other questions get their answers, and a second run pays for nothing again."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import agenthard.flows.judging.panel as panel_module
from agenthard.flows.cli import app
from agenthard.flows.judging.batches import run_batches
from tests.flows.judging.made import judging, model, panel, readable
from tests.flows.judging.test_run import rows, total
from tests.loopback import Asked, Loopback
from tests.loopback.odd import READABLE, Odd

pytestmark = [pytest.mark.usefixtures("keys"), pytest.mark.long]
TASKS = ("lib/0", "lib/2", "lib/4", "lib/6")
ATTEMPTS = 2


def judge(audited: Path, file: Path, out: Path, code: int) -> str:
    chosen = [word for task in TASKS for word in ("--task", task)]
    asked = ["judge", "run", str(audited), "--judges", str(file), "--out", str(out), "--workers", "0", *chosen]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


@pytest.mark.parametrize("api", ["chat", "responses", "gemini"])
@pytest.mark.parametrize("odd", ["surrogate", "brackets", "huge_usage", "negative_usage", "no_usage"])
def test_one_of_four_is_odd(api: str, odd: Odd, audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    loopback.service.brain = readable
    loopback.service.odd = lambda asked: odd if "Case 2:" in asked.said[-1].text else None
    settings = model(api, loopback.url, retries={"attempts": ATTEMPTS, "first_wait": 0.0})
    file, out = tmp_path / "judges.yaml", tmp_path / "out"
    file.write_text(json.dumps(panel([{"model": settings}], attempts=1)), encoding="utf-8")
    fails = odd not in READABLE
    printed = judge(audited, file, out, code=2 if fails else 0)
    found = {row["task_id"]: row["error"] for row in rows(out)}
    assert found == {task: "unreadable" if fails and task == "lib/2" else None for task in TASKS}
    assert ("without token counts" in printed) is not fails
    counts, books = loopback.counts, total(out)
    assert counts["received"] == books.sent == (3 + ATTEMPTS if fails else 4)
    (billed,) = counts["billed"].values()
    assert books.answered == billed["requests"] == (3 if fails else 4)
    assert books.maybe_billed == sum(lost["requests"] for lost in counts["lost"].values()) == (ATTEMPTS if fails else 0)
    assert (books.unknown, books.not_stated) == (0, 0 if fails else 1)
    judge(audited, file, out, code=2 if fails else 0)
    assert loopback.counts["received"] == counts["received"], "a second run pays for nothing again"


@pytest.mark.parametrize("api", ["chat", "responses", "gemini"])
def test_one_of_four_in_a_batch_is_odd(api: str, audited: Path, loopback: Loopback, tmp_path: Path) -> None:
    kinds: list[Odd] = ["surrogate", "huge_usage", "list_usage"]
    loopback.service.brain = readable

    def odd(asked: Asked) -> Odd | None:
        return kinds.pop() if "Case 2:" in asked.said[-1].text else None

    loopback.service.odd = odd
    done = run_batches(judging(audited, tmp_path / "out", panel([{"model": model(api, loopback.url)}]), tasks=TASKS), 0)
    assert done.intake.errors == {"MalformedReplyError": 3} and kinds == []
    assert done.judging.errors == {"provider": 1} and done.judging.answered == 3
    books = total(tmp_path / "out")
    assert (books.answered, books.maybe_billed, books.unknown) == (3, 3, 0)


def test_a_defect_of_ours_is_an_error_of_one_question(
    audited: Path, loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loopback.service.brain = readable
    real = panel_module.ask_for_verdict

    async def failing(model, question, *rest):  # type: ignore[no-untyped-def]
        found = await real(model, question, *rest)
        if question.task_id == "lib/2":
            raise RuntimeError("a defect \x1b[31m\ud800")
        return found

    monkeypatch.setattr(panel_module, "ask_for_verdict", failing)
    file, out = tmp_path / "judges.yaml", tmp_path / "out"
    file.write_text(json.dumps(panel([{"model": model("chat", loopback.url)}])), encoding="utf-8")
    judge(audited, file, out, code=2)
    found = {row["task_id"]: (row["error"], row["message"]) for row in rows(out)}
    words = "unexpected RuntimeError: a defect \\x1b[31m\\ud800"
    assert found == {task: ("internal", words) if task == "lib/2" else (None, None) for task in TASKS}
    received = loopback.counts["received"]
    judge(audited, file, out, code=2)
    assert loopback.counts["received"] == received == 4
