"""The shop's tools: one method per tool, named and parametrised as the benchmark documents them."""

from typing import Any

from agenthard.audit.execution.tau.state import copied
from agenthard.audit.execution.tau.tools import Tools

REASONS = ("no longer needed", "ordered by mistake")
"""Reasons for which an order may be cancelled."""
ORDER_EXTRAS = (
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
    "return_items",
    "return_payment_method_id",
)
"""Fields of an order that τ²-bench shows even when they are empty."""

Json = dict[str, Any]


class RetailTools(Tools):
    """Tools over the tables ``users``, ``orders`` and ``products``."""

    domain = "retail"

    def find_user_id_by_email(self, email: str) -> str:
        """Find a user by email."""
        for key, user in self.state.records("users"):
            if user["email"].lower() == email.lower():
                return key
        self._fail("user not found")

    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:
        """Find a user by name and zip code."""
        for key, user in self.state.records("users"):
            name = user["name"]
            same = (name["first_name"].lower(), name["last_name"].lower()) == (first_name.lower(), last_name.lower())
            if same and user["address"]["zip"] == zip:
                return key
        self._fail("user not found")

    def get_user_details(self, user_id: str) -> Json:
        """Show a user."""
        return self.state.read("users", self._known("user", user_id))

    def get_order_details(self, order_id: str) -> Json:
        """Show an order."""
        return self._shown(self.state.read("orders", self._known("order", order_id)))

    def get_product_details(self, product_id: str) -> Json:
        """Show a product and its items."""
        return self.state.read("products", self._known("product", product_id))

    def get_item_details(self, item_id: str) -> Json:
        """Show an item of any product; releases of τ²-bench after v0.1.3 offer it."""
        for _, product in self.state.records("products"):
            if item_id in product["variants"]:
                return dict(product["variants"][item_id])
        self._fail("item not found")

    def list_all_product_types(self) -> dict[str, str]:
        """Show the products' names and ids."""
        return dict(sorted((product["name"], key) for key, product in self.state.records("products")))

    def cancel_pending_order(self, order_id: str, reason: str) -> Json:
        """Cancel an order and book its payments back."""
        order = self._order(order_id)
        if order["status"] != "pending":
            self._fail("non-pending order cannot be cancelled")
        if reason not in REASONS:
            self._fail("invalid reason")
        history = order["payment_history"]
        for payment in list(history):
            history.append(_transaction("refund", payment["amount"], payment["payment_method_id"]))
            self._give_back(order, payment["payment_method_id"], payment["amount"])
        order["status"], order["cancel_reason"] = "cancelled", reason
        return self._shown(order)

    def modify_pending_order_address(
        self, order_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
    ) -> Json:
        """Send an order elsewhere."""
        order = self._order(order_id)
        self._check_pending(order)
        order["address"] = self._address(address1, address2, city, state, country, zip)
        return self._shown(order)

    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> Json:
        """Pay an order in another way."""
        order = self._order(order_id)
        self._check_pending(order)
        method = self._method(order, payment_method_id)
        history = order["payment_history"]
        if len(history) > 1 or history[0]["transaction_type"] != "payment":
            self._fail("the payment method was changed before")
        paid_with, amount = history[0]["payment_method_id"], history[0]["amount"]
        if paid_with == payment_method_id:
            self._fail("the order is paid with this payment method already")
        if method["source"] == "gift_card" and method["balance"] < amount:
            self._fail("insufficient gift card balance to pay for the order")
        history += [_transaction("payment", amount, payment_method_id), _transaction("refund", amount, paid_with)]
        self._give_back(order, payment_method_id, -amount)
        self._give_back(order, paid_with, amount)
        return self._shown(order)

    def modify_pending_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Json:
        """Change items of an order into others of the same product.

        In τ²-bench all items changed by one call get the price and the options of the last one. Releases after v0.1.3
        refuse to change an item into itself.
        """
        order = self._order(order_id)
        if order["status"] != "pending":
            self._fail("non-pending order cannot be modified")
        self._check_items(order, item_ids)
        if len(item_ids) != len(new_item_ids):
            self._fail("the number of items to be exchanged should match")
        if self.later and any(old == new for old, new in zip(item_ids, new_item_ids, strict=True)):
            self._fail("the new item id should be different from the old item id")
        difference = self._difference(order, item_ids, new_item_ids)
        method = self._method(order, payment_method_id)
        if method["source"] == "gift_card" and method["balance"] < difference:
            self._fail("insufficient gift card balance to pay for the price difference")
        kind = "payment" if difference > 0 else "refund"
        order["payment_history"].append(_transaction(kind, abs(difference), payment_method_id))
        self._give_back(order, payment_method_id, -difference)
        pairs = [(_item(order, old), new) for old, new in zip(item_ids, new_item_ids, strict=True)]
        variants = [self._variant(item, new) for item, new in pairs]
        if self._new:
            variants = variants[-1:] * len(variants)
        for (item, new), variant in zip(pairs, variants, strict=True):
            item |= {"item_id": new, "price": variant["price"], "options": copied(variant["options"])}
        order["status"] = "pending (item modified)"
        return self._shown(order)

    def exchange_delivered_order_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> Json:
        """Ask for delivered items to be exchanged for others of the same product."""
        order = self._order(order_id)
        if order["status"] != "delivered":
            self._fail("non-delivered order cannot be exchanged")
        self._check_items(order, item_ids)
        if len(item_ids) != len(new_item_ids):
            self._fail("the number of items to be exchanged should match")
        difference = round(self._difference(order, item_ids, new_item_ids), 2)
        method = self._method(order, payment_method_id)
        if method["source"] == "gift_card" and method["balance"] < difference:
            self._fail("insufficient gift card balance to pay for the price difference")
        order["status"] = "exchange requested"
        order["exchange_items"] = sorted(item_ids)
        order["exchange_new_items"] = sorted(new_item_ids)
        order["exchange_payment_method_id"] = payment_method_id
        order["exchange_price_difference"] = difference
        return self._shown(order)

    def return_delivered_order_items(self, order_id: str, item_ids: list[str], payment_method_id: str) -> Json:
        """Ask for delivered items to be taken back."""
        order = self._order(order_id)
        if order["status"] != "delivered":
            self._fail("non-delivered order cannot be returned")
        method = self._method(order, payment_method_id)
        if payment_method_id != order["payment_history"][0]["payment_method_id"] and method["source"] != "gift_card":
            self._fail(
                "payment method should be either the original payment method or a gift card",
                "Payment method should be the original payment method",
            )
        listed = [item["item_id"] for item in order["items"]]
        if any(item_ids.count(item) > listed.count(item) for item in item_ids):
            self._fail("some item not found")
        order["status"] = "return requested"
        order["return_items"] = sorted(item_ids)
        order["return_payment_method_id"] = payment_method_id
        return self._shown(order)

    def modify_user_address(
        self, user_id: str, address1: str, address2: str, city: str, state: str, country: str, zip: str
    ) -> Json:
        """Change a user's default address."""
        user = self.state.edit("users", self._known("user", user_id))
        user["address"] = self._address(address1, address2, city, state, country, zip)
        return user

    def _withheld(self) -> frozenset[str]:
        return super()._withheld() | (frozenset() if self.later else {"get_item_details"})

    def _check_pending(self, order: Json) -> None:
        """Refuse an order that is not pending; τ²-bench still lets one pass whose items were modified."""
        if "pending" not in order["status"] if self._new else order["status"] != "pending":
            self._fail("non-pending order cannot be modified")

    def _known(self, kind: str, key: str) -> str:
        if not self.state.has(f"{kind}s", key):
            self._fail(f"{kind} not found")
        return key

    def _order(self, order_id: str) -> Json:
        return self.state.edit("orders", self._known("order", order_id))

    def _method(self, order: Json, payment_method_id: str) -> Json:
        methods = self.state.read("users", order["user_id"])["payment_methods"]
        if payment_method_id not in methods:
            self._fail("payment method not found")
        return dict(methods[payment_method_id])

    def _give_back(self, order: Json, payment_method_id: str, amount: float) -> None:
        """Add to the balance of a gift card; other payment methods have none."""
        if self._method(order, payment_method_id)["source"] == "gift_card":
            card = self.state.edit("users", order["user_id"])["payment_methods"][payment_method_id]
            card["balance"] = round(card["balance"] + amount, 2)

    def _check_items(self, order: Json, item_ids: list[str]) -> None:
        listed = [item["item_id"] for item in order["items"]]
        for item in item_ids:
            if item_ids.count(item) > listed.count(item):
                self._fail(f"{item} not found")

    def _variant(self, item: Json, new: str) -> Json:
        variants = self.state.read("products", item["product_id"])["variants"]
        if self._new and new not in variants:
            self._fail("variant not found")
        if new not in variants or not variants[new]["available"]:
            self._fail(f"new item {new} not found or available")
        return dict(variants[new])

    def _difference(self, order: Json, item_ids: list[str], new_item_ids: list[str]) -> float:
        difference = 0.0
        for old, new in zip(item_ids, new_item_ids, strict=True):
            item = _item(order, old)
            difference += self._variant(item, new)["price"] - item["price"]
        return difference

    def _address(self, address1: str, address2: str, city: str, state: str, country: str, zip: str) -> Json:
        named = {"address1": address1, "address2": address2, "city": city}
        rest = {"country": country, "state": state} if self._new else {"state": state, "country": country}
        return {**named, **rest, "zip": zip}

    def _shown(self, order: Json) -> Json:
        """Return an order as the release shows it."""
        if not self._new:
            return order
        plain = {key: value for key, value in order.items() if key not in ORDER_EXTRAS}
        return plain | {key: order.get(key) for key in ORDER_EXTRAS}


def _transaction(kind: str, amount: float, payment_method_id: str) -> Json:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": payment_method_id}


def _item(order: Json, item_id: str) -> Json:
    found: Json = next(item for item in order["items"] if item["item_id"] == item_id)
    return found
