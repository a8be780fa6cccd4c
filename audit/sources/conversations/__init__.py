"""What benchmarks made of recorded conversations with tool calls have in common."""

from agenthard.audit.sources.conversations.calls import read_call
from agenthard.audit.sources.conversations.tools import Toolbox
from agenthard.audit.sources.formats.recorded import RecordedSource, responses

__all__ = ["RecordedSource", "Toolbox", "read_call", "responses"]
