"""What a play will ask of judges and of a simulated user, estimated before anything is asked."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from agenthard.agency.judges.exhibit import MOST_ALL, MOST_IMAGES
from agenthard.agency.judges.model_judge import PURPOSE, TRIES
from agenthard.agency.judges.opinion import JudgeKind
from agenthard.agency.scenario import Scenario, ScenarioTask
from agenthard.agency.user.model import ATTEMPTS, SYSTEM
from agenthard.models.estimate import Spread, Workload
from agenthard.models.model_file import ModelFile
from agenthard.models.request import ChatMessage, Request
from agenthard.models.tokens import prompt_tokens

USER = "user"
"""Purpose of a simulated user's requests, in the ledger."""
_FILES = (0, 3000, MOST_ALL // 3)
"""Tokens of the files that a judge reads, at most as many as are shown."""
_IMAGES = (1, 2, MOST_IMAGES)
"""Images that a judge sees."""
_IMAGE_TOKENS = 1000
"""Tokens of an image of the window, about; models count them in ways of their own."""
_INSTRUCTIONS = 450
"""Tokens of the question to a judge around task and files."""
_FOUND = (100, 500, 3000)
"""Tokens of what a judge found, the files' names and the agent's last words, as a user reads them."""
_OPINION, _FEEDBACK = (150, 500, 2000), (150, 400, 1500)
"""Tokens of a reply, reasoning included, which varies most."""


@runtime_checkable
class AsksPerAttempt(Protocol):
    """A judge that says what it asks of its models for one attempt."""

    def asks(self, scenario: Scenario, task: ScenarioTask) -> Iterable[tuple[ModelFile, JudgeKind, int]]:
        """Yield each model with what it does and how often it is asked."""
        ...


def judge_workloads(judge: object, scenario: Scenario, rounds: int) -> list[tuple[ModelFile, str, Workload]]:
    """Foresee what judging one play asks of each model: from one attempt at each task to all, each answer tried again.

    Args:
        judge: the judge; one that does not say what it asks is left out.
        scenario: what is played.
        rounds: feedbacks per task.
    """
    if not isinstance(judge, AsksPerAttempt):
        return []
    found = []
    for task in scenario.tasks:
        for file, kind, times in judge.asks(scenario, task):
            requests = Spread(low=times, typical=times * (1 + rounds / 2), high=times * (1 + rounds) * TRIES)
            shown = _FILES if kind == "text" else tuple(_IMAGE_TOKENS * each for each in _IMAGES)
            found.append((file, PURPOSE, _workload(file, task.query, requests, _INSTRUCTIONS, shown, _OPINION)))
    return found


def user_workloads(file: ModelFile, scenario: Scenario, rounds: int) -> list[tuple[ModelFile, str, Workload]]:
    """Foresee what the user of one play is asked: nothing where every first attempt passes, up to all feedbacks."""
    requests = Spread(low=0, typical=rounds / 2, high=rounds * ATTEMPTS)
    return [
        (file, USER, _workload(file, f"{SYSTEM}\n{task.query}", requests, 0, _FOUND, _FEEDBACK))
        for task in scenario.tasks
    ]


def _workload(
    file: ModelFile, text: str, requests: Spread, more: int, shown: Sequence[int], reply: Sequence[int]
) -> Workload:
    """Return the requests about one task."""
    begin = more + prompt_tokens(Request(model=file.name, messages=(ChatMessage(role="user", text=text),)))
    low, typical, high = (begin + each for each in shown)
    return Workload(
        model=file.name,
        episodes=1,
        requests=requests,
        prompt_tokens=Spread(low=low, typical=typical, high=high),
        completion_tokens=Spread(low=reply[0], typical=reply[1], high=reply[2]),
    )
