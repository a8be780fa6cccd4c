"""What tests of prompts share: material, and how a fence is undone."""

import re
from pathlib import Path
from typing import Any

import yaml

from agenthard.audit.judge.context.applicable import applicable
from agenthard.audit.judge.context.material import Material, Passage
from agenthard.audit.judge.prompt import Prompt, build_prompt
from agenthard.taxonomy.categories import builtin_taxonomy
from agenthard.taxonomy.task import AgentTask

INJECTIONS = [
    text
    for texts in yaml.safe_load(Path(__file__).with_name("injections.yaml").read_text(encoding="utf-8")).values()
    for text in texts
]


def material(*texts: str, **more: Any) -> Material:
    """Material with the given texts as what the user says."""
    passages = tuple(
        Passage(label=f"/user/turns/0/{i}/content", part="user", title="user", text=text)
        for i, text in enumerate(texts)
    )
    return Material(**{"task_id": "lib/1", "passages": passages, **more})


def prompt_of(task: AgentTask, shown: Material | None = None, investigates: bool = False) -> Prompt:
    return build_prompt(task, shown or material("Lend book 7."), applicable(task, builtin_taxonomy()), investigates)


def code_of(prompt: Prompt) -> str:
    found = re.match(r"Audit this task. The fence code is ([0-9a-f]{8}):", prompt.user)
    assert found
    return found[1]


def passages_in(prompt: Prompt) -> list[tuple[str, str]]:
    """Undo the fences: the heading and the text of each, in order."""
    code = re.escape(code_of(prompt))
    return re.findall(
        rf"^<<<{code} (.*)\n((?s:.*?))\n{code}>>>$", prompt.user.split("ends before that line.\n")[1], re.M
    )
