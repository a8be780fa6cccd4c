"""The page of a recorded run, in a real browser."""

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.escape.audit_task import INSTANCE, task_of
from agenthard.escape.recorded import page_of_task, recorded_view
from agenthard.escape.storage import SUITES, to_data
from agenthard.flows.cli import app
from agenthard.reports.run_pages import MOST, RunPages
from agenthard.taxonomy.task import Message
from tests.escape.made import play, rooms, with_hidden


def test_the_states_follow_the_calls() -> None:
    instance = with_hidden()
    steps = recorded_view(instance, play("oracle", instance))["steps"]
    first, last = steps[0]["states"], steps[-1]["states"]
    assert {id for id, state in first.items() if state == "unseen"} == instance.hidden
    assert set(last.values()) == {"resolved"} and instance.certificate
    assert len(steps) == instance.certificate.min_calls + 2
    early = [
        step
        for step in recorded_view(instance, play("oracle+premature:0.5", instance))["steps"]
        if "early" in step["states"].values()
    ]
    assert all(not step["ok"] for step in early if step["states"].get(step["part"]) == "early")


def test_a_strange_record_is_shown_and_not_believed() -> None:
    instance = rooms()[0]
    run = play("story", instance)
    odd = [m.model_copy(update={"content": "[" * 9999}) if m.role == "tool" else m for m in run.messages]
    odd.append(Message(role="tool", content="{}", tool_call_id="nothing"))
    steps = recorded_view(instance, run.model_copy(update={"messages": tuple(odd)}))["steps"]
    assert "resolved" not in steps[-1]["states"].values()


def test_a_task_of_another_benchmark_or_a_broken_room_has_no_page() -> None:
    instance = rooms()[0]
    run = play("story", instance)
    assert page_of_task({}, run) is None
    assert page_of_task({INSTANCE: {"room": 3}}, run) is None
    page = page_of_task({INSTANCE: to_data(instance)}, run)
    assert page is not None and page.calls == len(page.data["steps"]) - 1 and page.outcome == "out of the room"


def test_no_more_pages_are_written_than_fit_next_to_a_report(tmp_path: Path) -> None:
    instance = rooms()[0]
    run = play("story", instance)
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "run-old.html").write_text("old")
    pages = RunPages(tmp_path / "report.html")
    task = task_of("escape", instance.id, instance, {})
    many = {str(n): run.model_copy(update={"id": str(n)}) for n in range(MOST + 5)}
    described: dict[str, Any] = {"models": [{"runs": [{"id": id} for id in many]}]}
    pages.link(task, described, many)
    assert pages.full and sum("page" in each for each in described["models"][0]["runs"]) == MOST
    assert len(list((tmp_path / "runs").iterdir())) == MOST


def written(tmp_path: Path, text: str = "") -> Path:
    """The page of a run; the text is put into what was answered."""
    instance = with_hidden()
    SUITES.write(tmp_path / "suite", [instance], {}, count=1)
    run = play("story", instance)
    if text:
        told = [m.model_copy(update={"content": text}) if m.role == "tool" else m for m in run.messages]
        run = run.model_copy(update={"messages": tuple(told), "model": text})
    (tmp_path / "runs.jsonl").write_text(run.model_dump_json() + "\n", encoding="utf-8")
    words = ["escape", "view", str(tmp_path / "suite"), str(tmp_path / "runs.jsonl"), "--out", str(tmp_path / "r.html")]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return tmp_path / "r.html"


@pytest.mark.long
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_slider_shows_each_call_and_nothing_is_loaded(tmp_path: Path, scheme: Any, browser: Any) -> None:
    page = browser.new_page(color_scheme=scheme)
    asked, errors = list[str](), list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.goto(written(tmp_path).as_uri())
    assert page.locator("#graph g").count() == with_hidden().room.nodes
    assert page.locator("#graph g.unseen").count() == len(with_hidden().hidden)
    page.click("#on")
    assert page.locator("#graph g.now").count() == 1
    page.locator("#step").press("End")
    assert page.is_disabled("#on") and "resolved" in page.inner_text("#where")
    assert page.inner_text("#title").startswith(("submit_answer", "give_up"))
    assert len(asked) == 1 and not errors
    page.close()


@pytest.mark.long
def test_what_a_run_says_is_never_markup(tmp_path: Path, browser: Any) -> None:
    page = browser.new_page()
    page.goto(written(tmp_path, "</script><img src=x onerror=alert(1)><b id=evil>").as_uri())
    page.locator("#step").press("End")
    assert page.locator("#evil, img").count() == 0
    assert "<b id=evil>" in page.inner_text("#answer")
    page.close()


def test_what_does_not_exist_is_refused(tmp_path: Path) -> None:
    SUITES.write(tmp_path / "suite", list(rooms()[:1]), {}, count=1)
    (tmp_path / "runs.jsonl").write_text("{}\n")
    words = ["escape", "view", str(tmp_path / "suite"), str(tmp_path / "runs.jsonl"), "--out", str(tmp_path / "r.html")]
    done = CliRunner().invoke(app, words)
    assert done.exit_code != 0 and not (tmp_path / "r.html").exists()
