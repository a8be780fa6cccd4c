import json
from typing import Any

from agenthard.audit.execution.tau.retail import ORDER_EXTRAS, RetailTools
from agenthard.audit.execution.tau.tools import Release


def told(retail: RetailTools, tool: str, **arguments: Any) -> str:
    return retail.invoke(tool, arguments).text


def done(retail: RetailTools, tool: str, **arguments: Any) -> Any:
    observation = retail.invoke(tool, arguments)
    assert observation.error is None, observation.error
    return json.loads(observation.text)


def swap(order: str, old: list[str], new: list[str], method: str = "credit_card_2") -> dict[str, Any]:
    return {"order_id": order, "item_ids": old, "new_item_ids": new, "payment_method_id": method}


def balance(retail: RetailTools) -> float:
    return float(retail.state.read("users", "ben_2")["payment_methods"]["gift_card_2"]["balance"])


def test_users_are_found_whatever_the_case(retail: RetailTools) -> None:
    assert told(retail, "find_user_id_by_email", email="BEN@example.com") == "ben_2"
    assert told(retail, "find_user_id_by_name_zip", first_name="ben", last_name="ODE", zip="10001") == "ben_2"
    assert told(retail, "find_user_id_by_email", email="x@example.com").lower() == "error: user not found"


def test_products_are_listed_by_name(retail: RetailTools) -> None:
    assert told(retail, "list_all_product_types") == '{"Lamp": "P1", "Mug": "P2"}'


def test_a_cancelled_order_is_paid_back(retail: RetailTools, release: Release) -> None:
    order = done(retail, "cancel_pending_order", order_id="#W1", reason="no longer needed")
    assert (order["status"], order["cancel_reason"]) == ("cancelled", "no longer needed")
    assert order["payment_history"][-1] == {
        "transaction_type": "refund",
        "amount": 50.49,
        "payment_method_id": "gift_card_2",
    }
    assert balance(retail) == 70.49
    if release is Release.TAU2:
        assert tuple(order)[-len(ORDER_EXTRAS) :] == ORDER_EXTRAS
        assert order["return_items"] is None
    again = told(retail, "cancel_pending_order", order_id="#W1", reason="no longer needed")
    assert again.endswith("on-pending order cannot be cancelled")


def test_a_reason_that_the_schema_lacks_is_refused(retail: RetailTools) -> None:
    assert "nvalid reason" in told(retail, "cancel_pending_order", order_id="#W1", reason="bored")
    assert retail.state.changes() == {}


def test_the_newer_release_gives_all_changed_items_the_last_price(retail: RetailTools, release: Release) -> None:
    order = done(retail, "modify_pending_order_items", **swap("#W1", ["11", "21"], ["12", "22"]))
    assert [item["item_id"] for item in order["items"]] == ["12", "22"]
    assert [item["price"] for item in order["items"]] == ([8.5, 8.5] if release is Release.TAU2 else [50.75, 8.5])
    assert order["status"] == "pending (item modified)"
    payment = order["payment_history"][-1]
    assert (payment["transaction_type"], round(payment["amount"], 2)) == ("payment", 8.76)


def test_an_order_is_modified_once_but_its_address_later_only_in_the_newer_release(
    retail: RetailTools, release: Release
) -> None:
    done(retail, "modify_pending_order_items", **swap("#W1", ["11"], ["12"]))
    assert "on-pending" in told(retail, "modify_pending_order_items", **swap("#W1", ["21"], ["22"]))
    moved = {"address1": "2 Oak", "address2": "", "city": "Rome", "state": "NY", "country": "USA", "zip": "2"}
    text = told(retail, "modify_pending_order_address", order_id="#W1", **moved)
    assert text.startswith("{" if release is Release.TAU2 else "Error: non-pending order cannot be modified")


def test_unfit_items_are_refused(retail: RetailTools, release: Release) -> None:
    def answer(old: list[str], new: list[str], method: str = "credit_card_2") -> str:
        return (
            told(retail, "modify_pending_order_items", **swap("#W1", old, new, method)).removeprefix("Error: ").lower()
        )

    assert answer(["99"], ["12"]) == "99 not found"
    assert answer(["11", "11"], ["12", "12"]) == "11 not found"
    assert answer(["11"], []) == "the number of items to be exchanged should match"
    assert answer(["11"], ["13"]) == "new item 13 not found or available"
    unknown = "variant not found" if release is Release.TAU2 else "new item 22 not found or available"
    assert answer(["11"], ["22"]) == unknown
    assert answer(["11"], ["12"], "paypal_9") == "payment method not found"
    assert retail.state.changes() == {}


def test_a_gift_card_must_hold_the_difference(retail: RetailTools) -> None:
    retail.state.edit("users", "ben_2")["payment_methods"]["gift_card_2"]["balance"] = 10
    text = told(retail, "exchange_delivered_order_items", **swap("#W2", ["11"], ["12"], "gift_card_2"))
    assert text.endswith("nsufficient gift card balance to pay for the price difference")


def test_an_exchange_is_only_asked_for(retail: RetailTools) -> None:
    order = done(retail, "exchange_delivered_order_items", **swap("#W2", ["21", "11"], ["22", "12"], "gift_card_2"))
    assert order["status"] == "exchange requested"
    assert (order["exchange_items"], order["exchange_new_items"]) == (["11", "21"], ["12", "22"])
    assert order["exchange_price_difference"] == 8.76
    assert [item["item_id"] for item in order["items"]] == ["11", "21"]
    assert balance(retail) == 20


def test_a_return_goes_to_the_original_method_or_a_gift_card(retail: RetailTools, release: Release) -> None:
    asked = {"order_id": "#W2", "item_ids": ["21"]}
    text = told(retail, "return_delivered_order_items", payment_method_id="credit_card_2", **asked)
    assert text == (
        "Error: Payment method should be the original payment method"
        if release is Release.TAU2
        else "Error: payment method should be either the original payment method or a gift card"
    )
    lacking = {**asked, "item_ids": ["21", "21"], "payment_method_id": "paypal_2"}
    assert told(retail, "return_delivered_order_items", **lacking).endswith("ome item not found")
    returned = done(retail, "return_delivered_order_items", payment_method_id="gift_card_2", **asked)
    assert (returned["status"], returned["return_items"]) == ("return requested", ["21"])


def test_another_payment_method_takes_over(retail: RetailTools) -> None:
    assert "already" in told(retail, "modify_pending_order_payment", order_id="#W1", payment_method_id="gift_card_2")
    order = done(retail, "modify_pending_order_payment", order_id="#W1", payment_method_id="paypal_2")
    assert [entry["transaction_type"] for entry in order["payment_history"]] == ["payment", "payment", "refund"]
    assert balance(retail) == 70.49
    text = told(retail, "modify_pending_order_payment", order_id="#W1", payment_method_id="credit_card_2")
    assert text.endswith("he payment method was changed before")


def test_addresses_keep_the_order_of_each_release(retail: RetailTools, release: Release) -> None:
    moved = {"address1": "2 Oak", "address2": "", "city": "Rome", "state": "NY", "country": "USA", "zip": "2"}
    address = done(retail, "modify_user_address", user_id="ben_2", **moved)["address"]
    assert address == moved
    assert list(address)[3] == ("country" if release is Release.TAU2 else "state")
