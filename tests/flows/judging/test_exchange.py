"""Requests exported as files, and answers to them read back with the same checks."""

import json
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows.audited_run import read_coverage, read_findings
from agenthard.flows.errors import CommandError
from agenthard.flows.judging.exporting import ExportFormat, ExportOutcome, export_requests
from agenthard.flows.judging.judging import ImportOutcome, import_answers, run_judging
from agenthard.models.request import Request
from agenthard.taxonomy.finding import Status
from tests.flows.judging.made import flawed, judging, model, panel, sound, verdict
from tests.loopback import Asked, Loopback, Said, chat, gemini
from tests.loopback.talk import count

TASKS = tuple(f"lib/{n}" for n in range(10))
URL = "http://127.0.0.1:9"
CONTENT = panel([{"model": model("chat", URL)}])


def export(run: Path, file: Path, content: dict[str, Any], form: ExportFormat = "agenthard") -> ExportOutcome:
    return export_requests(judging(run, file.parent / "none", content, tasks=TASKS), file, form)


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def write(file: Path, lines: list[Any]) -> Path:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("".join(text + "\n" for text in texts), encoding="utf-8")
    return file


def imported(run: Path, out: Path, answers: Path, content: dict[str, Any] = CONTENT) -> ImportOutcome:
    return import_answers(judging(run, out, content, tasks=TASKS), answers)


def answer(line: dict[str, Any]) -> str:
    """What the loopback judge would say to an exported request."""
    said = tuple(Said(message["role"], message["text"]) for message in line["request"]["messages"])
    return verdict(Asked("chat", "m", said, schema=line["request"]["output"]["json_schema"])).text


