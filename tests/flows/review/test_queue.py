"""Named queues on the audit of the demo benchmark."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.commands.queue import EXAMPLE
from agenthard.flows.review.decide import ReviewedRun
from agenthard.flows.review.queue import (
    QueueError,
    QueueRule,
    QueueSettings,
    chosen_tasks,
    load_queue,
    progress,
    queue_names,
    queue_tasks,
    share,
)
from agenthard.flows.review.store import EventStore
from agenthard.taxonomy.finding import Tier
from tests.flows.review.build_events import verdict


def invoke(*words: object) -> str:
    done = CliRunner().invoke(app, list(map(str, words)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def add(queue: Path, run: Path, *words: object) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(invoke("queue", "add", run, "--config", queue, *words, "--json"))
    return found


def test_a_rule_chooses_the_most_urgent_first(demo_audit: Path) -> None:
    audit = ReviewedRun(demo_audit)

    def chosen(**rule: Any) -> list[str]:
        settings = QueueSettings(name="q", rule=QueueRule(**rule), reviewers=("ann",))
        return chosen_tasks(settings, audit.findings, audit.decisions)

    action = {decision.task_id: decision.action for decision in audit.decisions}
    assert chosen(check=["call-schema"]) == ["parcels/11", "library/9"]  # confirmed before suspected
    assert chosen(check=["call-schema"], tier=["suspected"]) == ["library/9"]
    assert {action[task_id] for task_id in chosen(action=["drop"])} == {"drop"}
    assert chosen(check=["call-schema"], category=["no-such-category"]) == []
    assert set(chosen(level=["environment"])) < set(chosen())
    signals = {task for f in audit.findings if f.tier is Tier.SIGNAL for task in f.task_ids}
    assert set(chosen(tier=["signal"], severity=["may_affect_score", "cosmetic"])) == signals


def test_adding_a_run_again_adds_only_what_is_new(demo_run: Path, tmp_path: Path) -> None:
    queue = write(tmp_path / "queue.yaml", EXAMPLE + "most: 3\n")
    first = add(queue, demo_run)
    assert (first["tasks"], first["added"]) == (3, 4) and first["matching"] > 3
    rest = add(queue, demo_run)
    assert rest["tasks"] == 6 and rest["added"] == 4
    add(queue, demo_run)
    assert add(queue, demo_run)["added"] == 0
    whole = json.loads((demo_run / "queues" / "score-flaws.json").read_text())
    assert whole["instructions"].startswith("Could a right agent") and whole["reviewers"] == ["ann", "bob"]
    assert (
        add(write(tmp_path / "other.yaml", EXAMPLE.replace("score-flaws", "new")), demo_run, "--baseline", demo_run)[
            "matching"
        ]
        == 0
    )


def test_a_finished_queue_exports_as_labels(demo_run: Path, tmp_path: Path) -> None:
    queue = write(tmp_path / "queue.yaml", EXAMPLE)
    add(queue, demo_run)
    contents = ReviewedRun(demo_run).contents
    with EventStore.of_run(demo_run) as store:
        state = store.state("demo", contents)
        assert queue_names(state) == ["score-flaws"] and not progress(state, "score-flaws").finished
        pairs = [(task, by) for task, reviewers in queue_tasks(state, "score-flaws").items() for by in reviewers]
        store.append([verdict(task, "yes", by, contents["task", task]) for task, by in pairs])
        store.append([verdict("library/0", "no", "ann", contents["task", "library/0"])])
        assert progress(store.state("demo", contents), "score-flaws").finished
    shown = json.loads(invoke("queue", "show", demo_run, "--json"))
    assert shown[0]["done"] == shown[0]["assignments"] == len(pairs) and shown[0]["finished"]
    assert "score-flaws" in invoke("queue", "show", demo_run)
    out = tmp_path / "labels.jsonl"
    invoke("verdicts", "export", demo_run, "--queue", "score-flaws", "--format", "labels", "--out", out)
    labels = [json.loads(line) for line in out.read_text().splitlines()]
    assert sorted((line["task_id"], line["annotator"]) for line in labels) == sorted(pairs)
    assert json.loads(invoke("align", "score", demo_run, out, "--json"))["labels"]["annotators"] == ["ann", "bob"]


def test_the_example_is_valid_and_wrong_files_are_refused(tmp_path: Path) -> None:
    invoke("queue", "init", tmp_path / "queue.yaml")
    assert load_queue(tmp_path / "queue.yaml").overlap == 0.2
    for text, words in (
        ("name: Wrong Name\nreviewers: [a]", "name"),
        ("name: a\nreviewers: []", "reviewers"),
        ("name: a\nreviewers: [a]\nrule: {tier: [sure]}", "tier"),
        ("name: a\nreviewers: [a]\ncolour: red", "colour"),
    ):
        with pytest.raises(QueueError, match=words):
            load_queue(write(tmp_path / "wrong.yaml", text))


def test_without_a_configuration_all_flagged_tasks_are_shared(demo_run: Path) -> None:
    found = json.loads(invoke("queue", "add", demo_run, "--reviewer", "ann", "--reviewer", "bob", "--json"))
    audit = ReviewedRun(demo_run)
    assert found["name"] == "flagged" and found["tasks"] == found["matching"] == len(
        {task for f in audit.findings if f.tier is not Tier.SIGNAL and f.severity != "cosmetic" for task in f.task_ids}
    )
    refused = CliRunner().invoke(app, ["queue", "add", str(demo_run)])
    assert isinstance(refused.exception, QueueError) and "--reviewer" in str(refused.exception)


def test_shares_are_even_repeatable_and_everyone_meets_everyone() -> None:
    tasks = [f"t{n}" for n in range(60)]
    pairs = share(tasks, ["a", "b", "c", "d"], 0.5, "seed")
    assert pairs == share(tasks, ["a", "b", "c", "d"], 0.5, "seed") != share(tasks, ["a", "b", "c", "d"], 0.5, "else")
    assert len(pairs) == 90 and len(set(pairs)) == 90
    by_task: dict[str, list[str]] = {}
    for task, by in pairs:
        by_task.setdefault(task, []).append(by)
    met = Counter(frozenset(people) for people in by_task.values() if len(people) == 2)
    assert sum(met.values()) == 30 and len(met) == 6
    assert share(tasks, ["a"], 1.0, "") == [(task, "a") for task in tasks]
