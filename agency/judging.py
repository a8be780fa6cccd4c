"""Judges of attempts by name: what an evaluation's condition ``judge`` chooses from."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from agenthard.agency.judges import Check, Grade, grade
from agenthard.agency.scenario import ScenarioTask
from agenthard.agency.workspace import EvalSpace
from agenthard.audit.plugins import plugins
from agenthard.containment import JobLimits
from agenthard.models.request import Model

GROUP = "agenthard.judges"
BUILT_IN = {"rules": "agenthard.agency.judging:rules"}
Judge = Callable[[ScenarioTask, EvalSpace], Grade | Awaitable[Grade]]
"""Grades an eval-space. It is called in a thread; what it returns may be awaited."""


@dataclass(frozen=True)
class JudgeSetting:
    """What a judge is made of."""

    checks: Mapping[str, Check]
    """Checks of the scenario, by name."""
    limits: JobLimits
    """What each program of the workspace may use."""
    weak_isolation: bool
    """Whether programs run although this machine lacks a layer of isolation."""
    model: Model | None
    """Answers requests; None where no model takes part."""


def rules(setting: JudgeSetting) -> Judge:
    """Make the judge that decides every criterion with a check."""

    def judge(task: ScenarioTask, space: EvalSpace) -> Grade:
        return grade(task, setting.checks, space, setting.limits, weak_isolation=setting.weak_isolation)

    return judge


def judge_of(name: str) -> Callable[[JudgeSetting], Judge]:
    """Return what makes the judge of a name.

    Raises:
        ValueError: there is none of this name; the message lists all.
    """
    known = plugins(GROUP, BUILT_IN)
    if name not in known:
        raise ValueError(f"no judge {name!r}; there are: {', '.join(known)}")
    made: Callable[[JudgeSetting], Judge] = known[name].load()
    return made
