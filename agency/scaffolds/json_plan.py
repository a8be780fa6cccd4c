"""A plan without tools: one reply with all files as JSON, which the harness writes."""

import json
import re
from typing import Any, Literal

from pydantic import ValidationError

from agenthard.agency.scaffolds.budget import Budget
from agenthard.agency.scaffolds.rollout import Event, Rollout, Said, Told
from agenthard.agency.scaffolds.scaffold import Player, Prompt, carry_out
from agenthard.agency.tools import Toolset
from agenthard.models.errors import ContextOverflowError
from agenthard.models.request import Call, ChatMessage, Request
from agenthard.taxonomy.record import Record

SYSTEM = """\
You do a chain of tasks in a folder. You have no tools and cannot run anything. Reply with one JSON object and nothing
else: {"files": [{"path": "...", "encoding": "utf-8" or "base64", "content": "..."}], "notes": "..."}. Each file is
written into the folder, in place of one that is there. What is in the folder then is judged."""
MOST_SHOWN = 60_000
"""Characters of the folder's files that the prompt shows."""
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)


class PlannedFile(Record):
    """A file of a plan."""

    path: str
    """Path below the workspace."""
    encoding: Literal["utf-8", "base64"] = "utf-8"
    """What the content is written in."""
    content: str
    """Its whole content."""


class Plan(Record):
    """What a model writes."""

    files: tuple[PlannedFile, ...]
    """Files."""
    notes: str = ""
    """What it says about them."""


class JsonPlan:
    """Plays with one request per attempt."""

    def __init__(self, player: Player) -> None:
        """Play with a model."""
        self._player = player

    async def run(self, prompt: Prompt, workspace: Toolset, history: list[ChatMessage], budget: Budget) -> Rollout:
        """Play one attempt."""
        text = f"{prompt.text}\n\n{_shown(workspace)}"
        if not history:
            history.append(ChatMessage(role="system", text=SYSTEM))
        history.append(ChatMessage(role="user", text=text))
        events: list[Event] = [Told(text=text, by="task")]
        if limit := budget.reached():
            return Rollout(events=tuple(events), ended=limit)
        settings = self._player.settings
        request = Request(
            model=settings.model, messages=tuple(history), sampling=settings.sampling, sample=self._player.sample
        )
        try:
            completion = await self._player.ask(request, budget)
        except ContextOverflowError as error:
            return Rollout(events=tuple(events), ended="context_overflow", status="agent_error", reason=str(error))
        if completion is None:
            return Rollout(events=tuple(events), ended="hours")
        budget.take_turn()
        message = completion.reply.message
        if message.text:
            history.append(ChatMessage(role="assistant", text=message.text))
        plan, reason = _plan(message.text)
        calls = tuple(_call(number, file) for number, file in enumerate(plan.files if plan else ()))
        events.append(Said(text=message.text, calls=calls, seconds=completion.seconds))
        for call in calls:
            events.append(await carry_out(workspace, call, budget))
        return Rollout(events=tuple(events), status="ok" if plan else "agent_error", reason=reason)


def _shown(workspace: Toolset) -> str:
    """Show the files of the workspace, as far as they fit."""
    place, parts, room = workspace.desk.workspace, ["The folder holds now:"], MOST_SHOWN
    for path, entry in place.snapshot.entries.items():
        if entry.kind != "file":
            continue
        content = place.read(path).decode("utf-8", errors="replace") if entry.size <= room else None
        room -= len(content or "")
        parts.append(f"--- {path} ({entry.size} bytes) ---" + ("" if content is None else f"\n{content}"))
    return "\n".join(parts) if len(parts) > 1 else "The folder is empty."


def _plan(text: str) -> tuple[Plan | None, str]:
    """Read the plan in a reply, and say why there is none."""
    found = _OBJECT.search(text)
    if found is None:
        return None, "the reply holds no JSON object"
    try:
        data: Any = json.loads(found[0])
        return Plan.model_validate(data), ""
    except ValidationError as error:
        first = error.errors()[0]
        return None, f"the reply is not a plan: {'.'.join(map(str, first['loc']))}: {first['msg']}"
    except (ValueError, RecursionError) as error:
        return None, f"the reply is not valid JSON: {error}"


def _call(number: int, file: PlannedFile) -> Call:
    arguments = {"file_path": file.path, "content": file.content}
    if file.encoding != "utf-8":
        arguments["encoding"] = file.encoding
    return Call(id=f"plan_{number}", name="write_file", arguments=json.dumps(arguments))
