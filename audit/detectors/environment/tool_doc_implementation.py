"""Documentation of a tool that its own code contradicts."""

from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, ToolDetector
from agenthard.audit.detectors.support.tool_docs import tool_quote
from agenthard.taxonomy.finding import Evidence, Severity, Tier
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import Signature, ToolSpec


class ToolDocImplementation(ToolDetector):
    """The documented parameters of a tool are not those that its implementation takes.

    The implementation's ``def`` line is read from the benchmark's code without running it.

    Flagged: a documented parameter that the code does not take (a call that uses it raises an error); a parameter that
    the documentation calls optional, or does not mention, and without which the code raises an error.
    Not flagged: a documented parameter where the code takes ``**kwargs``; an undocumented parameter with a default; a
    parameter that the documentation requires and the code does not, which does no harm.
    """

    id = "tool-doc-implementation"
    title = "tool documentation and code disagree on parameters"
    version = "1"
    category = "misleading-tool-design"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.CONFIRMED
    why = "A model that trusts the documentation gets an error from a call that the documentation allows."

    def tool_not_applicable(self, tool: ToolSpec) -> str | None:
        """Return why the tool cannot be checked, or None."""
        if tool.implementation is None:
            return "the benchmark's code is not available (for BFCL, `agenthard fetch bfcl` brings it)"
        return None

    def inspect_tool(self, tool: ToolSpec) -> Iterable[Hit]:
        """Yield the parameters on which documentation and code of ``tool`` disagree."""
        code = tool.implementation
        properties = tool.parameters.get("properties")
        if code is None or not isinstance(properties, dict):
            return
        required = tool.parameters.get("required")
        required = required if isinstance(required, list) else []
        for name in properties:
            pointer = join("/parameters/properties", name)
            if name not in code.parameters and not code.extra_keywords:
                yield Hit(
                    claim=f"{tool.name} documents a parameter {name!r} that its code does not take",
                    evidence=(tool_quote(tool, pointer, note="documented"), _source(tool, code)),
                    fix=f"Take {name!r} out of the documentation, or let the code take it.",
                )
            elif name in code.required and name not in required:
                yield Hit(
                    claim=f"{tool.name} documents {name!r} as optional, and its code fails without it",
                    evidence=(tool_quote(tool, pointer, note="not under required"), _source(tool, code)),
                    fix=f"Add {name!r} to required, or give it a default in the code.",
                )
        for name in code.required:
            if name not in properties:
                yield Hit(
                    claim=f"The code of {tool.name} fails without {name!r}, which the documentation does not mention",
                    evidence=(_source(tool, code), tool_quote(tool, "/parameters/properties", note="documented")),
                    fix=f"Document {name!r} as required.",
                )


def _source(tool: ToolSpec, code: Signature) -> Evidence:
    place = f"{code.origin.file}:{code.origin.line}" if code.origin.line else code.origin.file
    return tool_quote(tool, "/implementation/source", note=place)