def test_there_and_back_is_the_same_as_asking(audited: Path, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    loopback.service.brain = verdict
    content = panel([{"model": model("chat", loopback.url), "samples": 2}], attempts=1)
    asked = run_judging(judging(audited, tmp_path / "asked", content, tasks=TASKS))
    outcome = export(audited, tmp_path / "requests.jsonl", content)
    lines = read(tmp_path / "requests.jsonl")
    assert outcome.requests == {"j0": len(lines)} == {"j0": 20}
    assert [(line["task"], line["sample"]) for line in lines] == [(task, n) for task in TASKS for n in (0, 1)]
    for line in lines:
        assert Request.model_validate(line["request"]).digest == line["digest"]
    answers = [{"custom_id": line["custom_id"], "answer": answer(line)} for line in lines]
    found = imported(audited, tmp_path / "back", write(tmp_path / "answers.jsonl", answers), content)
    # Refused (8) and cut off (9) are only words in our own format: both are then unreadable.
    assert (
        found.unused == ()
        and found.judging.errors == {"unreadable": 6}
        and asked.errors
        == {
            "refusal": 2,
            "unreadable": 4,
        }
    )
    assert found.judging.panels == asked.panels
    ours, theirs = (
        [finding for finding in read_findings(tmp_path / name) if finding.check == "judge"]
        for name in ("asked", "back")
    )
    assert ours == theirs and len(ours) == 1


def test_every_line_that_cannot_be_used_is_named(audited: Path, tmp_path: Path) -> None:
    export(audited, tmp_path / "requests.jsonl", CONTENT)
    ids = [line["custom_id"] for line in read(tmp_path / "requests.jsonl")]
    other = panel([{"model": model("chat", URL, sampling={"max_output_tokens": 77})}])
    export(audited, tmp_path / "other.jsonl", other)
    changed = read(tmp_path / "other.jsonl")[2]["custom_id"]
    assert changed.split("-")[0] == ids[2].split("-")[0] and changed != ids[2]
    lines = [
        {"custom_id": ids[0], "answer": json.loads(sound())},
        {"custom_id": ids[0], "answer": flawed(5000)},
        "no JSON",
        "",
        {"answer": sound()},
        {"custom_id": "q-strange", "answer": sound()},
        {"custom_id": changed, "answer": sound()},
        {"custom_id": ids[3], "answer": 7},
        {"custom_id": ids[4]},
        {"custom_id": ids[1], "answer": flawed(5001)},
        {"custom_id": ids[5], "answer": "[" * 100_000},
        {"custom_id": ids[6], "answer": sound(), "finish": "refusal"},
        "[" * 100_000,
    ]
    found = imported(audited, tmp_path / "out", write(tmp_path / "answers.jsonl", lines))
    said = {line: reason for line, reason in found.unused}
    assert set(said) == {2, 3, 5, 6, 7, 8, 9, 13}
    assert "line 1 answers this too" in said[2] and "no JSON" in said[3] and "no custom_id" in said[5]
    assert "no question of this run" in said[6] and "another prompt than the one that lib/2" in said[7]
    judged = found.judging
    assert judged.panels == {"flawed": 1, "not_flawed": 1, "uncertain": 0, "error": 2, "not asked": 6}
    assert judged.errors == {"refusal": 1, "unreadable": 1} and judged.not_asked == 6
    status = {row.task_id: row.status for row in read_coverage(tmp_path / "out") if row.check == "judge"}
    assert (status["lib/0"], status["lib/2"], status["lib/5"]) == (Status.CLEAN, Status.NOT_CHECKED, Status.ERROR)
    # What is left can be exported, and its answers join the others.
    left = export_requests(judging(audited, tmp_path / "out", CONTENT, tasks=TASKS), tmp_path / "left.jsonl")
    assert (left.requests, left.answered) == ({"j0": 6}, 4)
    more = [{"custom_id": line["custom_id"], "answer": sound()} for line in read(tmp_path / "left.jsonl")]
    again = imported(audited, tmp_path / "out", write(tmp_path / "more.jsonl", [*more, lines[0]]))
    assert again.judging.not_asked == 0 and again.judging.panels["not_flawed"] == 7
    assert [reason for _, reason in again.unused if "answered before" in reason]


@pytest.mark.parametrize("api", ["chat", "gemini"])
def test_batch_files_of_the_providers(api: str, audited: Path, tmp_path: Path) -> None:
    content = panel([{"model": model(api, URL)}])
    form: ExportFormat = "gemini-batch" if api == "gemini" else "openai-batch"
    export(audited, tmp_path / "batch.jsonl", content, form)
    answers = []
    for line in read(tmp_path / "batch.jsonl"):
        if api == "gemini":
            asked = gemini.read("loop", line["request"])
            body = gemini.write(asked, reply := verdict(asked), count(asked, reply))
            answers.append({"key": line["key"], "response": body})
            continue
        assert set(line) == {"custom_id", "method", "url", "body"} and line["url"] == "/v1/chat/completions"
        asked = chat.read(line["body"])
        body = chat.write(asked, reply := verdict(asked), count(asked, reply))
        response = {"status_code": 200, "request_id": "r", "body": body}
        answers.append({"id": "b", "custom_id": line["custom_id"], "response": response, "error": None})
    failed = {"status_code": 500, "body": {"error": {"message": "it broke", "code": "server_error"}}}
    answers[3] = (
        {"key": answers[3]["key"], "error": {"code": 13, "message": "it broke"}}
        if api == "gemini"
        else {**answers[3], "response": failed}
    )
    found = imported(audited, tmp_path / "out", write(tmp_path / "answers.jsonl", answers), content)
    assert found.unused == ()
    assert found.judging.panels == {"flawed": 1, "not_flawed": 5, "uncertain": 0, "error": 4, "not asked": 0}
    assert found.judging.errors == {"provider": 1, "refusal": 1, "unreadable": 2}


def test_what_cannot_be_exported_is_said(audited: Path, tmp_path: Path) -> None:
    judges = [
        {"model": model("chat", URL)},
        {"model": model("chat", URL), "investigates": True},
        {"model": model("gemini", URL), "context_tokens": 2000},
    ]
    outcome = export(audited, tmp_path / "requests.jsonl", panel(judges))
    assert outcome.requests == {"j0": 10, "j2": 0} and outcome.investigators == ("j1",)
    assert len(outcome.errors) == 10 and "tokens" in next(iter(outcome.errors.values()))
    with pytest.raises(CommandError, match="for one model"):
        export(audited, tmp_path / "x.jsonl", panel(judges), "openai-batch")
    with pytest.raises(CommandError, match="give --format gemini-batch"):
        export(audited, tmp_path / "x.jsonl", panel(judges[2:]), "openai-batch")
    assert not (tmp_path / "x.jsonl").exists()


def test_what_is_asked_later_is_exported_later(audited: Path, tmp_path: Path) -> None:
    strong = {"model": model("chat", URL), "tier": "second"}
    content = panel([{"model": model("chat", URL)}, strong], rebuttal=True)
    out, answers = tmp_path / "out", tmp_path / "answers.jsonl"
    export(audited, tmp_path / "first.jsonl", content)
    rounds = [read(tmp_path / "first.jsonl")]
    for number in range(2):
        lines = [{"custom_id": line["custom_id"], "answer": answer(line)} for line in rounds[-1]]
        found = imported(audited, out, write(answers, lines), content)
        assert found.unused == ()
        later = tmp_path / f"later{number}.jsonl"
        export_requests(judging(audited, out, content, tasks=TASKS), later)
        rounds.append(read(later))
    # Garbage, refusals and cut replies are words here, unreadable ones, and go to the second tier like the flaw.
    assert [(line["task"], line["judge"]) for line in rounds[1]] == [(f"lib/{n}", "j1") for n in (1, 7, 8, 9)]
    assert [(line["task"], line["against"]) for line in rounds[2]] == [("lib/1", "incorrect-tool-call")]
    assert (
        imported(
            audited,
            out,
            write(answers, [{"custom_id": line["custom_id"], "answer": answer(line)} for line in rounds[2]]),
            content,
        ).judging.panels["flawed"]
        == 1
    )
