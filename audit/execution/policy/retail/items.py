"""Which items may be modified, exchanged and returned, and how often."""

from agenthard.audit.execution.policy.case import PolicyCase
from agenthard.audit.execution.policy.retail.records import SWAPPING, Json, balance_covers, methods, order
from agenthard.audit.execution.policy.rule import CannotTell, Outcome, RuleBook, RuleViolation
from agenthard.taxonomy.finding import Severity

BOOK = RuleBook("retail")

_OF_SAME_PRODUCT = (
    "For a pending order, each item can be modified to an available new item of the same product but of different "
    "product option.",
    "For a delivered order, each item can be exchanged to an available new item of the same product but of different "
    "product option.",
)


def _swaps(case: PolicyCase) -> list[tuple[Json, str]]:
    """Return the items of the order that the call replaces, each with the id of the new item."""
    items = {item["item_id"]: item for item in order(case)["items"]}
    pairs = zip(case.arguments["item_ids"], case.arguments["new_item_ids"], strict=True)
    return [(items[old], new) for old, new in pairs if old in items]


def _variants(case: PolicyCase, item: Json) -> dict[str, Json]:
    variants: dict[str, Json] = case.record("products", item["product_id"])["variants"]
    return variants


@BOOK.rule(
    "items-are-of-the-order",
    tools=(*SWAPPING, "return_delivered_order_items"),
    sentences=(
        "The user needs to confirm the order id and the list of items to be returned.",
        "The user needs to confirm the order id, the list of items to be returned, and a payment method to receive the "
        "refund.",
    ),
)
def items_are_of_the_order(case: PolicyCase) -> Outcome:
    """Items that are returned, exchanged or modified belong to the order, each as often as it was ordered."""
    ordered = [item["item_id"] for item in order(case)["items"]]
    given = case.arguments["item_ids"]
    foreign = sorted({item for item in given if given.count(item) > ordered.count(item)})
    if not foreign:
        return None
    key = case.arguments["order_id"]
    return RuleViolation(
        claim=f"The ground truth names {', '.join(foreign)} more often than {key} holds it.",
        facts=(case.given("item_ids"), *case.recorded("orders", key, "items")),
    )


@BOOK.rule("new-item-is-available", tools=SWAPPING, sentences=(_OF_SAME_PRODUCT,))
def new_item_is_available(case: PolicyCase) -> Outcome:
    """An item is replaced by one that is available."""
    for item, new in _swaps(case):
        variant = _variants(case, item).get(new)
        if variant is not None and not variant["available"] and new != item["item_id"]:
            return RuleViolation(
                claim=f"The ground truth replaces {item['item_id']} ({item['name']}) by {new}, which is not available.",
                facts=case.recorded("products", item["product_id"], "variants", new),
            )
    return None


@BOOK.rule("new-item-is-of-the-same-product", tools=SWAPPING, sentences=(_OF_SAME_PRODUCT,))
def new_item_is_of_the_same_product(case: PolicyCase) -> Outcome:
    """An item is replaced by one of the same product."""
    for item, new in _swaps(case):
        if new not in _variants(case, item):
            return RuleViolation(
                claim=f"The ground truth replaces {item['item_id']} by {new}, but no {item['name']} has this id.",
                facts=(case.given("new_item_ids"),),
            )
    return None


@BOOK.rule("new-item-differs", tools=SWAPPING, sentences=(_OF_SAME_PRODUCT,))
def new_item_differs(case: PolicyCase) -> Outcome:
    """An item is replaced by another one, of other options."""
    same = [item["item_id"] for item, new in _swaps(case) if new == item["item_id"]]
    if not same:
        return None
    return RuleViolation(
        claim=f"The ground truth replaces {', '.join(same)} of {case.arguments['order_id']} by the very same item.",
        facts=(case.given("item_ids"), case.given("new_item_ids")),
        certain=False,  # the user may want a replacement for one that is broken
    )


@BOOK.rule(
    "items-are-swapped-once",
    tools=SWAPPING,
    sentences=(
        "Exchange or modify order tools can only be called once per order.",
        "Exchange or modify order tools can only be called once.",
    ),
)
def items_are_swapped_once(case: PolicyCase) -> Outcome:
    """All items of an order that are modified, or exchanged, are in one call."""
    key = case.arguments["order_id"]
    before = [made for made in case.before(case.call.name) if made.call.arguments["order_id"] == key]
    if not before:
        return None
    return RuleViolation(
        claim=f"The ground truth calls {case.call.name} twice for {key}.",
        facts=(case.made(before[0], note="the first call"),),
    )


@BOOK.rule(
    "items-are-modified-last",
    tools=("cancel_pending_order", "modify_pending_order_address", "modify_pending_order_payment"),
    sentences=(
        "will change the order status to 'pending (items modifed)'. The agent will not be able to modify or cancel the "
        "order anymore.",
        "will change the order status to 'pending (items modifed)', and the agent will not be able to modify or cancel "
        "the order anymore.",
    ),
)
def items_are_modified_last(case: PolicyCase) -> Outcome:
    """An order is neither modified nor cancelled once its items were modified.

    Address and payment may be modified before, which leaves the same state, so that only the order of calls is wrong.
    """
    key = case.arguments["order_id"]
    before = [made for made in case.before("modify_pending_order_items") if made.call.arguments["order_id"] == key]
    if not before:
        return None
    return RuleViolation(
        claim=f"The ground truth calls {case.call.name} for {key} after it modified the items of that order.",
        facts=(case.made(before[0], note="the earlier call"),),
        severity=None if case.call.name == "cancel_pending_order" else Severity.MAY_AFFECT_SCORE,
    )


@BOOK.rule(
    "swap-is-paid-by-the-user",
    tools=SWAPPING,
    sentences=("The user must provide a payment method to pay or receive refund of the price difference.",),
)
def swap_is_paid_by_the_user(case: PolicyCase) -> Outcome:
    """The price difference goes to or from a payment method of the order's user."""
    chosen = case.arguments["payment_method_id"]
    if chosen in methods(case):
        return None
    user_id = order(case)["user_id"]
    return RuleViolation(claim=f"The ground truth pays with {chosen}, which {user_id} does not have.")


@BOOK.rule(
    "gift-card-covers-the-difference",
    tools=SWAPPING,
    sentences=("If the user provides a gift card, it must have enough balance to cover the price difference.",),
)
def gift_card_covers_the_difference(case: PolicyCase) -> Outcome:
    """A gift card for modified or exchanged items covers what they cost more."""
    swaps = [(item, _variants(case, item).get(new)) for item, new in _swaps(case)]
    known = [(item, new) for item, new in swaps if new is not None]
    if len(known) < len(case.arguments["item_ids"]):
        return CannotTell(reason="the price of an item is not known")
    difference = sum(new["price"] - item["price"] for item, new in known)
    return balance_covers(case, case.arguments["payment_method_id"], difference)
