"""From evidence to file and line.

Quotes in their surroundings.
"""

import gzip
import json
from pathlib import Path

import pytest

from agenthard.audit.evidence import text_at
from agenthard.audit.native_text import origin_of
from agenthard.reports.page_data import quote_view
from agenthard.reports.places import CONTEXT, LONGEST_QUOTE, Place, Places
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import Check, EnvironmentSpec, EvaluationSpec, Signature, ToolSpec
from tests.reports.shop import changed


def evidence(pointer: str, quote: str = "x") -> Evidence:
    return Evidence(task_id="shop/0", pointer=pointer, quote=quote)


def test_longest_prefix_counts_and_the_rest_is_appended(shop: AuditResult) -> None:
    task = shop.tasks[0]
    assert origin_of(task, "/ground_truth/turns/0/1/arguments") == Origin(
        file="tasks.json", pointer="/0/actions/1/arguments"
    )
    assert origin_of(task, "/metadata/difficulty") == Origin(file="tasks.json", pointer="/0/metadata/difficulty")
    assert origin_of(task.model_copy(update={"origins": {}}), "/metadata") is None


def test_tool_and_its_code_have_places_of_their_own(shop: AuditResult) -> None:
    code = Signature(parameters=("a",), source="def cancel(a):", origin=Origin(file="api.py", line=12))
    documented = ToolSpec(name="t", origin=Origin(file="tools.jsonl", line=3), implementation=code)
    environment = EnvironmentSpec(tools=(documented,), user_tools=(ToolSpec(name="u"),))
    task = shop.tasks[0].model_copy(update={"environment": environment})
    assert origin_of(task, "/environment/tools/0/description") == Origin(
        file="tools.jsonl", line=3, pointer="/description"
    )
    assert origin_of(task, "/environment/tools/0/implementation/source") == Origin(file="api.py", line=12)
    assert origin_of(task, "/environment/user_tools/0/name") == Origin(
        file="tasks.json", pointer="/0/environment/user_tools/0/name"
    )
    assert origin_of(task, "/environment/tools/9/name") == Origin(
        file="tasks.json", pointer="/0/environment/tools/9/name"
    )


def test_line_in_an_array_an_object_a_text_and_a_log(shop: AuditResult) -> None:
    places = Places(shop)
    lines = (shop.root / "tasks.json").read_text(encoding="utf-8").splitlines()
    for i, task in enumerate(shop.tasks):
        place = places.of_task(task)
        assert place is not None and place.line is not None
        assert lines[place.line - 1].strip() == "{" and lines[place.line].strip() == f'"id": {i},'
    assert places.of(evidence("/environment/policy", "A refund goes")) == Place("policy.md", 6)
    assert places.of(evidence("/environment/policy", "not there")) == Place("policy.md", None)
    assert places.of(shop.findings[3].evidence[0]) == Place("runs.jsonl", 4, of_run=True)
    assert str(Place("a", 3)) == "a:3" and str(Place("a", None)) == "a"


def test_odd_files_never_stop_a_report(shop: AuditResult) -> None:
    (shop.root / "broken.json").write_text('{"a": [1,', encoding="utf-8")
    (shop.root / "packed.json.gz").write_bytes(gzip.compress(json.dumps({"a": 1, "b": 2}, indent=1).encode()))
    (shop.root / "cut.json.gz").write_bytes(gzip.compress(b"{}" * 99)[:20])
    (shop.root.parent / "secret.json").write_text("{}", encoding="utf-8")
    expected = {
        Origin(file="gone.json"): None,
        Origin(file="../secret.json"): None,
        Origin(file="cut.json.gz"): None,
        Origin(file="broken.json", pointer="/b"): None,
        Origin(file="packed.json.gz", pointer="/b"): 3,
        Origin(file="anything.jsonl", line=7): 7,
    }
    for origin, line in expected.items():
        tasks = [shop.tasks[0].model_copy(update={"origins": {"": origin}}), *shop.tasks[1:]]
        place = Places(changed(shop, tasks=tasks)).of(evidence(""))
        assert place == Place(origin.file, line), origin.file


def test_place_of_a_run_that_is_not_at_hand_is_unknown(shop: AuditResult) -> None:
    item = Evidence(task_id="shop/0", trajectory_id="elsewhere", pointer="/messages/0/content", quote="x")
    assert Places(shop).of(item) is None


def test_every_file_is_read_once(shop: AuditResult, tmp_path: Path) -> None:
    places = Places(shop)
    first = places.of(evidence("/environment/policy", "Greet"))
    (shop.root / "policy.md").unlink()
    assert places.of(evidence("/environment/policy", "Greet")) == first


