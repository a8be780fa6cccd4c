"""Tools that run programs, which are interpreted: see ``program``."""

from random import Random

from agenthard.escape.ports import MAX_LENGTH
from agenthard.escape.templates.declare import tool
from agenthard.escape.templates.program import ProgramError, run_program
from agenthard.escape.templates.template import Files, ToolUseError, Values
from agenthard.escape.templates.values import number, program


def _python(values: Values, files: Files) -> dict[str, str]:
    try:
        result = str(run_program(values["code"], int(values["arg"])))
    except ProgramError as error:
        raise ToolUseError(str(error)) from error
    if len(result) > MAX_LENGTH:
        raise ToolUseError("the result is too long")
    return {"result": result}


def _python_fill(known: Values, rng: Random, files: Files) -> dict[str, str]:
    made = {} if "arg" in known else {"arg": str(number(rng))}
    return made | {"code": program(rng)}


PROGRAMS = (
    tool(
        "python_exec",
        "runs a short program on a number",
        ["code:C! the program: a function run(n)", "arg:B the number"],
        ["result:T what the function returns"],
        _python,
        _python_fill,
    ),
)
