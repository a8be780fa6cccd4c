"""One agent at one instance of ACE-Bench."""

from agenthard.ace.environment import Environment
from agenthard.ace.session import AceSession
from agenthard.play import episode
from agenthard.play.episode import MAX_TURNS

__all__ = ["MAX_TURNS", "Episode"]


class Episode(episode.Episode):
    """The conversation of one agent about one grid; see :class:`agenthard.play.episode.Episode`.

    A right grid passes unless the run overran: the paper's text fails such a run, the released code does not.
    """

    def __init__(
        self,
        environment: Environment,
        agent: str,
        trial: int,
        *,
        condition: str = "",
        task_id: str | None = None,
        max_turns: int = MAX_TURNS,
    ) -> None:
        """Starts an episode; the arguments are those of :class:`agenthard.play.episode.Episode`."""
        super().__init__(
            AceSession(environment), agent, trial, condition=condition, task_id=task_id, max_turns=max_turns
        )
        self.environment = environment