def of(result: AuditResult, pointer: str, quote: str, task: str = "shop/0") -> tuple[str, str, str]:
    shown = Places(result).excerpt(Evidence(task_id=task, pointer=pointer, quote=quote))
    return shown.before, shown.quote, shown.after


def test_short_value_is_shown_inside_the_json_of_its_file(shop: AuditResult) -> None:
    before, quote, after = of(shop, "/ground_truth/turns/0/0/arguments/order_id", "17")
    text = (shop.root / "tasks.json").read_text(encoding="utf-8")
    assert before.endswith('"kwargs": {\n          "order_id": "W') and quote == "17" and after.startswith('"\n')
    assert before + quote + after in text


def test_value_in_a_list_and_value_that_is_no_string(shop: AuditResult) -> None:
    assert of(shop, "/initial_state/basket/0", "mug") == ('["', "mug", '"]')
    assert of(shop, "/ground_truth/outputs/0", "4", "shop/1") == ('["', "4", '"]')
    before, quote, after = of(shop, "/evaluation/checks/0/scored", "true")
    assert before + quote + after == '{"kind": "output_substring", "scored": true, "expected": "4"}'


def test_text_of_the_user_stands_alone(shop: AuditResult) -> None:
    before, quote, after = of(shop, "/user/instruction", "order W17")
    assert before.endswith("I am Ada Moor. Please cancel ") and quote == "order W17"
    assert after.startswith(", it was sent yesterday.")


def test_line_breaks_are_written_as_json_inside_json(shop: AuditResult) -> None:
    task = shop.tasks[0].model_copy(update={"metadata": {"deep": {"note": 'a\n"b"'}}})
    result = changed(shop, tasks=[task, *shop.tasks[1:]])
    assert of(result, "/metadata/deep/note", '\n"b') == ('{"note": "a', '\\n\\"b', '\\""}')


def test_long_text_is_cut_on_both_sides(shop: AuditResult) -> None:
    policy = "a" * 1000 + "NEEDLE" + "b" * 1000
    result = changed(shop, tasks=[_with_policy(shop, policy), *shop.tasks[1:]])
    before, quote, after = of(result, "/environment/policy", "NEEDLE")
    assert (before, quote, after) == ("… " + "a" * CONTEXT, "NEEDLE", "b" * CONTEXT + " …")
    _, quote, _ = of(result, "/environment/policy", policy)
    assert len(quote) < LONGEST_QUOTE + 50 and "[… 506 characters …]" in quote


def test_large_parent_is_not_written_out(shop: AuditResult) -> None:
    task = shop.tasks[0].model_copy(update={"initial_state": {"rows": {str(i): "row" for i in range(10_000)}}})
    result = changed(shop, tasks=[task, *shop.tasks[1:]])
    assert of(result, "/initial_state/rows/7", "row") == ("", "row", "")


@pytest.mark.parametrize(("pointer", "task"), [("/nowhere/at/all", "shop/0"), ("", "unknown")])
def test_quote_without_its_record_stands_alone(shop: AuditResult, pointer: str, task: str) -> None:
    assert of(shop, pointer, "quote", task) == ("", "quote", "")


def test_quote_of_a_run(shop: AuditResult) -> None:
    shown = Places(shop).excerpt(shop.findings[3].evidence[0])
    assert shown.quote == "I have refunded it" and "Done! " in shown.before and "gift card" in shown.after


def test_parts_joined_are_the_text(shop: AuditResult) -> None:
    pointer, quote = "/environment/policy", "A refund goes"
    assert "".join(of(shop, pointer, quote)) == text_at(shop.tasks[0], pointer)


def _with_policy(shop: AuditResult, policy: str) -> object:
    return shop.tasks[0].model_copy(update={"environment": EnvironmentSpec(policy=policy)})


def test_how_runs_are_scored_is_said_in_words_without_a_place(shop: AuditResult) -> None:
    check = Check(kind="final_state", scored=True, note="the database must be as after the ground truth")
    task = shop.tasks[0].model_copy(update={"evaluation": EvaluationSpec(checks=(check,))})
    result = changed(shop, tasks=[task, *shop.tasks[1:]])
    item = evidence("/evaluation/checks/0", text_at(task, "/evaluation/checks/0"))
    assert Places(result).excerpt(item).quote == f"Final state, scored: {check.note}"
    assert quote_view(result, Places(result), item)["place"] == ""
