"""What is judged, by whom and where."""

import hashlib
import json
from pathlib import Path
from typing import Any

from pydantic import Field

from agenthard.audit.judge.settings import Judge, JudgeSettings
from agenthard.flows.audited_run import Audited, read_audited
from agenthard.models.budget import Budget
from agenthard.models.model_file import ModelFile
from agenthard.models.prices import PriceTable, load_prices
from agenthard.taxonomy.record import Record

_HOW_HARD = {"limits", "retries", "timeout", "price", "key_env"}
"""Settings of a model that change when and at what price it answers, and not what."""


class JudgingSettings(Record):
    """A judging run. Workers, requests in flight, cache and budget have no influence on what is asked."""

    run: str
    """Run folder of the finished audit."""
    judges: JudgeSettings
    """The panel and its rules."""
    out: str
    """Folder to write."""
    benchmark: str | None = None
    """Folder of the benchmark; None = where it was audited."""
    tasks: tuple[str, ...] = ()
    """Tasks to judge; empty = all."""
    sample: int | None = Field(default=None, ge=1)
    """So many of them, drawn with the seed of the judge file; None = each."""
    runs: int = Field(default=0, ge=0)
    """Runs of each task that judges are shown, where the audit has some: failed and passed ones in turn."""
    in_flight: int = Field(default=64, ge=1)
    """Questions that are asked at the same time."""
    workers: int = Field(default=1, ge=0)
    """Processes that write prompts and check verdicts; 0 = none beside this one."""
    retry: bool = False
    """Whether questions that ended in an error are asked again."""
    cache: str | None = None
    """File of cached replies; None keeps it in the folder."""
    prices: str | None = None
    """Price table that goes before the one that ships."""
    budget: float | None = Field(default=None, ge=0)
    """What replies may cost at most, in the currency of the prices."""
    token_budget: int | None = Field(default=None, gt=0)
    """Tokens that may be used at most."""

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
            CommandError: There is none.
        """
        return read_audited(Path(self.run), self.benchmark)

    def judge(self, name: str) -> Judge:
        """Return the judge of a name."""
        return next(judge for judge in self.judges.judges if judge.name == name)

    def price_table(self) -> PriceTable:
        """Read the prices: those of model files, then the user's table, then the one that ships.

        Raises:
            ConfigurationError: A table cannot be read, or a budget in money is set for a model without a price.
        """
        table = load_prices(Path(self.prices) if self.prices else None)
        table = table.after(file.price for file in self.models if file.price is not None)
        self.limits.require_prices([file.name for file in self.models], table)
        return table

    @property
    def limits(self) -> Budget:
        """What the run may take."""
        return Budget(money=self.budget, tokens=self.token_budget)

    def identities(self, audit: str) -> dict[str, str]:
        """Hash what must not change within a folder: the audit, each judge, the rules.

        Args:
            audit: Hash of the audit.

        Returns:
            A hash by what it is about.
        """
        panel = self.judges.model_dump(mode="json")
        judges = {judge.pop("name"): _words(judge) for judge in panel.pop("judges")}
        texts: dict[str, Any] = {"audit": audit, "judge file": panel, "number of runs shown": self.runs}
        texts |= {f"judge {name}": judge for name, judge in judges.items()}
        return {
            name: hashlib.sha256(json.dumps(text, sort_keys=True).encode()).hexdigest()[:16]
            for name, text in texts.items()
        }


class JudgingFolder:
    """Paths of what judging adds to a run folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.judge = root / "judge"
        self.store = self.judge / "questions.sqlite"
        self.ledger = self.judge / "ledger.sqlite"
        self.cache = self.judge / "replies.sqlite"
        self.identity = self.judge / "identity.json"

    def cache_of(self, settings: JudgingSettings) -> Path:
        """File of cached replies."""
        return Path(settings.cache) if settings.cache else self.cache


def _words(judge: dict[str, Any]) -> dict[str, Any]:
    """The settings of a judge that its answers depend on; its weight and tier belong to the panel's rules."""
    return {**judge, "model": {k: v for k, v in judge["model"].items() if k not in _HOW_HARD}}
