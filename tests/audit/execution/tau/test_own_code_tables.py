"""Tables that note which records were handed out: every way to reach a record is noticed, whatever a tool does."""

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agenthard.audit.execution.tau.own_code_tables import Database, Table, Tables

USERS = {f"user_{i}": {"name": "Ann", "balance": 86, "orders": ["a", "b"]} for i in range(4)}
DATA = {"users": USERS, "settings": ["x"]}


def spoil(record: Any) -> None:
    record["orders"].append("c")


WAYS: dict[str, Callable[[Any], Any]] = {
    "item": lambda users: spoil(users["user_1"]),
    "get": lambda users: spoil(users.get("user_1")),
    "values": lambda users: [spoil(user) for user in users.values()],
    "items": lambda users: [spoil(user) for _, user in users.items()],
    "keys": lambda users: [spoil(users[key]) for key in users],
    "dict": lambda users: spoil(dict(users)["user_1"]),
    "unpacked": lambda users: spoil({**users}["user_1"]),
    "or": lambda users: spoil((users | {})["user_1"]),
    "ror": lambda users: spoil(({} | users)["user_1"]),
    "copy": lambda users: spoil(users.copy()["user_1"]),
    "copy.copy": lambda users: spoil(copy.copy(users)["user_1"]),
    "setdefault": lambda users: spoil(users.setdefault("user_1", {})),
    "popped and put back": lambda users: users.update(user_1={**users.pop("user_1"), "name": "Bob"}),
    "deleted": lambda users: users.__delitem__("user_1"),
    "popped last": lambda users: users.popitem(),
    "cleared": lambda users: users.clear(),
    "added": lambda users: users.__setitem__("user_9", {"name": "Eve"}),
    "updated": lambda users: users.__ior__({"user_1": {}}),
    "a number as a fraction": lambda users: users["user_1"].update(balance=86.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_changed_is_noticed_and_put_back(way: str) -> None:
    tables = Tables(json.dumps(DATA))
    for _ in range(2):
        data = tables.restored()
        assert tables.changes(data) == {}
        WAYS[way](data["users"])
        changes = tables.changes(data)
        assert list(changes) == ["users"] and changes["users"], way
        assert all(data["users"].get(key) == record for key, record in changes["users"].items())
    data = tables.restored()
    assert json.dumps(data) == json.dumps(DATA)  # also in the same order


def test_a_table_that_is_replaced_or_is_none_is_compared_as_a_whole() -> None:
    tables = Tables(json.dumps(DATA))
    data = tables.restored()
    data["users"] = {"user_0": {**USERS["user_0"], "name": "Bob"}}
    data["settings"].append("y")
    data["more"] = 1
    gone = {"user_1": None, "user_2": None, "user_3": None}
    renamed = {"user_0": {**USERS["user_0"], "name": "Bob"}}
    assert tables.changes(data) == {"more": 1, "settings": ["x", "y"], "users": {**renamed, **gone}}
    assert json.dumps(tables.restored()) == json.dumps(DATA)


def test_reading_a_few_records_suspects_only_those() -> None:
    table = Table(USERS)
    table["user_1"], table.get("absent"), "user_2" in table, list(table), len(table)
    assert sorted(table.suspects()) == ["absent", "user_1"]


class User(BaseModel):
    name: str
    orders: list[str] = []


class Shop(BaseModel):
    users: dict[str, User]
    total: int = 0


@given(st.lists(st.tuples(st.sampled_from("abcx"), st.sampled_from(["read", "rename", "drop", "set"])), max_size=6))
def test_the_changes_of_a_database_are_those_of_the_whole(acts: list[tuple[str, str]]) -> None:
    pristine = Shop(users={name: User(name=name) for name in "abc"})
    database = Database(pristine)
    for _ in range(2):
        shop = database.restored()
        assert shop == pristine and list(shop.users) == ["a", "b", "c"]
        for key, act in acts:
            user = shop.users.get(key)
            if act == "rename" and user:
                user.name, shop.total = "z", shop.total + 1
            elif act == "drop":
                shop.users.pop(key, None)
            elif act == "set":
                shop.users[key] = User(name=key)
        now = {key: user.model_dump() for key, user in shop.users.items()}
        base = {key: user.model_dump() for key, user in pristine.users.items()}
        users = {key: now.get(key) for key in now.keys() | base.keys() if now.get(key) != base.get(key)}
        expected = {**({"total": shop.total} if shop.total else {}), **({"users": users} if users else {})}
        assert database.changes(shop) == expected
        small, gone = database.reduced(shop)
        assert set(small.users) == {key for key in users if key in now}
        assert set(gone.get("users", ())) == {key for key in users if key not in now}
