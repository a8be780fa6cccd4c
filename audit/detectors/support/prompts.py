"""The texts that instruct the agent or the simulator of the user, as opposed to what a user says."""

import re
from collections.abc import Iterator

from agenthard.taxonomy.task import AgentTask

_FENCE = re.compile(
    r"^[ \t]*(?P<fence>`{3,}+|~{3,}+)[ \t]*+(?P<language>[\w+-]*+)[^\n]*+\n(?P<code>.*?)^[ \t]*(?P=fence)",
    re.MULTILINE | re.DOTALL,
)


def prompts(task: AgentTask) -> Iterator[tuple[str, str]]:
    """Yield the policy, system messages and the texts of the simulator with their JSON Pointers.

    What a scripted user says is no prompt: a user may call things what they like.
    """
    if task.environment.policy:
        yield "/environment/policy", task.environment.policy
    if task.user.kind == "simulated":
        yield from (item for item in task.user_texts() if not item[0].startswith("/user/turns"))
    for i, turn in enumerate(task.user.turns):
        for j, message in enumerate(turn):
            if message.role == "system" and message.content:
                yield f"/user/turns/{i}/{j}/content", message.content


def for_agent(pointer: str) -> bool:
    """Tell whether the prompt at ``pointer`` is read by the agent rather than by the user's simulator."""
    return pointer == "/environment/policy" or pointer.startswith("/user/turns")


def code_blocks(text: str) -> list[tuple[str, str]]:
    """List the fenced code blocks of a text as (language in lower case, code)."""
    return [(match["language"].lower(), match["code"]) for match in _FENCE.finditer(text)]


def without_code_blocks(text: str) -> str:
    """Return the text with fenced code blocks blanked out, positions unchanged."""
    return _FENCE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
