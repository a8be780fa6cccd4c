"""Quotes in their surroundings."""

import pytest

from agenthard.audit.evidence import text_at
from agenthard.reports.excerpts import CONTEXT, LONGEST_QUOTE, excerpt
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.finding import Evidence
from agenthard.taxonomy.task import EnvironmentSpec
from tests.reports.shop import changed


def of(result: AuditResult, pointer: str, quote: str, task: str = "shop/0") -> tuple[str, str, str]:
    shown = excerpt(result, Evidence(task_id=task, pointer=pointer, quote=quote))
    return shown.before, shown.quote, shown.after


def test_short_value_is_shown_inside_its_call(shop: AuditResult) -> None:
    assert of(shop, "/ground_truth/turns/0/0/arguments/order_id", "17") == (
        '{"name": "cancel_order", "arguments": {"order_id": "W',
        "17",
        '"}}',
    )


def test_value_in_a_list_and_value_that_is_no_string(shop: AuditResult) -> None:
    assert of(shop, "/initial_state/basket/0", "mug") == ('["', "mug", '"]')
    assert of(shop, "/ground_truth/outputs/0", "4", "shop/1") == ('["', "4", '"]')
    before, quote, after = of(shop, "/evaluation/checks/0/scored", "true")
    assert before + quote + after == '{"kind": "output_substring", "scored": true, "expected": "4"}'


def test_text_of_the_user_stands_alone(shop: AuditResult) -> None:
    assert of(shop, "/user/instruction", "order W17") == (
        "I am Ada Moor. Please cancel ",
        "order W17",
        ", it was sent yesterday.",
    )


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


@pytest.mark.parametrize(
    ("pointer", "task"), [("/nowhere/at/all", "shop/0"), ("", "unknown"), ("no pointer", "shop/0")]
)
def test_quote_without_its_record_stands_alone(shop: AuditResult, pointer: str, task: str) -> None:
    assert of(shop, pointer, "quote", task) == ("", "quote", "")


def test_quote_of_a_run(shop: AuditResult) -> None:
    shown = excerpt(shop, shop.findings[3].evidence[0])
    assert shown.quote == "I have refunded it" and "Done! " in shown.before and "gift card" in shown.after


def test_parts_joined_are_the_text(shop: AuditResult) -> None:
    pointer, quote = "/environment/policy", "A refund goes"
    assert "".join(of(shop, pointer, quote)) == text_at(shop.tasks[0], pointer)


def _with_policy(shop: AuditResult, policy: str) -> object:
    return shop.tasks[0].model_copy(update={"environment": EnvironmentSpec(policy=policy)})
