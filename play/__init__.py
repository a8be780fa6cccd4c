"""What playing any benchmark needs: an episode and its record, a model's tool loop, failing tools, MCP, Inspect."""

from agenthard.play.ending import Ending
from agenthard.play.episode import Episode, OutOfTurnsError
from agenthard.play.session import Outcome, Session

__all__ = ["Ending", "Episode", "OutOfTurnsError", "Outcome", "Session"]
