"""What is done for a question before and after it is asked: its prompt is written, its verdict checked. No network."""

from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import chain, zip_longest
from pathlib import Path
from typing import NamedTuple

from agenthard.audit.detectors.registry import detectors
from agenthard.audit.execution.checkout import use_checkout
from agenthard.audit.execution.workers import allow_weak_isolation
from agenthard.audit.judge.aggregate.panel import PanelIssue
from agenthard.audit.judge.aggregate.rebuttal import passing_run, rebuttal_request, with_run
from agenthard.audit.judge.context.applicable import applicable
from agenthard.audit.judge.context.budget import PromptTooLongError, trim
from agenthard.audit.judge.context.material import Material, material_tokens
from agenthard.audit.judge.context.passages import gather
from agenthard.audit.judge.prompt import build_prompt, judge_request
from agenthard.audit.judge.settings import Judge
from agenthard.audit.judge.templates import prompt_version
from agenthard.audit.judge.verdict import CheckedVerdict, Judged
from agenthard.audit.judge.verify.verification import check_verdict
from agenthard.audit.repair.recheck import Checker
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.questions import request_number, twins_before
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.models.request import Request
from agenthard.models.tokens import most_prompt_tokens
from agenthard.taxonomy.categories import Category, load_taxonomy
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_TRIMMINGS = 4
"""How often a prompt is shortened until it fits: what surrounds the material depends on what is left out."""
_SPARE = 64
"""Tokens by which more is left out than was too much: what is left out is stated as well."""


class Ready(NamedTuple):
    """A prompt that can be put to a judge."""

    request: Request
    """The request of sample 0 at its first attempt, as it would be sent."""
    digests: tuple[str, ...]
    """Digests of the first attempts of all samples."""
    version: str
    """Version of the prompt."""
    material: Material
    """What it shows of the task."""
    categories: tuple[str, ...]
    """Ids of the categories that it asks about."""
    too_long: str = ""
    """Why nothing can be sent: what a decision needs does not fit the judge. Empty when it fits."""


class Workbench:
    """Prompts and checks for the tasks of one audit; each process that works on them has its own."""

    def __init__(self, settings: JudgingSettings) -> None:
        """Read the audit.

        Raises:
            CommandError: It cannot be judged.
        """
        self.inputs = AuditInputs(settings.audited())
        checkout = self.inputs.audited.settings.checkout
        use_checkout(Path(checkout) if checkout else None)
        allow_weak_isolation(self.inputs.audited.settings.weak_isolation)
        self._judges, self._runs = settings.judges.judges, settings.runs
        self._taxonomy = load_taxonomy()

    def prepare(self, task_id: str) -> dict[str, Ready]:
        """Write the prompts of all judges for one task, by the judge's name."""
        inputs = self.inputs
        task = inputs.task(task_id)
        runs = some_runs(inputs.runs(task_id), self._runs) if self._runs else ()
        whole = gather(task, inputs.findings(task_id), inputs.coverage(task_id), runs)
        categories = applicable(task, self._taxonomy, bool(runs))
        return {judge.name: self._ready(judge, task, whole, categories) for judge in self._judges}

    def check(self, judged: Judged, material: Material) -> CheckedVerdict:
        """Check what a judge said of a task."""
        inputs, task_id = self.inputs, judged.task_id
        patched = judged.verdict is not None and any(issue.patch for issue in judged.verdict.issues)
        return check_verdict(
            judged,
            inputs.task(task_id),
            material,
            inputs.findings(task_id),
            inputs.coverage(task_id),
            self._checker if patched else None,
        )

    def defence(self, task_id: str, issue: PanelIssue, judge: str) -> Ready:
        """Write the prompt of a defence against a flaw; a run that passed the task is shown where there is one."""
        task = self.inputs.task(task_id)
        ready = self.prepare(task_id)[judge]
        if ready.too_long:
            return ready
        run = passing_run(task, self.inputs.runs(task_id))
        material = with_run(task, ready.material, run) if run else ready.material
        by = next(each for each in self._judges if each.name == judge)
        request = rebuttal_request(by, task, material, issue, self._taxonomy[issue.category], 0)
        request = by.model.addressed(request)
        return ready._replace(request=request, digests=(request.digest,), material=material)

    @cached_property
    def _checker(self) -> Checker:
        """What re-checks patches; it is made when the first judge writes one."""
        inputs = self.inputs
        tasks = tuple(inputs.tasks.values())
        return Checker(inputs.source.name, tasks, detectors(), inputs.audited.observed())

    def _ready(self, judge: Judge, task: AgentTask, whole: Material, categories: tuple[Category, ...]) -> Ready:
        """Write a prompt that a judge can take in, leaving out what it must."""
        number = request_number(twins_before(judge, self._judges), 0, 0)
        ids = tuple(category.id for category in categories)
        version, limit = prompt_version(self._taxonomy), judge.context_tokens
        try:
            for _ in range(_TRIMMINGS):
                material = trim(whole, task, max(limit, 1))
                prompt = build_prompt(task, material, categories, judge.investigates, self._taxonomy)
                request = judge_request(judge, prompt, categories, number)
                excess = most_prompt_tokens(request) - judge.context_tokens
                if excess <= 0:
                    request = judge.model.addressed(request)
                    return Ready(request, _digests(request, judge.samples), version, material, ids)
                limit = min(limit, material_tokens(material)) - excess - _SPARE
            why = f"the prompt can have {excess:,} tokens more than the judge may be given ({judge.context_tokens:,})"
        except PromptTooLongError as error:
            why = str(error)
        nothing = Material(task_id=task.id, passages=())
        request = judge.model.addressed(Request(model=judge.model.name, messages=(), sample=number))
        return Ready(request, _digests(request, judge.samples), version, nothing, ids, why)


def _digests(request: Request, samples: int) -> tuple[str, ...]:
    numbered = (request.model_copy(update={"sample": request.sample + sample}) for sample in range(samples))
    return tuple(each.digest for each in numbered)


def some_runs(runs: Sequence[Trajectory], count: int) -> list[Trajectory]:
    """Choose runs to show: a failed one, a passed one, and so on, each kind in order of model and trial."""
    scored = sorted((run for run in runs if run.passed is not None), key=lambda run: (run.model, run.trial, run.id))
    failed, passed = ([run for run in scored if run.passed is wanted] for wanted in (False, True))
    return [run for run in chain.from_iterable(zip_longest(failed, passed)) if run is not None][:count]


@lru_cache(maxsize=1)
def _opened(settings: str) -> Workbench:
    return Workbench(JudgingSettings.model_validate_json(settings))


def open_workbench(settings: JudgingSettings) -> Workbench:
    """Open the workbench of a run once per process."""
    return _opened(settings.model_dump_json())
