"""The language of proposed rules."""

from typing import Any

import pytest

from agenthard.audit.execution.policy.case import EarlierCall, PolicyCase, UnknownFactError
from agenthard.audit.execution.policy.language import RuleSyntaxError, compile_expression
from agenthard.taxonomy import ToolCall
from tests.audit.execution.policy.conftest import make_task

TABLES = {
    "lines": [{"line_id": "L1", "phone": "555-1", "status": "Active"}, {"line_id": "L2", "phone": "555-2"}],
    "bills": {"data": {"B1": {"bill_id": "B1", "status": "Overdue", "due": "$1,200.50"}}},
}


def value(expression: str, changes: dict[str, Any] | None = None) -> Any:
    refuel = ToolCall(name="refuel", arguments={"line_id": "L1", "gb": 3, "card": {"kind": "visa"}})
    look = ToolCall(name="look", arguments={"line_id": "L1"})
    task = make_task("telecom", TABLES, [look, refuel, look], said="My number is 555-1.", rules="no rule")
    earlier = EarlierCall("/ground_truth/turns/0/0", look, "{}", failed=False)
    case = PolicyCase(task, "/ground_truth/turns/0/1", refuel, changes or {}, (earlier,))
    return compile_expression(expression)(case)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("call.gb <= 2", False),
        ("1 <= call.gb < 4 and not call.gb == 2", True),
        ("call.card.kind in ['visa', 'amex']", True),
        ('record("lines", line_id=call.line_id).status == "Active"', True),
        ('record("bills", bill_id="B1").status', "Overdue"),
        ('number(record("bills", bill_id="B1").due) + call.gb', 1203.5),
        ('count("bills", status="Overdue") == 1 and count("bills", status="Paid") == 0', True),
        ('earlier("look", line_id=call.line_id)', 1),
        ('earlier("look", line_id="L9")', 0),
        ('later("look") == 1 and later("refuel") == 0', True),
        ('said(record("lines", line_id=call.line_id).phone)', True),
        ('said(record("lines", line_id="L2").phone)', False),
        ('says("number|phone")', True),
        ('lower("Active") == "active" and len("abc") == 3', True),
        ("-call.gb + 2 * 2 == 1", True),
    ],
)
def test_expressions(expression: str, expected: Any) -> None:
    assert value(expression) == expected


def test_a_record_is_as_earlier_calls_left_it() -> None:
    changed = {"assistant": {"lines": [{"line_id": "L1", "status": "Suspended"}]}}
    assert value('record("lines", line_id="L1").status', changed) == "Suspended"
    assert value('count("lines", status="Active")', changed) == 0


@pytest.mark.parametrize("expression", ["call.price > 1", 'record("lines", line_id="L9").status', 'number("none")'])
def test_a_missing_fact_cannot_be_told(expression: str) -> None:
    with pytest.raises(UnknownFactError):
        value(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "__import__('os').system('true')",
        "open('/etc/passwd')",
        "[x for x in call.a]",
        "lambda: 1",
        "call",
        "state.lines",
        "call.__class__()",
        "(1).__class__",
        "call.gb if 1 else 2",
        "2 ** 99",
        "f'{call.gb}'",
        "call.a[0]",
        "says(call.a)",
        "says('(a+)+')",
        "record('lines', **call.a)",
        "earlier()",
        "1 is 1",
        "import os",
        "",
        "x" * 3000,
        "1" + "+1" * 300,
    ],
)
def test_what_is_not_of_the_language(expression: str) -> None:
    with pytest.raises((RuleSyntaxError, UnknownFactError)) as raised:
        value(expression)
    if expression != "(1).__class__":
        assert isinstance(raised.value, RuleSyntaxError)
