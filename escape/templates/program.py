"""Runs a short program by interpreting a small part of Python: nothing else of Python exists for it.

A program is one function ``run(n)`` of whole numbers with assignments, ``for NAME in range(...)``, ``if``, arithmetic,
comparisons and ``return``. It cannot import, call, look up attributes, or take more than a bounded number of steps, so
a program from a stranger's file needs no process of its own.
"""

import ast
import operator
from collections.abc import Callable, Sequence

from agenthard.taxonomy.errors import AgentHardError

_MAX_STEPS = 20_000
_MAX_BITS = 4_096
_MAX_CODE = 2_000
_BINARY: dict[type[ast.AST], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.BitXor: operator.xor,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
}
_COMPARE: dict[type[ast.AST], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class ProgramError(AgentHardError):
    """A program is not one of those that are run here, or it failed; the message says why."""

    code = "AH623"
    remedy = "Use one of the programs of the room."


def run_program(code: str, argument: int) -> int:
    r"""Run a program.

    Args:
        code: Its text.
        argument: The number that it is given.

    Returns:
        What it returns.

    Raises:
        ProgramError: It uses something that does not exist here, fails, or takes too many steps.

    >>> run_program("def run(n):\n    for k in range(3):\n        n = n * 2 + k\n    return n", 5)
    44
    """
    if len(code) > _MAX_CODE:
        raise ProgramError("the program is too long")
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ProgramError("the program is not valid") from error
    function = tree.body[0] if len(tree.body) == 1 else None
    if not isinstance(function, ast.FunctionDef) or function.name != "run" or len(function.args.args) != 1:
        raise ProgramError("a program is one function run(n)")
    try:
        result = _Interpreter({function.args.args[0].arg: argument}).block(function.body)
    except (ZeroDivisionError, RecursionError) as error:
        raise ProgramError("the program fails") from error
    if result is None:
        raise ProgramError("the program returns nothing")
    return result


class _Interpreter:
    def __init__(self, names: dict[str, int]) -> None:
        self._names = names
        self._steps = 0

    def block(self, statements: Sequence[ast.stmt]) -> int | None:
        for statement in statements:
            self._step()
            found = self._statement(statement)
            if found is not None:
                return found
        return None

    def _statement(self, node: ast.stmt) -> int | None:
        match node:
            case ast.Return(value=ast.expr() as value):
                return self._value(value)
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._names[name] = self._value(value)
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(
                values
            ):
                self._assign_all(targets, values)
            case ast.If(test=test, body=body, orelse=orelse):
                return self.block(body if self._truth(test) else orelse)
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=[limit], keywords=[])):
                return self._loop(name, self._value(limit), node.body)
            case _:
                raise ProgramError(f"{type(node).__name__} does not exist in programs")
        return None

    def _loop(self, name: str, limit: int, body: Sequence[ast.stmt]) -> int | None:
        for at in range(limit):
            self._names[name] = at
            found = self.block(body)
            if found is not None:
                return found
        return None

    def _assign_all(self, targets: Sequence[ast.expr], values: Sequence[ast.expr]) -> None:
        for target, value in zip(targets, [self._value(each) for each in values], strict=True):
            if not isinstance(target, ast.Name):
                raise ProgramError("only names can be assigned to")
            self._names[target.id] = value

    def _value(self, node: ast.expr) -> int:
        self._step()
        match node:
            case ast.Constant(value=int() as value) if not isinstance(value, bool):
                return value
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._value(operand)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                result = _BINARY[type(op)](self._value(left), self._value(right))
                if result.bit_length() > _MAX_BITS:
                    raise ProgramError("a number becomes too large")
                return result
        raise ProgramError(f"{type(node).__name__} does not exist in programs")

    def _truth(self, node: ast.expr) -> bool:
        match node:
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARE:
                return _COMPARE[type(op)](self._value(left), self._value(right))
        raise ProgramError("a condition compares two numbers")

    def _step(self) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise ProgramError("the program takes too many steps")
