"""Checks of tools, prompts and tool responses."""

from agenthard.audit.detectors.environment.agent_sets_world import AgentSetsWorld
from agenthard.audit.detectors.environment.denied_change import DeniedChange
from agenthard.audit.detectors.environment.identical_tool_descriptions import IdenticalToolDescriptions
from agenthard.audit.detectors.environment.live_dependence import LiveDependence
from agenthard.audit.detectors.environment.name_effect import NameEffect
from agenthard.audit.detectors.environment.prompt_code_example import PromptCodeExample
from agenthard.audit.detectors.environment.prompt_unknown_tool import PromptUnknownTool
from agenthard.audit.detectors.environment.prompt_wrong_argument import PromptWrongArgument
from agenthard.audit.detectors.environment.tool_doc_contradiction import ToolDocContradiction
from agenthard.audit.detectors.environment.tool_doc_implementation import ToolDocImplementation
from agenthard.audit.detectors.environment.unread_state import UnreadState
from agenthard.audit.detectors.environment.wrong_entity_response import WrongEntityResponse

__all__ = [
    "AgentSetsWorld",
    "DeniedChange",
    "IdenticalToolDescriptions",
    "LiveDependence",
    "NameEffect",
    "PromptCodeExample",
    "PromptUnknownTool",
    "PromptWrongArgument",
    "ToolDocContradiction",
    "ToolDocImplementation",
    "UnreadState",
    "WrongEntityResponse",
]
