"""Commands that refuse what they were given, run in this process; tests/test_errors.py runs the console script."""

from typer.testing import CliRunner

from agenthard.flows.cli import app
from agenthard.flows.errors import error_message, exit_code


def refused(*arguments: object) -> str:
    """Run a command, which must end with exit code 64 and one message; return the message."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if isinstance(result.exception, SystemExit):
        code, message = result.exit_code, result.stderr
    else:  # what the console script prints of it
        assert isinstance(result.exception, Exception), result.output
        code, message = exit_code(type(result.exception)), error_message(result.exception)
    assert code == 64 and message.startswith(("error: ", "error AH")), message
    return message
