"""Panels of models as judges of an evaluation: ``panel:FILE`` for all criteria, ``mixed:FILE`` where no check decides.

The file names the models that read, those that see, and how often each is asked.
"""

import getpass
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator

from agenthard.agency.judges import Blinder, CriterionGrade, Exhibit, Grade, Panel, PanelGrade, Probe, grade, judge
from agenthard.agency.judges.opinion import TOP_SCORE, JudgeKind
from agenthard.agency.judges.panel import KINDS
from agenthard.agency.judging import Judge, JudgeSetting
from agenthard.agency.sandbox import Plan
from agenthard.agency.sandbox.plan import Screenshot, Wait
from agenthard.agency.scenario import Criterion, Scenario, ScenarioTask
from agenthard.agency.workspace import EvalSpace
from agenthard.models.errors import ConfigurationError
from agenthard.models.model_file import ModelFile, load_model
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_record

FIRST_LOOK = Plan(steps=(Wait(milliseconds=1000), Screenshot(label="the page after a second")))
"""What is seen of a page whose scenario has no plan for it."""
_NAMES: Mapping[JudgeKind, str] = {"text": "judges that read", "vision": "judges that see"}


class PanelFile(Record):
    """Who judges, as a file says it."""

    text: tuple[str, ...] = ()
    """Models that read: full names, or model files, relative to this file."""
    vision: tuple[str, ...] = ()
    """Models that see."""
    repeats: int = Field(default=1, ge=1, le=50)
    """How often each is asked."""

    @model_validator(mode="after")
    def _somebody(self) -> Self:
        if not self.text and not self.vision:
            raise ValueError("it names no judge: give text, vision or both")
        return self


def read_panel(file: str) -> Panel:
    """Read a panel.

    Raises:
        ValueError: the file cannot be read, or a model of it.
    """
    if not file:
        raise ValueError("name the file of the panel: judge=panel:judges.yaml, with text, vision and repeats")
    path = Path(file)
    found = load_record(path, PanelFile, error=ValueError, what="panel", docs="docs/agency.md")

    def models(names: Sequence[str]) -> tuple[ModelFile, ...]:
        nearby = (str(path.parent / name) if name.endswith((".yaml", ".yml")) else name for name in names)
        return tuple(map(load_model, nearby))

    try:
        return Panel(text=models(found.text), vision=models(found.vision), repeats=found.repeats)
    except ConfigurationError as error:
        raise ValueError(f"panel {path}: {error}") from error


