"""Memory: facts and a bank of sections, which last as long as the scenario and outlive a compaction."""

from typing import Any

from agenthard.agency.tools.tool import Desk, Output, ToolFunction, ToolRefusal, text, tool

MOST_FACTS = 200
MOST_CHARACTERS = 20_000


def _save_memory(desk: Desk, given: dict[str, Any]) -> Output:
    if len(desk.notes.facts) >= MOST_FACTS or len(given["fact"]) > MOST_CHARACTERS:
        raise ToolRefusal(f"at most {MOST_FACTS} facts of {MOST_CHARACTERS} characters are kept")
    desk.notes.facts.append(given["fact"])
    return Output(f"saved; {len(desk.notes.facts)} facts are kept")


def _initialize(desk: Desk, given: dict[str, Any]) -> Output:
    if desk.notes.bank is None:
        desk.notes.bank = {}
    return Output("the memory bank is ready")


def _bank(desk: Desk) -> dict[str, str]:
    if desk.notes.bank is None:
        raise ToolRefusal("the memory bank is missing; call initialize_memory_bank first")
    return desk.notes.bank


def _read(desk: Desk, given: dict[str, Any]) -> Output:
    sections = _bank(desk).items()
    return Output("\n\n".join(f"## {name}\n{content}" for name, content in sections) or "(empty)")


def _update(desk: Desk, given: dict[str, Any]) -> Output:
    bank = _bank(desk)
    if len(given["content"]) > MOST_CHARACTERS or (given["section"] not in bank and len(bank) >= MOST_FACTS):
        raise ToolRefusal(f"at most {MOST_FACTS} sections of {MOST_CHARACTERS} characters are kept")
    bank[given["section"]] = given["content"]
    return Output(f"updated {given['section']}")


MEMORY = (
    ToolFunction(
        tool("save_memory", "Keep a fact for later tasks.", ("fact",), fact=text("The fact")), "memory", _save_memory
    ),
    ToolFunction(tool("initialize_memory_bank", "Make an empty memory bank."), "memory", _initialize),
    ToolFunction(tool("read_memory_bank", "Read all sections of the memory bank."), "memory", _read),
    ToolFunction(
        tool(
            "update_memory_bank",
            "Write a section of the memory bank.",
            ("section", "content"),
            section=text("Name of the section"),
            content=text("Its whole content"),
        ),
        "memory",
        _update,
    ),
)
"""The tools of this group."""
