from typing import Literal

import pytest

from agenthard.audit.detectors.environment import NameEffect
from agenthard.audit.evidence import failure
from agenthard.taxonomy import ToolSpec

Effect = Literal["read", "write", "unknown"]


@pytest.mark.parametrize(
    ("name", "effect", "description", "pointer"),
    [
        ("get_hold", "write", "Keep the next copy aside.", "/effect"),
        ("library.listHolds", "write", "Gives up all holds.", "/effect"),
        ("find_hold", "write", "Reserve the next copy.", "/description"),
        ("show_hold", "unknown", "Cancels a hold.", "/description"),
        ("shop.purchase", "unknown", "Retrieve items with their stock.", "/description"),
        ("delete_loan", "read", "Lists the loans of a member.", "/description"),
    ],
)
def test_a_name_that_says_the_opposite(name: str, effect: Effect, description: str, pointer: str) -> None:
    tool = ToolSpec(name=name, effect=effect, description=description)
    [hit] = NameEffect().inspect_tool(tool)
    assert [item.pointer for item in hit.evidence] == ["/name", pointer]
    assert all(failure(item, tool, {}) is None for item in hit.evidence)


@pytest.mark.parametrize(
    ("name", "effect", "description"),
    [
        ("get_hold", "read", "Show a hold."),
        ("requests.get", "unknown", "Sends a GET request to an address."),
        ("order_status_check", "unknown", "Check the status of an order."),
        ("book_info", "read", "Get the record of a book."),
        ("find_or_create_member", "write", "Finds a member, or adds one."),
        ("get_ticket", "unknown", "Creates a ticket and returns it."),
        ("transfer_to_human", "read", "Hand over."),
        ("7", "write", ""),
    ],
)
def test_names_that_fit(name: str, effect: Effect, description: str) -> None:
    assert list(NameEffect().inspect_tool(ToolSpec(name=name, effect=effect, description=description))) == []
