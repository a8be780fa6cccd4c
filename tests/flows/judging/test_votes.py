"""Readings put to the vote, over the loopback server and through files."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agenthard.flows import shard_worker
from agenthard.flows.audited_run import read_findings
from agenthard.flows.judging.exchange import export_requests
from agenthard.flows.judging.run import import_answers, run_judging
from agenthard.flows.judging.store import AnswerStore
from agenthard.taxonomy import AgentTask, Finding, Tier
from tests.flows.judging.made import audit, judging, model, panel
from tests.library import desk_task, lend, library_desk
from tests.loopback import Answer, Asked, Loopback

pytestmark = pytest.mark.usefixtures(library_desk.__name__)


def case(number: int) -> AgentTask:
    return desk_task(lend("b7"), id=f"lib/{number}", says=f"Case {number}: lend ada a book.", subtask="lending")


@pytest.fixture
def audited_desk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "library"
    folder.mkdir()
    lines = [case(number).model_dump_json(exclude={"origins"}) for number in range(2)]
    (folder / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    yield audit(folder, tmp_path / "run")
    shard_worker._execution.cache_clear()  # this process audits with the desk until then


def ambiguous() -> str:
    """A verdict that writes both readings as calls."""
    readings = [
        {
            "meaning": f"any book, such as {book}",
            "right": True,
            "calls": [
                {
                    "turn": 0,
                    "tool": "lend_book",
                    "requestor": "assistant",
                    "arguments": json.dumps({"book": book, "member": "ada", "kind": "short"}),
                }
            ],
            "says": [],
        }
        for book in ("b7", "b8")
    ]
    issue = {
        "category": "ambiguous-instruction",
        "claim": "Two books are free, and the user names none.",
        "reasoning_summary": "A run that lends the other one fails.",
        "severity": "affects_score",
        "confidence": 0.8,
        "evidence": [
            {"passage": "/user/turns/0/0/content", "quote": "lend ada a book", "shows": "no book is named"},
            {"passage": "/ground_truth/turns/0/0", "quote": '"book":"b7"', "shows": "one is taken"},
        ],
        "fix": "",
        "patch": [],
        "readings": readings,
        "goal": [],
    }
    return json.dumps({"reasoning": "r", "outcome": "flawed", "because": "", "issues": [issue]})


def ballot(said: str, wrong: str = "") -> str:
    """Finds every run right but the one that lends a given book."""
    runs = re.findall(r"<<<\w+ run ([A-H])\n(.*)", said)
    votes = [{"run": name, "right": "no" if wrong and wrong in made else "yes", "because": "so"} for name, made in runs]
    return json.dumps({"reasoning": "r", "votes": votes})


def brain(asked: Asked, wrong: str = "") -> Answer:
    votes = bool(asked.schema and "votes" in asked.schema["properties"])
    return Answer(text=ballot(asked.said[-1].text, wrong) if votes else ambiguous())


def found(out: Path) -> list[Finding]:
    return [finding for finding in read_findings(out) if finding.check == "judge"]


def content(loopback: Loopback, **rules: Any) -> dict[str, Any]:
    return panel([{"model": model("chat", loopback.url)}], **rules)


def test_readers_confirm_what_the_replay_bears_out(
    audited_desk: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.brain = brain
    settings = judging(audited_desk, tmp_path / "judged", content(loopback))
    outcome = run_judging(settings)
    assert outcome.findings["confirmed"] == 2
    [one, _] = found(tmp_path / "judged")
    assert one.tier is Tier.CONFIRMED and one.proof is not None and not one.proof.passes
    assert one.proof.evaluator == "library desk 1"
    assert '/books/b8/lent_to: null → "ada"' in one.why and "The evaluator rejects it" in one.why
    asked = loopback.service.counts.received
    assert run_judging(settings).findings["confirmed"] == 2
    assert loopback.service.counts.received == asked, "ballots are kept, and nothing is asked twice"
    store = AnswerStore(settings.folder.store)
    assert [cast.number for cast in store.ballots("lib/0")] == [0, 1]
    store.close()


def test_readers_who_find_a_reading_wrong_lower_the_issue(
    audited_desk: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.brain = lambda asked: brain(asked, wrong='"b8"')
    outcome = run_judging(judging(audited_desk, tmp_path / "judged", content(loopback)))
    assert (outcome.findings["signal"], outcome.panels["uncertain"]) == (2, 2)
    assert "independent readers do not bear it out" in found(tmp_path / "judged")[0].why


def test_without_votes_the_finding_stays_suspected(
    audited_desk: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    loopback.service.brain = brain
    outcome = run_judging(judging(audited_desk, tmp_path / "judged", content(loopback, votes=0)))
    assert outcome.findings["suspected"] == 2


def test_an_unreadable_ballot_is_kept_as_an_error_and_asked_again(
    audited_desk: Path, loopback: Loopback, keys: str, tmp_path: Path
) -> None:
    def garbage(asked: Asked) -> Answer:
        votes = asked.schema and "votes" in asked.schema["properties"]
        return Answer(text="I cannot say.") if votes else brain(asked)

    loopback.service.brain = garbage
    settings = judging(audited_desk, tmp_path / "judged", content(loopback, attempts=1))
    assert run_judging(settings).findings["suspected"] == 2
    loopback.service.brain = brain
    assert run_judging(settings).findings["suspected"] == 2
    again = judging(audited_desk, tmp_path / "judged", content(loopback, attempts=1), retry=True)
    assert run_judging(again).findings["confirmed"] == 2


def test_ballots_travel_through_files(audited_desk: Path, loopback: Loopback, keys: str, tmp_path: Path) -> None:
    settings = judging(audited_desk, tmp_path / "judged", content(loopback))

    def exported(name: str) -> list[dict[str, Any]]:
        export_requests(settings, tmp_path / name)
        return [json.loads(line) for line in (tmp_path / name).read_text(encoding="utf-8").splitlines()]

    def imported(name: str, answers: list[dict[str, Any]]) -> dict[str, int]:
        (tmp_path / name).write_text("".join(f"{json.dumps(line)}\n" for line in answers), encoding="utf-8")
        outcome = import_answers(settings, tmp_path / name)
        assert outcome.unused == ()
        return outcome.judging.findings

    first = exported("verdicts.jsonl")
    assert imported("1.jsonl", [{"custom_id": line["custom_id"], "answer": ambiguous()} for line in first])["suspected"]
    second = exported("ballots.jsonl")
    assert [(line["votes_on"], line["sample"]) for line in second] == [("ambiguous-instruction", n) for n in (0, 1)] * 2
    texts = [line["request"]["messages"][-1]["text"] for line in second]
    answers = [
        {"custom_id": line["custom_id"], "answer": ballot(text)} for line, text in zip(second, texts, strict=True)
    ]
    assert imported("2.jsonl", answers)["confirmed"] == 2
    assert exported("nothing.jsonl") == []
