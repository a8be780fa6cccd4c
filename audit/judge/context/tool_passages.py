"""The documentation of tools as passages: of each what it does, what it takes, what it returns."""

from collections.abc import Iterator

from agenthard.audit.detectors.support.identity_cache import IdentityCache
from agenthard.audit.evidence import canonical_json
from agenthard.audit.judge.context.material import Part, Passage
from agenthard.taxonomy.task import EnvironmentSpec, ToolSpec

_KINDS: tuple[tuple[Part, str, str], ...] = (("tools", "assistant", "agent"), ("user_tools", "user", "user"))
_EFFECTS = {"read": " (read)", "write": " (write)", "unknown": ""}


def _documented(environment: EnvironmentSpec) -> list[tuple[str, str, list[Passage]]]:
    return [
        (who, tool.name, list(_passages(f"/environment/{part}/{i}", part, f"tool of the {whose}", tool)))
        for part, who, whose in _KINDS
        for i, tool in enumerate(getattr(environment, part))
    ]


documented: IdentityCache[EnvironmentSpec, list[tuple[str, str, list[Passage]]]] = IdentityCache(_documented)
"""Whose tool it is, its name and its passages, for all tools of an environment; the first passage names the tool."""


def _passages(at: str, part: Part, kind: str, tool: ToolSpec) -> Iterator[Passage]:
    """Yield what stands in the documentation, and the code's signature where it takes something else."""
    takes = canonical_json(tool.parameters)
    title = f"{kind}: {tool.name}{_EFFECTS[tool.effect]}"
    title += "" if tool.language == "json" else f", {tool.language} values"
    if tool.description:
        without = "" if tool.parameters.get("properties") else ", no parameters"
        yield _passage(f"{at}/description", part, title + without, tool.description)
        if not without:
            yield _passage(f"{at}/parameters", part, f"parameters of {tool.name}", takes)
    else:
        yield _passage(f"{at}/parameters", part, f"{title}, no description; its parameters", takes)
    if tool.returns and not tool.returns.keys().isdisjoint(("properties", "description", "items")):
        yield _passage(f"{at}/returns", part, f"what {tool.name} returns", canonical_json(tool.returns))
    if tool.implementation and not _as_documented(tool):
        source = tool.implementation.source
        yield _passage(f"{at}/implementation/source", part, f"implementation of {tool.name}", source)


def _as_documented(tool: ToolSpec) -> bool:
    """Tell whether the code takes, and requires, the documented parameters."""
    code = tool.implementation
    return code is not None and (
        set(code.parameters) == set(tool.parameters.get("properties") or ())
        and set(code.required) == set(tool.parameters.get("required") or ())
    )
