"""Judges of attempts by name: what an evaluation's condition ``judge`` chooses from.

A name may be followed by a file: ``panel:judges.yaml``. Other packages register theirs under ``agenthard.judges``.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from agenthard.agency.judges import Check, Grade, grade
from agenthard.agency.judges.grades import RULES
from agenthard.agency.sandbox import Plan
from agenthard.agency.scenario import Scenario, ScenarioTask
from agenthard.agency.workspace import EvalSpace
from agenthard.audit.plugins import plugins
from agenthard.containment import JobLimits
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Model

GROUP = "agenthard.judges"
BUILT_IN = {
    RULES: "agenthard.agency.judging:Rules",
    "panel": "agenthard.agency.panel_judges:PanelJudge",
    "mixed": "agenthard.agency.panel_judges:MixedJudge",
}
Judge = Callable[[ScenarioTask, EvalSpace, str], Grade | Awaitable[Grade]]
"""Grades an eval-space, with what the agent said last. It is called in a thread; what it returns may be awaited."""


@dataclass(frozen=True)
class JudgeSetting:
    """What a judge works with in one play."""

    scenario: Scenario
    """The scenario."""
    checks: Mapping[str, Check]
    """Checks of the scenario, by name."""
    views: Mapping[str, Plan]
    """Plans that show the pages of its tasks, by task."""
    limits: JobLimits
    """What each program of the workspace may use."""
    weak_isolation: bool
    """Whether programs run although this machine lacks a layer of isolation."""
    model: Model | None
    """Answers requests; None where no model takes part."""
    owner: str
    """What requests are charged to."""
    agent: tuple[str, ...]
    """Names of the model that plays, which no judge reads; empty for an agent without a model."""
    folders: tuple[Path, ...]
    """Folders of this machine, which no judge reads of."""


class JudgeKind(Protocol):
    """A kind of judge, made of what follows its name after a colon; it raises ValueError where that is wrong."""

    @property
    def models(self) -> Sequence[ModelFile]:
        """The models that it asks."""
        ...

    def described(self) -> str:
        """Say who judges, for the manifest and the report; empty where the name says it all."""
        ...

    def obstacle(self, scenario: Scenario) -> str | None:
        """Say why it cannot judge a scenario; None when it can."""
        ...

    def judge(self, setting: JudgeSetting) -> Judge:
        """Return the judge of one play."""
        ...


class Rules:
    """Decides every criterion with a check."""

    models: Sequence[ModelFile] = ()

    def __init__(self, file: str = "") -> None:
        """Prepare.

        Raises:
            ValueError: a file is given.
        """
        if file:
            raise ValueError(f"judge={RULES} has no file: leave out {':' + file!r}")

    def described(self) -> str:
        """Say who judges: the name does."""
        return ""

    def obstacle(self, scenario: Scenario) -> str | None:
        """Say why it cannot judge a scenario."""
        open = [f"{task.id} {each.id}" for task in scenario.tasks for each in task.criteria if each.check is None]
        return f"no check decides {', '.join(open[:3])}; play with judge=panel:FILE or mixed:FILE" if open else None

    def judge(self, setting: JudgeSetting) -> Judge:
        """Return the judge of one play."""

        def judge(task: ScenarioTask, space: EvalSpace, said: str) -> Grade:
            return grade(task, setting.checks, space, setting.limits, weak_isolation=setting.weak_isolation)

        return judge


def judge_of(name: str) -> JudgeKind:
    """Return the judge of a name, with its file.

    Raises:
        ValueError: there is none of this name, or its file cannot be used; the message says why.
    """
    known = plugins(GROUP, BUILT_IN)
    kind, _, file = name.partition(":")
    if kind not in known:
        raise ValueError(f"no judge {kind!r}; there are: {', '.join(known)}")
    made: JudgeKind = known[kind].load()(file)
    return made
