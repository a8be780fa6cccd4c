"""Each rule of the shop: a ground truth that breaks it, and one that keeps it."""

import pytest

from agenthard.audit.evidence import failure
from agenthard.audit.execution.policy import CannotTell, Outcome, RuleViolation, check_calls
from agenthard.audit.execution.policy.checker import rules_for
from agenthard.taxonomy import Severity, ToolCall
from tests.audit.execution.policy.conftest import call, environment_of, make_task, policy, retail_tables


def outcomes(calls: list[ToolCall], benchmark: str = "tau2", wording: int = 0) -> dict[str, list[Outcome]]:
    task = make_task("retail", retail_tables(), calls, benchmark=benchmark, rules=policy("retail", wording))
    found: dict[str, list[Outcome]] = {}
    for step in check_calls(task, environment_of(benchmark), rules_for(task)):
        for item in step.judgements:
            found.setdefault(item.rule, []).append(item.outcome)
    every = [outcome for said in found.values() for outcome in said]
    facts = [fact for outcome in every if isinstance(outcome, RuleViolation) for fact in outcome.facts]
    assert [problem for fact in facts if (problem := failure(fact, task, {}))] == []
    return found


def broken(found: dict[str, list[Outcome]]) -> set[str]:
    return {rule for rule, said in found.items() if any(isinstance(outcome, RuleViolation) for outcome in said)}


def cancel(order_id: str, reason: str = "no longer needed") -> ToolCall:
    return call("cancel_pending_order", order_id=order_id, reason=reason)


def swap(tool: str, order_id: str, items: dict[str, str], method: str = "paypal") -> ToolCall:
    given = {"order_id": order_id, "item_ids": list(items), "new_item_ids": list(items.values())}
    return call(tool, **given, payment_method_id=method)


def modify(order_id: str, items: dict[str, str], method: str = "paypal") -> ToolCall:
    return swap("modify_pending_order_items", order_id, items, method)


def exchange(order_id: str, items: dict[str, str], method: str = "paypal") -> ToolCall:
    return swap("exchange_delivered_order_items", order_id, items, method)


def give_back(order_id: str, *items: str, method: str = "paypal") -> ToolCall:
    return call("return_delivered_order_items", order_id=order_id, item_ids=list(items), payment_method_id=method)


def pay(order_id: str, method: str) -> ToolCall:
    return call("modify_pending_order_payment", order_id=order_id, payment_method_id=method)


ADDRESS = {"address1": "2 Oak Road", "address2": "", "city": "Ghent", "country": "USA", "state": "NY", "zip": "2"}


def send_to(order_id: str) -> ToolCall:
    return call("modify_pending_order_address", order_id=order_id, **ADDRESS)


def move(user_id: str) -> ToolCall:
    return call("modify_user_address", user_id=user_id, **ADDRESS)


FIND_BEN = call("find_user_id_by_email", email="ben@x.org")
FIND_NOBODY = call("find_user_id_by_email", email="nobody@x.org")

KEPT = [
    [FIND_NOBODY, FIND_BEN, cancel("#P", "ordered by mistake")],
    [send_to("#P"), pay("#P", "rich"), modify("#P", {"11": "12", "21": "22"}), move("ben")],
    [modify("#P", {"11": "12"}, "rich")],
    [modify("#P", {"21": "22"}, "poor")],
    [exchange("#D", {"11": "12"}, "credit_card"), modify("#P", {"11": "12"})],
    [give_back("#D", "11", "21")],
    [give_back("#D", "11", method="poor")],
]

BROKEN = [
    ([cancel("#D")], {"only-pending-orders-are-cancelled"}),
    ([cancel("#P"), cancel("#P")], {"only-pending-orders-are-cancelled"}),
    ([send_to("#D")], {"only-pending-orders-are-modified"}),
    ([give_back("#P", "11")], {"only-delivered-orders-are-returned"}),
    ([exchange("#D", {"11": "12"}), give_back("#D", "21")], {"only-delivered-orders-are-returned"}),
    ([exchange("#P", {"11": "12"})], {"only-delivered-orders-are-exchanged"}),
    ([cancel("#P", "too slow")], {"cancelled-for-an-accepted-reason"}),
    ([pay("#P", "paypal")], {"order-gets-another-payment-method"}),
    ([pay("#P", "cash")], {"order-gets-another-payment-method"}),
    ([pay("#P", "poor")], {"gift-card-covers-the-order"}),
    ([give_back("#D", "11", method="credit_card")], {"refund-goes-back-or-to-a-gift-card"}),
    ([cancel("#P"), cancel("#C")], {"one-user-is-helped"}),
    ([FIND_BEN, move("cat")], {"one-user-is-helped"}),
    ([give_back("#D", "11", "11")], {"items-are-of-the-order"}),
    ([exchange("#D", {"11": "13"})], {"new-item-is-available"}),
    ([exchange("#D", {"11": "22"})], {"new-item-is-of-the-same-product"}),
    ([exchange("#D", {"11": "11"})], {"new-item-differs"}),
    (
        [exchange("#D", {"11": "12"}), exchange("#D", {"21": "22"})],
        {"items-are-swapped-once", "only-delivered-orders-are-exchanged"},
    ),
    ([modify("#P", {"11": "12"}), modify("#P", {"21": "22"})], {"items-are-swapped-once"}),
    ([modify("#P", {"11": "12"}), send_to("#P")], {"items-are-modified-last"}),
    ([modify("#P", {"11": "12"}), cancel("#P")], {"items-are-modified-last"}),
    ([modify("#P", {"11": "12"}, "cash")], {"swap-is-paid-by-the-user"}),
    ([modify("#P", {"11": "12"}, "poor")], {"gift-card-covers-the-difference"}),
]


@pytest.mark.parametrize("wording", [0, -1])
@pytest.mark.parametrize("calls", KEPT, ids=lambda calls: "-".join(one.name for one in calls)[:60])
def test_kept(calls: list[ToolCall], wording: int, benchmark_name: str) -> None:
    found = outcomes(calls, benchmark_name, wording)
    assert found and all(outcome is None for said in found.values() for outcome in said)


@pytest.mark.parametrize("wording", [0, -1])
@pytest.mark.parametrize(("calls", "rules"), BROKEN, ids=lambda value: "-".join(sorted(map(str, value)))[:60])
def test_broken(calls: list[ToolCall], rules: set[str], wording: int, benchmark_name: str) -> None:
    assert broken(outcomes(calls, benchmark_name, wording)) == rules


def test_every_rule_is_broken_by_some_example() -> None:
    shown = {rule for _, rules in BROKEN for rule in rules}
    assert {rule.id for rule in rules_for(make_task("retail", retail_tables(), []))} == shown


def test_an_address_after_the_items_is_only_the_wrong_order_of_calls() -> None:
    def severity(last: ToolCall) -> Severity | None:
        outcome = outcomes([modify("#P", {"11": "12"}), last])["items-are-modified-last"][-1]
        assert isinstance(outcome, RuleViolation)
        return outcome.severity

    assert severity(send_to("#P")) is Severity.MAY_AFFECT_SCORE
    assert severity(cancel("#P")) is None


def test_the_difference_to_an_unknown_item_cannot_be_told() -> None:
    [outcome] = outcomes([exchange("#D", {"11": "99"})])["gift-card-covers-the-difference"]
    assert isinstance(outcome, CannotTell)
