"""Checks of tools, prompts and tool responses."""

from audit.detectors.environment.agent_sets_world import AgentSetsWorld
from audit.detectors.environment.denied_change import DeniedChange
from audit.detectors.environment.identical_tool_descriptions import IdenticalToolDescriptions
from audit.detectors.environment.live_dependence import LiveDependence
from audit.detectors.environment.name_effect import NameEffect
from audit.detectors.environment.prompt_code_example import PromptCodeExample
from audit.detectors.environment.prompt_unknown_tool import PromptUnknownTool
from audit.detectors.environment.prompt_wrong_argument import PromptWrongArgument
from audit.detectors.environment.tool_doc_contradiction import ToolDocContradiction
from audit.detectors.environment.tool_doc_implementation import ToolDocImplementation
from audit.detectors.environment.unread_state import UnreadState
from audit.detectors.environment.wrong_entity_response import WrongEntityResponse

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
