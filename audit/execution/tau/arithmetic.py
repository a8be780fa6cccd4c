"""The calculator of both benchmarks, for text that nobody has checked: parsed, never executed."""

import ast
import operator
from collections.abc import Callable

from agenthard.taxonomy.errors import AgentHardError

MAX_LENGTH = 2000
"""Longest expression that is parsed, in characters."""

_ALLOWED = frozenset("0123456789+-*/(). ")
_BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_UNARY: dict[type[ast.unaryop], Callable[[float], float]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}


class ExpressionError(AgentHardError):
    """The expression has no value; the message says why."""

    code = "AH304"
    remedy = "Nothing: the tool answers with the message, as the benchmark's own tool does."


def is_arithmetic(expression: str) -> bool:
    """Tell whether a text has only characters of arithmetic, which is all that the benchmarks check."""
    return _ALLOWED.issuperset(expression)


def calculate(expression: str) -> float:
    """Work out an expression of numbers, ``+ - * / //`` and parentheses, rounded to cents.

    A power (``**``) is refused, although it has characters of arithmetic only: it is how one asks for
    endless work.

    >>> calculate("(195.11 - 180.93) + 2 * 50")
    114.18

    Raises:
        ExpressionError: when it is none, or too long or too large to be worked out.
    """
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(f"expression of {len(expression)} characters; at most {MAX_LENGTH} are worked out")
    try:
        return round(float(_value(ast.parse(expression.strip(), mode="eval").body)), 2)
    except SyntaxError as error:
        raise ExpressionError(f"{error.msg} (<string>, line 1)") from error
    except (ArithmeticError, RecursionError, MemoryError, ValueError) as error:
        raise ExpressionError(str(error)) from error


def _value(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return node.value
    if isinstance(node, ast.UnaryOp) and type(node.op) in _UNARY:
        return _UNARY[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left), _value(node.right))
    raise ExpressionError("only numbers, + - * / and parentheses are worked out")
