"""Settings of a judging run, its paths in the run folder, and the lock on that folder."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from pydantic import Field

from agenthard.audit.judge.aggregate.findings import JUDGE_VERSION
from agenthard.audit.judge.settings import Judge, JudgeSettings
from agenthard.audit.judge.templates import prompt_version
from agenthard.flows.audited_run import Audited, read_audited
from agenthard.flows.errors import CommandError
from agenthard.flows.job_status import JUDGING
from agenthard.flows.judging.cascade import rules_of
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.run_folder import RunFolder, write_json
from agenthard.flows.scale_out.settings import ScaleOut
from agenthard.models.budget import Budget
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable, load_prices
from agenthard.taxonomy.categories import load_taxonomy
from agenthard.taxonomy.record import Record

_TRANSPORT = {"limits", "retries", "timeout", "price", "key_env"}
"""Settings of a model that affect the speed and the price of its answers, not the answers."""


class JudgingSettings(Record):
    """A judging run. Workers and where they are, requests in flight, cache and budget do not affect the questions."""

    run: str
    """Run folder of the finished audit."""
    judges: JudgeSettings
    """The panel and its rules."""
    out: str
    """Folder to write."""
    benchmark: str | None = None
    """Folder of the benchmark; None = the folder that was audited."""
    tasks: tuple[str, ...] = ()
    """Tasks to judge; empty = all."""
    sample: int | None = Field(default=None, ge=1)
    """Number of tasks to draw with the seed of the judge file; None = all."""
    runs: int = Field(default=0, ge=0)
    """Runs of each task to show to the judges, where the audit has runs: failed and passed ones alternate."""
    in_flight: int = Field(default=64, ge=1)
    """Questions that are asked at the same time."""
    workers: int = Field(default=1, ge=0)
    """Processes that write prompts and check verdicts; 0 = this process does both."""
    retry: bool = False
    """Whether questions that ended in an error are asked again."""
    cache: str | None = None
    """File of cached replies; None keeps it in the folder."""
    prices: str | None = None
    """Price table that takes precedence over the built-in one."""
    budget: float | None = Field(default=None, ge=0)
    """Upper limit of the cost, in the currency of the prices."""
    token_budget: int | None = Field(default=None, gt=0)
    """Upper limit of the tokens."""
    scale_out: ScaleOut = ScaleOut()
    """Where prompts are written and verdicts are checked."""

    @property
    def folder(self) -> "JudgingFolder":
        """The folder to write."""
        return JudgingFolder(Path(self.out))

    @property
    def models(self) -> list[ModelFile]:
        """The models of all judges."""
        return [judge.model for judge in self.judges.judges]

    def audited(self) -> Audited:
        """Read the audit.

        Raises:
            CommandError: The folder holds no audit.
        """
        return read_audited(Path(self.run), self.benchmark)

    def judge(self, name: str) -> Judge:
        """Return the judge with this name."""
        return next(judge for judge in self.judges.judges if judge.name == name)

    def require_judge(self, name: str | None) -> None:
        """Check that the judge file has a judge with this name, if one is given.

        Raises:
            CommandError: It has not.
        """
        names = [judge.name for judge in self.judges.judges]
        if name is not None and name not in names:
            raise CommandError(f"the judge file has no judge {name!r}; it has {', '.join(names)}")

    def price_table(self) -> PriceTable:
        """Read the prices: those of model files first, then the user's table, then the built-in one.

        Raises:
            ConfigurationError: A table cannot be read, or a budget in money is set for a model without a price.
        """
        table = load_prices(Path(self.prices) if self.prices else None)
        table = table.after(file.price for file in self.models if file.price is not None)
        self.limits.require_prices([file.name for file in self.models], table)
        return table

    @property
    def limits(self) -> Budget:
        """The budget of the run."""
        return Budget(money=self.budget, tokens=self.token_budget)

    def identities(self, audit: str) -> dict[str, str]:
        """Hash everything that must not change within a folder: the audit, each judge, the rules.

        Args:
            audit: Hash of the audit.

        Returns:
            Hashes by subject.
        """
        panel = self.judges.model_dump(mode="json")
        judges = {judge.pop("name"): _without_transport(judge) for judge in panel.pop("judges")}
        texts: dict[str, Any] = {"audit": audit, "judge file": panel, "number of runs shown": self.runs}
        texts |= {f"judge {name}": judge for name, judge in judges.items()}
        return {
            name: hashlib.sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()[:16]
            for name, text in texts.items()
        }


class JudgingFolder:
    """Paths of the files that a judging adds to a run folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.judge = root / "judge"
        self.store = self.judge / "questions.sqlite"
        self.ledger = self.judge / "ledger.sqlite"
        self.cache = self.judge / "replies.sqlite"
        self.identity = self.judge / "identity.json"

    def cache_of(self, settings: JudgingSettings) -> Path:
        """Return the file of cached replies."""
        return Path(settings.cache) if settings.cache else self.cache


def select_tasks(settings: JudgingSettings, inputs: AuditInputs) -> tuple[str, ...]:
    """Select the tasks to judge, in the order of the benchmark; no others will be read where that can be avoided.

    Raises:
        CommandError: The audit has no such task.
    """
    for task_id in settings.tasks:
        inputs.require(task_id)
    wanted = set(settings.tasks)
    ids = [task_id for task_id in inputs.plan.task_ids if not wanted or task_id in wanted]
    if settings.sample is not None and settings.sample < len(ids):
        drawn = set(Random(settings.judges.seed).sample(ids, settings.sample))
        ids = [task_id for task_id in ids if task_id in drawn]
    inputs.select(ids)
    return tuple(ids)


@contextmanager
def acquire_run_folder(settings: JudgingSettings, inputs: AuditInputs) -> Iterator[JudgingFolder]:
    """Create or resume the run folder, and lock it while the block runs.

    Raises:
        CommandError: It holds another judging.
        RunFolderError: It holds something else, or another process works there or writes into the audit.
    """
    folder = settings.folder
    with inputs.folder.read(), RunFolder(folder.root).hold(folder.identity, JUDGING):
        folder.judge.mkdir(parents=True, exist_ok=True)
        check_identity(settings, inputs)
        yield folder


def check_identity(settings: JudgingSettings, inputs: AuditInputs) -> None:
    """Check that the folder belongs to this judging; a new folder is marked as such.

    Raises:
        CommandError: It belongs to another judging.
    """
    folder = settings.folder
    rules = hashlib.sha256(rules_of(inputs).escalation.model_dump_json().encode()).hexdigest()[:16]
    versions = {"prompts": prompt_version(load_taxonomy()), "evidence gate": JUDGE_VERSION, "rule of escalation": rules}
    wanted = {**settings.identities(inputs.key()), **versions}
    if folder.identity.is_file():
        known = json.loads(folder.identity.read_text(encoding="utf-8"))
        changed = sorted(name for name in {*known, *wanted} if known.get(name) != wanted.get(name))
        if changed:
            raise CommandError(
                f"{folder.root}: holds a judging with another {', '.join(changed)} (the audit, the judge file, or the "
                "version of AgentHard); give another folder with --out, or delete this one. --cache FILE shares replies"
            )
        return
    write_json(folder.identity, wanted)


def _without_transport(judge: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a judge that its answers depend on; its weight and tier belong to the panel's rules."""
    return {**judge, "model": {k: v for k, v in judge["model"].items() if k not in _TRANSPORT}}
