"""Patches that people accept or reject in the review reach the repaired split."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect
from typer.testing import CliRunner

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.native import Native
from agenthard.flows.cli import app
from agenthard.flows.review.store import EventStore
from tests.flows.review.web.served import Server, event
from tests.reports.browsing import Visit

DROPPED, FOUND = "parcels/11", "a38334e9881a"
"""A task whose gold call has a text where a number is documented, and the finding about it."""
PLACE = "/ground_truth/turns/0/0/arguments/weight_grams"


def change(value: object) -> list[dict[str, Any]]:
    return [{"op": "replace", "path": PLACE, "value": value}]


def repair(run: Path, *options: str) -> dict[str, Any]:
    done = CliRunner().invoke(app, ["repair", str(run), "--json", *options])
    assert done.exit_code == 0, done.output
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def line_of(file: Path, task_id: str) -> bytes:
    [found] = [line for line in file.read_bytes().splitlines() if json.loads(line)["id"] == task_id]
    return found


def manifest(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "repair/repaired/manifest.json").read_bytes())
    return found


@pytest.mark.browser
@pytest.mark.long
def test_a_patch_edited_in_the_page_is_in_the_split(
    server: Server, sign_in: Callable[..., Visit], demo_run: Path, demo_audit: Path
) -> None:
    page = sign_in(server, "ana").page
    with server.client("ana") as ana:
        ana.stored(event("reveal", DROPPED))
    page.goto(f"{server.base}/runs/demo/repair?task={DROPPED}")
    expect(page.locator("#trial")).to_contain_text("the finding is gone", timeout=30_000)
    page.locator("#patch-text").fill(json.dumps(change(1250.0)))
    expect(page.get_by_role("button", name="Accept the repair")).to_be_disabled()
    page.locator("#try").click()
    expect(page.locator("#trial .added").last).to_contain_text("1250.0", timeout=30_000)
    page.locator("#repair-reason").fill("As the scale writes it.")
    page.get_by_role("button", name="Accept the repair").click()
    expect(page.locator("main")).to_contain_text("ana has accepted a patch")

    outcome = repair(demo_run)
    [person] = outcome["people"]
    assert (person["by"], person["outcome"], person["refused"]) == ("ana", "accepted", "")
    before = line_of(demo_audit.parent / "demo-benchmark/tasks.jsonl", DROPPED)
    after = line_of(demo_run / "repair/repaired/tasks.jsonl", DROPPED)
    assert after == before.replace(b'"weight_grams": "1250"', b'"weight_grams": 1250.0') != before
    [task] = [each for each in manifest(demo_run)["repaired"] if each["task_id"] == DROPPED]
    [accepted] = task["accepted"]
    assert (accepted["by"], accepted["finding_id"], accepted["reason"]) == ("ana", FOUND, "As the scale writes it.")
    assert accepted["at"] == person["at"] and DROPPED in manifest(demo_run)["kept_ids"]
    [task] = [each for each in Native(demo_run / "repair/repaired").tasks(Quarantine()) if each.id == DROPPED]
    assert task.ground_truth.turns[0][0].arguments["weight_grams"] == 1250


def test_rejected_and_refused_patches_are_listed_and_left_out(server: Server, demo_run: Path, tmp_path: Path) -> None:
    with server.client("ana") as ana, server.client("ben") as ben:
        ana.stored(event("repair", DROPPED, outcome="accepted", patch=change(1250), finding=FOUND))
        rejection = event("repair", DROPPED, outcome="rejected", finding=FOUND, reason="The shop reads texts.")
        ben.stored(rejection)
        outcome = repair(demo_run)
        assert [(each["by"], each["outcome"]) for each in outcome["people"]] == [("ben", "rejected")]
        assert DROPPED not in manifest(demo_run)["kept_ids"]
        ben.stored(event("undo", DROPPED, event=rejection["id"]))
        assert repair(demo_run)["people"][0]["by"] == "ana"
        assert DROPPED in manifest(demo_run)["kept_ids"]

        # A patch that does not help is tried again and refused.
        ana.stored(event("repair", DROPPED, outcome="accepted", patch=change("heavy"), finding=FOUND))
        shown = CliRunner().invoke(app, ["repair", str(demo_run)]).output
        assert f"patch of {DROPPED} accepted by ana" in shown and "not in the split: " in shown
        assert DROPPED not in manifest(demo_run)["kept_ids"]
        ana.stored(event("repair", DROPPED, outcome="accepted", patch=[{"op": "remove", "path": "/x"}], finding=FOUND))
        assert "shared by tasks" in repair(demo_run)["people"][0]["refused"]

    # The task has changed since: the events are of another content.
    with EventStore.of_run(demo_run) as store:
        events = [each.model_copy(update={"content_hash": "another"}) for each in store.since()]
    file = tmp_path / "events.jsonl"
    file.write_text("".join(each.model_dump_json() + "\n" for each in events), encoding="utf-8")
    outcome = repair(demo_run, "--verdicts", str(file))
    assert "has changed since" in outcome["people"][0]["refused"]
    assert DROPPED in manifest(demo_run)["kept_ids"]  # with the patch that the check proposes
    assert all(not each["accepted"] for each in manifest(demo_run)["repaired"])
