"""The language of proposed rules: an expression over one call, the state it meets, and the other calls.

A model proposes a rule as text; nothing of it is executed as code. It is parsed, checked node by node against the few
forms below, and compiled to a function of a `PolicyCase`.

======================================  ==============================================================
form                                    is
======================================  ==============================================================
``call.amount``, ``call.card.kind``     an argument of the call, or a member of one
``record("bills", bill_id=call.bill)``  the record with this value, as the earlier calls left it
``record(...).status``                  one of its fields
``earlier("tool", id=call.id)``         how many successful calls of a tool come before it, with these values
``later("tool", id=call.id)``           how many calls of a tool come after it
``count("bills", status="Overdue")``    how many records of a table have these values
``said(value)``                         whether a text of the user has this very value
``says("regular expression")``          whether a text of the user matches it
``number("$1,200.50")``                 the number in a text
``len(x)``, ``lower(x)``, ``now()``     length, lower case, the time that the policy states as text
``== != < <= > >= in  and or not``      as in Python; ``+ - *`` on numbers
======================================  ==============================================================

A fact that is missing makes the rule say that it cannot tell.
"""

import ast
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from agenthard.audit.execution.policy.case import PolicyCase, UnknownFactError
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import ToolCall

MOST_CHARACTERS, MOST_NODES = 2_000, 200
"""Length of an expression, and number of its parts."""


class RuleSyntaxError(AgentHardError, ValueError):
    """An expression is not of the rule language; the message says which part is not."""

    code = "AH310"
    remedy = "Write the rule with the forms that docs/policy-rules.md lists, or leave the sentence to readers."


Compiled = Callable[[PolicyCase], Any]
"""Evaluates an expression on one call; raises a LookupError, TypeError or ValueError where a fact is missing."""

_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_COMPUTE: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def compile_expression(text: str) -> Compiled:
    """Compile an expression.

    Raises:
        RuleSyntaxError: It is too long, or has a part that is not of the language.

    >>> compile_expression("call.amount <= 2 and not says('refund')") is not None
    True
    """
    if len(text) > MOST_CHARACTERS:
        raise RuleSyntaxError(f"the expression has {len(text):,} characters; at most {MOST_CHARACTERS:,} are read")
    try:
        parsed = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise RuleSyntaxError(f"not an expression: {error}: {text[:200]}") from error
    if sum(1 for _ in ast.walk(parsed)) > MOST_NODES:
        raise RuleSyntaxError(f"the expression has more than {MOST_NODES} parts")
    return _compile(parsed)


def _compile(node: ast.expr) -> Compiled:
    if isinstance(node, ast.Constant) and isinstance(node.value, (str, int, float, bool, type(None))):
        value = node.value
        return lambda case: value
    if isinstance(node, (ast.List, ast.Tuple)):
        items = [_compile(item) for item in node.elts]
        return lambda case: [item(case) for item in items]
    if isinstance(node, ast.BoolOp):
        return _logic(node)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        inner, negate = _compile(node.operand), isinstance(node.op, ast.Not)
        return lambda case: not inner(case) if negate else -inner(case)
    if isinstance(node, ast.BinOp) and type(node.op) in _COMPUTE:
        compute, left, right = _COMPUTE[type(node.op)], _compile(node.left), _compile(node.right)
        return lambda case: compute(_numeric(left(case)), _numeric(right(case)))
    if isinstance(node, ast.Compare):
        return _comparison(node)
    if isinstance(node, ast.Attribute):
        return _member(node)
    if isinstance(node, ast.Call):
        return _function(node)
    raise RuleSyntaxError(f"not of the rule language: {ast.unparse(node)[:200]}")


def _logic(node: ast.BoolOp) -> Compiled:
    values, every = [_compile(value) for value in node.values], isinstance(node.op, ast.And)
    return lambda case: (all if every else any)(bool(value(case)) for value in values)


def _comparison(node: ast.Compare) -> Compiled:
    unknown = [type(op).__name__ for op in node.ops if type(op) not in _COMPARE]
    if unknown:
        raise RuleSyntaxError(f"not of the rule language: the comparison {unknown[0]}")
    terms = [_compile(term) for term in (node.left, *node.comparators)]
    steps = [_COMPARE[type(op)] for op in node.ops]

    def compare(case: PolicyCase) -> bool:
        values = [term(case) for term in terms]
        return all(step(one, two) for step, one, two in zip(steps, values, values[1:], strict=False))

    return compare


def _member(node: ast.Attribute) -> Compiled:
    name = node.attr
    if isinstance(node.value, ast.Name) and node.value.id == "call":
        return lambda case: _field(case.arguments, name, "the call")
    if isinstance(node.value, ast.Name):
        raise RuleSyntaxError(f"not of the rule language: {node.value.id} (arguments are written call.NAME)")
    inner = _compile(node.value)
    return lambda case: _field(inner(case), name, "the record")


def _field(owner: Any, name: str, what: str) -> Any:
    if not isinstance(owner, dict) or name not in owner:
        raise UnknownFactError(f"{what} has no {name!r}")
    return owner[name]


