"""The shop's records as its rules need them."""

from typing import Any

from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.rule import Outcome, RuleViolation

Json = dict[str, Any]

SWAPPING = ("modify_pending_order_items", "exchange_delivered_order_items")
"""Tools that replace items."""
CENT = 0.005
"""Amounts that differ by less are the same."""


def order(case: PolicyCase) -> Json:
    """Return the order that the call is about."""
    return case.record("orders", case.arguments["order_id"])


def methods(case: PolicyCase) -> dict[str, Json]:
    """Return the payment methods of the order's user, by id."""
    found: dict[str, Json] = case.record("users", order(case)["user_id"])["payment_methods"]
    return found


def balance_covers(case: PolicyCase, chosen: str, amount: float) -> Outcome:
    """Tell whether a payment method, if it is a gift card, holds an amount in dollars."""
    method = methods(case).get(chosen, {})
    if method.get("source") != "gift_card" or method["balance"] + CENT >= amount:
        return None
    path = ("users", order(case)["user_id"], "payment_methods", chosen)
    return RuleViolation(
        claim=f"The ground truth takes {amount:.2f} from {chosen}, whose balance is {method['balance']:.2f}.",
        facts=(case.given("payment_method_id"), *case.recorded(*path)),
    )
