"""All tools of a scenario: calls as agents write them become complete results."""

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jsonschema

from agenthard.agency.tools.files import FILES
from agenthard.agency.tools.memory import MEMORY
from agenthard.agency.tools.shell import SHELLS, spoken
from agenthard.agency.tools.todo import TODO
from agenthard.agency.tools.tool import CallResult, Desk, Output, ToolFunction, ToolRefusal
from agenthard.agency.tools.web import WEB
from agenthard.agency.workspace.store import SnapshotError
from agenthard.models.request import Tool
from agenthard.play.failures import Failures
from agenthard.play.journal import Steps

TOOLS: dict[str, ToolFunction] = {each.tool.name: each for each in (*FILES, *SHELLS, *MEMORY, *TODO, *WEB)}
"""Every tool by name."""
INTERRUPTED = (
    "interrupted: the harness was stopped during this call, and what the call did is lost. The workspace is as it was "
    "before the call."
)
ON_PURPOSE = "the tool failed: try again"


class Toolset:
    """Carries out the calls of one scenario, step by step in a journal."""

    def __init__(self, desk: Desk, steps: Steps, clock: Callable[[], float], failures: Failures | None = None) -> None:
        """Prepare.

        Args:
            desk: what the tools work with.
            steps: calls that can change the workspace are steps of it.
            clock: seconds, for the durations.
            failures: which calls fail on purpose.
        """
        self._desk, self._steps, self._clock = desk, steps, clock
        self._failures = failures
        self.calls: Counter[str] = Counter()
        """Calls by name of the tool."""

    @property
    def desk(self) -> Desk:
        """What the tools work with."""
        return self._desk

    def tools(self) -> tuple[Tool, ...]:
        """Return the tools as a model is told of them."""
        return tuple(each.tool for each in TOOLS.values())

    async def call(self, name: str, arguments: str) -> CallResult:
        """Carry out a call as a model wrote it, with JSON text as arguments."""
        number = sum(self.calls.values())
        self.calls[name if name in TOOLS else "unknown"] += 1
        if self._failures is not None and self._failures.hit(number):
            return CallResult(output=ON_PURPOSE, trouble="failed")
        try:
            found, given = _understood(name, arguments)
        except ToolRefusal as refusal:
            return CallResult(output=str(refusal), trouble="refused")
        if not found.changes:
            return self._timed(found, given)
        return await self._step(f"{name} {json.dumps(given, sort_keys=True)}", lambda: self._timed(found, given))

    async def program(
        self, command: Sequence[str], environment: Mapping[str, str], readable: Sequence[Path]
    ) -> CallResult:
        """Run a program of an agent in the workspace, as one call.

        Args:
            command: program and arguments.
            environment: variables for it.
            readable: folders outside the workspace that it must be able to read.
        """
        self.calls["program"] += 1

        def work() -> CallResult:
            start = self._clock()
            job, changed = self._desk.workspace.run(command, self._desk.seconds, environment, readable)
            return CallResult(
                output=spoken(job),
                trouble=None if job.ending == "exit" else "killed",
                exit_code=job.exit_code,
                seconds=max(self._clock() - start, 0.0),
                changed=changed,
                snapshot=self._desk.workspace.snapshot.id,
            )

        return await self._step(f"program {json.dumps(list(command))}", work)

    async def _step(self, key: str, work: Callable[[], CallResult]) -> CallResult:
        """Carry out a call that can change the workspace, or go to what it left when it was carried out before."""
        workspace = self._desk.workspace
        cut_off = CallResult(output=INTERRUPTED, trouble="interrupted", snapshot=workspace.snapshot.id)
        result = await self._steps.run("call", key, CallResult, lambda: asyncio.to_thread(work), interrupted=cut_off)
        if result.snapshot != workspace.snapshot.id:
            workspace.go_to(workspace.load(result.snapshot))
        return result

    def _timed(self, found: ToolFunction, given: dict[str, Any]) -> CallResult:
        start = self._clock()
        try:
            said = found.run(self._desk, given)
        except ToolRefusal as refusal:
            said = Output(str(refusal), "refused")
        except SnapshotError as error:
            said = Output(str(error), "failed")
        return CallResult(
            output=said.text,
            trouble=said.trouble,
            exit_code=said.exit_code,
            seconds=max(self._clock() - start, 0.0),
            changed=said.changed,
            snapshot=self._desk.workspace.snapshot.id if found.changes else "",
        )


def _understood(name: str, arguments: str) -> tuple[ToolFunction, dict[str, Any]]:
    """Return the tool that a call means, and its arguments.

    Raises:
        ToolRefusal: no such tool, or the arguments do not fit it.
    """
    found = TOOLS.get(name)
    if found is None:
        raise ToolRefusal(f"no such tool: {name!r}; there are: {', '.join(TOOLS)}")
    try:
        given = json.loads(arguments or "{}")
        jsonschema.Draft202012Validator(found.tool.parameters).validate(given)
        json.dumps(given, ensure_ascii=False).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise ToolRefusal(f"the arguments are not valid JSON: {error}") from None
    except jsonschema.ValidationError as error:
        raise ToolRefusal(f"the arguments do not fit {name}: {error.message[:300]}") from None
    return found, given