def _function(node: ast.Call) -> Compiled:
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if any(keyword.arg is None for keyword in node.keywords):
        raise RuleSyntaxError("not of the rule language: **")
    given = [_compile(argument) for argument in node.args]
    wanted = {str(keyword.arg): _compile(keyword.value) for keyword in node.keywords}
    if name in _FINDERS and len(given) == 1:
        find = _FINDERS[name]
        return lambda case: find(case, given[0](case), {key: value(case) for key, value in wanted.items()})
    if name == "now" and not given and not wanted:
        return lambda case: str(case.now)
    if name in ("len", "lower", "number") and len(given) == 1 and not wanted:
        apply = {"len": len, "lower": lambda value: str(value).lower(), "number": _numeric}[name]
        return lambda case: apply(given[0](case))
    if name == "said" and len(given) == 1 and not wanted:
        return lambda case: case.says(re.escape(str(given[0](case))))
    if name == "says" and len(node.args) == 1 and isinstance(node.args[0], ast.Constant) and not wanted:
        return _says(str(node.args[0].value))
    raise RuleSyntaxError(f"not of the rule language: {ast.unparse(node)[:200]}")


def _says(pattern: str) -> Compiled:
    if re.search(r"[*+}]\s*\)\s*[*+{]", pattern) or len(pattern) > 200:
        raise RuleSyntaxError("a repetition inside a repetition, or more than 200 characters, in a regular expression")
    try:
        re.compile(pattern)
    except re.error as error:
        raise RuleSyntaxError(f"not a regular expression: {error}") from error
    return lambda case: case.says(pattern)


def _numeric(value: Any) -> float:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    found = _NUMBER.search(value) if isinstance(value, str) else None
    if found is None:
        raise UnknownFactError(f"no number in {str(value)[:80]!r}")
    return float(found.group().replace(",", ""))


def _record(case: PolicyCase, table: str, wanted: dict[str, Any]) -> dict[str, Any]:
    """Find the one record with these values; records that earlier calls changed come before those of the files."""
    if not wanted:
        raise UnknownFactError("record(...) names no field to find it by")
    found = next(_matching(case, table, wanted), None)
    if found is None:
        raise UnknownFactError(f"no record of {table} with {wanted}")
    return found


def _count(case: PolicyCase, table: str, wanted: dict[str, Any]) -> int:
    if not any(True for _ in _all(case, table)):
        raise UnknownFactError(f"no table is called {table}")
    return sum(1 for _ in _matching(case, table, wanted))


def _matching(case: PolicyCase, table: str, wanted: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the records with some values, each as the earlier calls left it."""
    return (record for record in _all(case, table) if all(record.get(key) == value for key, value in wanted.items()))


def _all(case: PolicyCase, table: str) -> Iterator[dict[str, Any]]:
    """Yield the records of a table: those that earlier calls changed, then those of the files that they did not."""
    seen: set[str] = set()
    for state in (case.changes, case.task.environment.state):
        for records in _tables(state, table):
            for key, record in _entries(records):
                name = _identity(key, record)
                if name not in seen:
                    seen.add(name)
                    yield record


def _entries(records: Any, depth: int = 0) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield records with their keys, of a table by id, of a list, or of a table below a heading (``data``)."""
    for key, record in records.items() if isinstance(records, dict) else enumerate(records):
        if not isinstance(record, dict):
            continue
        if depth < 1 and record and all(isinstance(inner, dict) for inner in record.values()):
            yield from _entries(record, depth + 1)
        else:
            yield str(key), record


def _identity(key: str, record: dict[str, Any]) -> str:
    """Name a record by its first field that ends in "id": lists of changed and of all records count differently."""
    return next((f"{name} {value}" for name, value in record.items() if name.endswith("id")), key)


def _tables(state: Any, name: str, depth: int = 0) -> Iterator[Any]:
    """Yield the tables of this name: at the top of a state, or below the part of the agent or of the user."""
    if not isinstance(state, dict):
        return
    if isinstance(state.get(name), (dict, list)):
        yield state[name]
    if depth < 1:
        for part in state.values():
            yield from _tables(part, name, depth + 1)


def _earlier(case: PolicyCase, tool: str, wanted: dict[str, Any]) -> int:
    return sum(_is_like(made.call, wanted) for made in case.before(tool))


def _later(case: PolicyCase, tool: str, wanted: dict[str, Any]) -> int:
    places = [pointer for pointer, _ in case.task.gold_calls()]
    after = [call for _, call in case.task.gold_calls()][places.index(case.pointer) + 1 :]
    return sum(call.name == tool and _is_like(call, wanted) for call in after)


_FINDERS: dict[str, Callable[[PolicyCase, str, dict[str, Any]], Any]] = {
    "record": _record,
    "count": _count,
    "earlier": _earlier,
    "later": _later,
}


def _is_like(call: ToolCall, wanted: dict[str, Any]) -> bool:
    return all(call.arguments.get(key) == value for key, value in wanted.items())
