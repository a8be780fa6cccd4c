"""What the tools of both domains share: the wording of two releases, and how calls are dispatched."""

import inspect
import json
from abc import ABC
from collections.abc import Iterable
from enum import Enum
from functools import cache, cached_property
from typing import Any, ClassVar, NoReturn

from agenthard.audit.execution.environment import ToolResponse
from agenthard.audit.execution.tau.calculator import calculate, is_arithmetic
from agenthard.audit.execution.tau.state import State
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.task import ToolSpec


class Release(Enum):
    """Benchmark whose conventions apply; without a distinction in the code they are the same."""

    TAU = "tau-bench"
    """τ-bench 59a200c."""
    TAU2 = "tau2"
    """τ²-bench v0.1.3, and with what changed by then v1.0.1."""


class ToolError(AgentHardError):
    """A tool refuses a call; the message is the agent's response."""

    code = "AH306"
    remedy = "Nothing: the tool answers with the message, as the benchmark's own tool does."


class Tools(ABC):
    """The tools of one domain: each public method is a tool, its parameters are those of the call."""

    domain: ClassVar[str]
    """Name of the domain."""

    def __init__(self, state: State, release: Release, *, later: bool = False) -> None:
        """Work on a state, by the conventions of a release.

        Args:
            state: the database.
            release: whose conventions hold.
            later: whether it is a release of τ²-bench after v0.1.3; v1.0.1 was looked at.
        """
        self.state = state
        self.release = release
        self.later = later

    @cached_property
    def names(self) -> frozenset[str]:
        """Names of the tools that this release offers."""
        own = {name for kind in type(self).__mro__[:-1] if issubclass(kind, Tools) for name in vars(kind)}
        found = {name for name in own if not name.startswith("_") and inspect.isfunction(getattr(type(self), name))}
        return frozenset(found - {"invoke", "lacks"} - self._withheld())

    def lacks(self, tools: Iterable[ToolSpec]) -> frozenset[str]:
        """Return the tools that are not implemented, or that take an argument which ours do not."""
        return frozenset(
            tool.name
            for tool in tools
            if tool.name not in self.names
            or not (tool.parameters.get("properties") or {}).keys() <= set(_parameters(type(self), tool.name))
        )

    def invoke(self, name: str, arguments: dict[str, Any]) -> ToolResponse:
        """Execute one call as the benchmark does: errors become a response to the agent."""
        if name not in self.names:
            text = f"Error: Tool '{name}' not found." if self._new else f"Unknown action {name}"
            return ToolResponse(text=text, error=f"no such tool: {name!r}")
        try:
            self._bind(name, arguments)
            value = getattr(self, name)(**arguments)
        except Exception as error:
            return ToolResponse(text=f"Error: {error}", error=str(error) or type(error).__name__)
        return ToolResponse(text=value if isinstance(value, str) else json.dumps(value))

    def calculate(self, expression: str) -> str:
        """Evaluate an arithmetic expression."""
        if not is_arithmetic(expression):
            self._fail("invalid characters in expression")
        return str(calculate(expression))

    def think(self, thought: str) -> str:
        """Do nothing."""
        return ""

    def transfer_to_human_agents(self, summary: str) -> str:
        """Transfer the user to a human; the state does not change."""
        return "Transfer successful"

    @property
    def _new(self) -> bool:
        return self.release is Release.TAU2

    def _withheld(self) -> frozenset[str]:
        """Return the tools that this release does not have."""
        return frozenset({"think"} if self._new else ())

    def _fail(self, text: str, tau2: str | None = None) -> NoReturn:
        """Refuse the call; τ²-bench capitalises the message unless another text is given."""
        raise ToolError((tau2 or text[:1].upper() + text[1:]) if self._new else text)

    def _bind(self, name: str, arguments: dict[str, Any]) -> None:
        """Refuse arguments that do not fit the parameters, in Python's words."""
        parameters = _parameters(type(self), name)
        owner = f"{type(self).__name__}.{name}" if self._new else f"{_camel(name)}.invoke"
        for argument in arguments:
            if argument not in parameters:
                raise ToolError(f"{owner}() got an unexpected keyword argument '{argument}'")
        missing = [f"'{parameter}'" for parameter in parameters if parameter not in arguments]
        if missing:
            listed = " and ".join(missing) if len(missing) < 3 else f"{', '.join(missing[:-1])}, and {missing[-1]}"
            plural = "s" if len(missing) > 1 else ""
            raise ToolError(f"{owner}() missing {len(missing)} required positional argument{plural}: {listed}")


@cache
def _parameters(kind: type[Tools], name: str) -> tuple[str, ...]:
    """Return the names of a tool's parameters."""
    return tuple(inspect.signature(getattr(kind, name)).parameters)[1:]


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
