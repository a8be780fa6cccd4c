"""Which orders may be cancelled, modified, returned and exchanged, for whom, and how they are paid."""

from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.retail.records import Json, balance_covers, methods, order
from agenthard.audit.execution.policy.rule import Outcome, RuleBook, RuleViolation

BOOK = RuleBook("retail")

MODIFYING = ("modify_pending_order_address", "modify_pending_order_payment", "modify_pending_order_items")
CHANGING = (
    *MODIFYING,
    "cancel_pending_order",
    "return_delivered_order_items",
    "exchange_delivered_order_items",
    "modify_user_address",
)
FINDING = ("find_user_id_by_email", "find_user_id_by_name_zip")


def _needs_status(case: PolicyCase, wanted: str, verb: str) -> Outcome:
    found = order(case)
    if found["status"] == wanted:
        return None
    if case.before("modify_pending_order_items") and found["status"].startswith("pending (item"):
        return None  # it was pending until its items were modified, which a rule of its own looks at
    key = found["order_id"]
    return RuleViolation(
        claim=f"The ground truth {verb} {key}, which is {found['status']}.",
        facts=case.recorded("orders", key, "status", note=f"status of {key}"),
    )


@BOOK.rule(
    "only-pending-orders-are-cancelled",
    tools=("cancel_pending_order",),
    sentences=("An order can only be cancelled if its status is 'pending'",),
)
def only_pending_orders_are_cancelled(case: PolicyCase) -> Outcome:
    """An order is cancelled only while it is pending."""
    return _needs_status(case, "pending", "cancels")


@BOOK.rule(
    "only-pending-orders-are-modified",
    tools=MODIFYING,
    sentences=("An order can only be modified if its status is 'pending'",),
)
def only_pending_orders_are_modified(case: PolicyCase) -> Outcome:
    """An order is modified only while it is pending."""
    return _needs_status(case, "pending", "modifies")


@BOOK.rule(
    "only-delivered-orders-are-returned",
    tools=("return_delivered_order_items",),
    sentences=("An order can only be returned if its status is 'delivered'",),
)
def only_delivered_orders_are_returned(case: PolicyCase) -> Outcome:
    """Items are returned only when the order is delivered, and no exchange was asked for."""
    return _needs_status(case, "delivered", "returns items of")


@BOOK.rule(
    "only-delivered-orders-are-exchanged",
    tools=("exchange_delivered_order_items",),
    sentences=("An order can only be exchanged if its status is 'delivered'",),
)
def only_delivered_orders_are_exchanged(case: PolicyCase) -> Outcome:
    """Items are exchanged only when the order is delivered, and no return was asked for."""
    return _needs_status(case, "delivered", "exchanges items of")


@BOOK.rule(
    "cancelled-for-an-accepted-reason",
    tools=("cancel_pending_order",),
    sentences=("the reason (either 'no longer needed' or 'ordered by mistake') for cancellation",),
)
def cancelled_for_an_accepted_reason(case: PolicyCase) -> Outcome:
    """An order is cancelled as no longer needed or as ordered by mistake."""
    reason = case.arguments["reason"]
    if reason in ("no longer needed", "ordered by mistake"):
        return None
    return RuleViolation(claim=f"The ground truth cancels an order for the reason {reason!r}.")


@BOOK.rule(
    "order-gets-another-payment-method",
    tools=("modify_pending_order_payment",),
    sentences=("The user can only choose a single payment method different from the original payment method.",),
)
def order_gets_another_payment_method(case: PolicyCase) -> Outcome:
    """The new payment method of an order is one of the user's, and not the original one."""
    key, chosen = case.arguments["order_id"], case.arguments["payment_method_id"]
    original = order(case)["payment_history"][0]["payment_method_id"]
    if chosen != original and chosen in methods(case):
        return None
    what = "its original payment method" if chosen == original else "which its user does not have"
    return RuleViolation(
        claim=f"The ground truth pays {key} with {chosen}, {what}.",
        facts=(case.given("payment_method_id"), *case.recorded("orders", key, "payment_history")),
    )


@BOOK.rule(
    "gift-card-covers-the-order",
    tools=("modify_pending_order_payment",),
    sentences=(
        "If the user wants the modify the payment method to gift card, it must have enough balance to cover the total "
        "amount.",
    ),
)
def gift_card_covers_the_order(case: PolicyCase) -> Outcome:
    """A gift card that an order is to be paid with covers its total."""
    chosen, total = case.arguments["payment_method_id"], order(case)["payment_history"][0]["amount"]
    return balance_covers(case, chosen, total)


@BOOK.rule(
    "refund-goes-back-or-to-a-gift-card",
    tools=("return_delivered_order_items",),
    sentences=("The refund must either go to the original payment method, or an existing gift card.",),
)
def refund_goes_back_or_to_a_gift_card(case: PolicyCase) -> Outcome:
    """A return is refunded to the original payment method or to a gift card of the user."""
    chosen, history = case.arguments["payment_method_id"], order(case)["payment_history"]
    if chosen in {entry["payment_method_id"] for entry in history if entry["transaction_type"] == "payment"}:
        return None
    if methods(case).get(chosen, {}).get("source") == "gift_card":
        return None
    key = case.arguments["order_id"]
    return RuleViolation(
        claim=f"The ground truth refunds a return of {key} to {chosen}, neither what was paid with nor a gift card of "
        "the user.",
        facts=(case.given("payment_method_id"), *case.recorded("orders", key, "payment_history")),
    )


@BOOK.rule(
    "one-user-is-helped",
    tools=CHANGING,
    sentences=(
        "You can only help one user per conversation (but you can handle multiple requests from the same user), and "
        "must deny any requests for tasks related to any other user.",
    ),
)
def one_user_is_helped(case: PolicyCase) -> Outcome:
    """All orders and addresses that a ground truth changes are of the user whom it looked up, and of one user."""
    owner = _owner(case, case.arguments)
    for made in case.before(*FINDING, *CHANGING):
        other = made.text if made.call.name in FINDING else _owner(case, made.call.arguments)
        if other != owner:
            return RuleViolation(
                claim=f"The ground truth calls {case.call.name} for {owner}, but {made.call.name} for {other}.",
                facts=(case.made(made, note=f"about {other}"),),
            )
    return None


def _owner(case: PolicyCase, arguments: Json) -> str:
    """Return the user of the order, or of the address, that a call changes."""
    return str(arguments.get("user_id") or case.record("orders", arguments["order_id"])["user_id"])