class PanelJudge:
    """Judges every criterion by models, also those that a check could decide."""

    with_rules = False
    """Whether criteria with a check are left to it."""

    def __init__(self, file: str = "") -> None:
        """Read the file of the panel.

        Raises:
            ValueError: it cannot be read.
        """
        self._panel = read_panel(file)

    @property
    def models(self) -> Sequence[ModelFile]:
        """The models that it asks."""
        return (*self._panel.text, *self._panel.vision)

    def described(self) -> str:
        """Say who judges."""
        kinds: tuple[JudgeKind, ...] = ("text", "vision")
        named = [(_NAMES[kind], [each.label for each in self._panel.judges(kind)]) for kind in kinds]
        who = "; ".join(f"{name}: {', '.join(labels)}" for name, labels in named if labels)
        return f"{who}; each asked {self._panel.repeats} times" if self._panel.repeats > 1 else who

    def obstacle(self, scenario: Scenario) -> str | None:
        """Say why it cannot judge a scenario."""
        for task in scenario.tasks:
            for kind in {each.judge for each in self._asked(scenario, task).criteria}:
                if kind == "script":
                    return f"a script of the benchmark decides {task.id}, and no model can replace it"
                if kind is not None and not self._panel.judges(kind):
                    return f"{task.id} has clauses for {_NAMES[kind]}, and the panel has none"
        return None

    def asks(self, scenario: Scenario, task: ScenarioTask) -> Iterable[tuple[ModelFile, JudgeKind, int]]:
        """Yield what judging an attempt asks: each model, whether it reads or sees, and how often."""
        wanted = {each.judge for each in self._asked(scenario, task).criteria}
        for kind in KINDS:
            if kind in wanted:
                yield from ((file, kind, self._panel.repeats) for file in self._panel.judges(kind))

    def judge(self, setting: JudgeSetting) -> Judge:
        """Return the judge of one play."""

        def begin(task: ScenarioTask, space: EvalSpace, said: str) -> Grade | Awaitable[Grade]:
            asked, ruled = self._asked(setting.scenario, task), self._ruled(task, space, setting)
            if ruled is not None and not asked.criteria:
                return ruled
            return self._judged(task, self._exhibit(asked, space, said, setting), ruled, space.snapshot, setting)

        return begin

    async def _judged(
        self, task: ScenarioTask, exhibit: Exhibit, ruled: Grade | None, snapshot: str, setting: JudgeSetting
    ) -> Grade:
        """Let the models judge, and average them with what rules decided."""
        if setting.model is None:
            raise ValueError("a panel of models judges, and nothing answers requests")
        rules = {each.criterion: each for each in ruled.criteria} if ruled else {}
        left = tuple(each for each in task.criteria if each.id in rules)
        exhibit.task = exhibit.task.model_copy(update={"criteria": (*exhibit.task.criteria, *left)})
        shares = {id: each.share for id, each in rules.items()}
        found = await judge(self._panel, exhibit, setting.model, snapshot=snapshot, owner=setting.owner, rules=shares)
        return _grade(task, exhibit.task, found, rules)

    def _asked(self, scenario: Scenario, task: ScenarioTask) -> ScenarioTask:
        """Return the task with the criteria that models judge, each for the kinds that judge it."""
        open = [each for each in task.criteria if not (self.with_rules and each.check is not None)]
        found = [part for each in open for part in self._parts(scenario, each)]
        return task.model_copy(update={"criteria": tuple(found)})

    def _parts(self, scenario: Scenario, criterion: Criterion) -> Iterable[Criterion]:
        """Return a criterion once for each kind that judges it; without a kind, all that the panel has and can."""
        if criterion.judge is not None:
            return [criterion]
        sees = scenario.needs.browser and self._panel.vision
        kinds: list[JudgeKind] = ["text"] if self._panel.text or not sees else []
        kinds += ["vision"] if sees else []
        share = criterion.weight / len(kinds)
        return [
            criterion.model_copy(update={"id": f"{criterion.id}-{kind}", "check": None, "judge": kind, "weight": share})
            for kind in kinds
        ]

    def _ruled(self, task: ScenarioTask, space: EvalSpace, setting: JudgeSetting) -> Grade | None:
        """Grade the criteria that are left to rules; None where there are none."""
        left = tuple(each for each in task.criteria if self.with_rules and each.check is not None)
        if not left:
            return None
        part = task.model_copy(update={"criteria": left})
        return grade(part, setting.checks, space, setting.limits, weak_isolation=setting.weak_isolation)

    def _exhibit(self, asked: ScenarioTask, space: EvalSpace, said: str, setting: JudgeSetting) -> Exhibit:
        folders = [str(path) for path in (space.work, space.gold, *setting.folders)]
        blinder = Blinder.of_task(asked, models=setting.agent, paths=folders, users=[_user()])
        record, images = None, None
        if any(each.judge == "vision" for each in asked.criteria):
            probe = Probe(space, setting.limits, weak_isolation=setting.weak_isolation)
            record = probe.browse(setting.views.get(asked.id, FIRST_LOOK))
            images = probe.images(0)
        return Exhibit(asked, space.work, blinder, reply=said, record=record, images=images)


class MixedJudge(PanelJudge):
    """Leaves criteria with a check to it, and the others to models; they count by their weights."""

    with_rules = True


def _grade(task: ScenarioTask, asked: ScenarioTask, found: PanelGrade, rules: Mapping[str, CriterionGrade]) -> Grade:
    """Say what a panel and rules found, criterion by criterion of the task."""
    scores = {each.kind: each for each in found.grades}
    said: set[JudgeKind] = set()
    criteria = []
    for each in task.criteria:
        if each.id in rules:
            criteria.append(rules[each.id])
            continue
        parts = [part for part in asked.criteria if part.id == each.id or part.id.rpartition("-")[0] == each.id]
        kinds = [kind for kind in scores if any(part.judge == kind for part in parts)]
        share = sum((scores[kind].score or 0.0) / TOP_SCORE for kind in kinds) / len(kinds)
        reasons = [_reason(found, kind, kind in said) for kind in kinds]
        said.update(kinds)
        criteria.append(CriterionGrade(criterion=each.id, share=share, reason="; ".join(reasons) if share < 1 else ""))
    return Grade(
        task_id=task.id,
        snapshot=found.snapshot,
        score=found.score,
        passed=found.passed,
        criteria=tuple(criteria),
        status=found.status,
        panel=found,
    )


def _reason(found: PanelGrade, kind: JudgeKind, again: bool) -> str:
    """Say what the judges of a kind found; their comments once, since they judge all their criteria together."""
    each = next(each for each in found.grades if each.kind == kind)
    score = "no score" if each.score is None else f"{each.score:.1f} of {TOP_SCORE:.0f}"
    head = f"{_NAMES[kind]}: {score} for all their clauses together"
    comments = dict.fromkeys(opinion.comment or opinion.reason for opinion in each.opinions)
    return f"{head}, as above" if again else f"{head}: {' / '.join(comments)}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no such user in the machine's list
        return ""
