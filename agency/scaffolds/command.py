"""An agent that is a program: it runs as one job in the workspace, once for each attempt."""

import shlex
from pathlib import Path

from agenthard.agency.scaffolds.budget import Budget
from agenthard.agency.scaffolds.rollout import Called, Event, Rollout, Said, Told
from agenthard.agency.scaffolds.scaffold import Prompt
from agenthard.agency.tools import Toolset
from agenthard.containment.command import TEMPORARY
from agenthard.models.request import Call, ChatMessage
from agenthard.taxonomy.errors import AgentHardError

PROMPT, TASK, ATTEMPT = "AGENTHARD_PROMPT", "AGENTHARD_TASK", "AGENTHARD_ATTEMPT"
"""Variables in which the program finds what is asked, the task, and the number of the attempt."""
MOST_BYTES = 120_000
"""How long a variable may be."""


class CommandLineError(AgentHardError, ValueError):
    """The command line of an agent cannot be read."""

    code = "AH647"
    remedy = "Write it as in a shell, such as `command:python3 agent.py`; no shell reads it."


class CommandLine:
    """Runs a program. Like everything in a job it has no network, so it cannot ask a hosted model."""

    def __init__(self, line: str) -> None:
        """Take a command line; words that are files of this machine are given with their whole path.

        Raises:
            CommandLineError: it cannot be split into words.
        """
        try:
            words = shlex.split(line)
        except ValueError as error:
            raise CommandLineError(f"{line!r}: {error}") from None
        if not words:
            raise CommandLineError("the command line is empty")
        self._words = [str(Path(word).absolute()) if Path(word).is_file() else word for word in words]
        found = [Path(word) for word in self._words if word.startswith("/") and Path(word).is_file()]
        if hidden := [path for path in found if path.is_relative_to(TEMPORARY)]:
            raise CommandLineError(f"{hidden[0]}: a job has a {TEMPORARY} of its own; put the program elsewhere")
        self._readable = sorted({path.parent for path in found} - {Path("/bin"), Path("/usr/bin")})

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        """Play one attempt."""
        told: list[Event] = [Told(text=prompt.text, by="task")]
        if limit := budget.reached():
            return Rollout(events=tuple(told), ended=limit)
        text = prompt.text.encode("utf-8", "replace")[:MOST_BYTES].decode("utf-8", "ignore").replace("\0", "")
        environment = {PROMPT: text, TASK: prompt.task_id, ATTEMPT: str(prompt.attempt)}
        events, result = [*told], None
        while result is None or result.trouble == "interrupted":
            budget.take_turn()
            workspace.desk.seconds = budget.seconds_left()
            result = await workspace.program(self._words, environment, self._readable)
            budget.spend(result.seconds)
            call = Call(id=f"program_{len(events)}", name="program", arguments="{}")
            events += [Said(calls=(call,)), Called(call=call, result=result)]
        failed = result.trouble is not None or result.exit_code != 0
        return Rollout(
            events=tuple(events),
            ended="crashed" if failed else "done",
            status="agent_error" if failed else "ok",
            reason=result.output.partition("\n")[0] if failed else "",
        )
