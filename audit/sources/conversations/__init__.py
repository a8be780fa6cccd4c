"""What benchmarks made of recorded conversations with tool calls have in common."""

from agenthard.audit.sources.conversations.calls import read_call
from agenthard.audit.sources.conversations.recorded import RecordedSource, responses
from agenthard.audit.sources.conversations.tools import Toolbox

__all__ = ["RecordedSource", "Toolbox", "read_call", "responses"]
