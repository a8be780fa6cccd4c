"""Tools of agents, one module per group, and the toolset that carries out their calls on a workspace.

``tool`` has what a tool is and what a call gives; ``toolset`` all tools by name.
"""

from agenthard.agency.tools.tool import CallResult, Desk, Notes, ToolRefusal
from agenthard.agency.tools.toolset import TOOLS, Toolset

__all__ = ["TOOLS", "CallResult", "Desk", "Notes", "ToolRefusal", "Toolset"]
