"""Settings of a panel: its judges, how often each is asked, and how their verdicts are aggregated."""

from pathlib import Path
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from agenthard.models.errors import ConfigurationError
from agenthard.models.model_file import ModelFile, load_model
from agenthard.models.names import parse_name
from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_record

Aggregation = Literal["majority", "weighted", "dawid_skene"]


class JudgeSettingsError(AgentHardError):
    """A judge file cannot be used; the message names the file, the setting and what is expected."""

    code = "AH401"
    remedy = "Correct the setting that the message names; docs/judge.md describes the file."


class Judge(Record):
    """One judge of a panel."""

    name: str = Field(pattern=r"^[\w.:-]{1,64}$")
    """What reports call it; unique in the panel."""
    model: ModelFile
    """The model, with its sampling and limits."""
    samples: int = Field(default=1, ge=1, le=64)
    """Verdicts that it gives on each task (self-consistency)."""
    weight: float = Field(default=1.0, gt=0, allow_inf_nan=False)
    """What its vote counts under weighted aggregation."""
    investigates: bool = False
    """Whether it may look things up before it answers."""
    context_tokens: int = Field(default=100_000, ge=2_000)
    """Tokens that its prompt may have; material beyond that is left out by relevance."""
    tier: Literal["first", "second"] = "first"
    """first: judges every task; second: only what the first judges flag or disagree on (cascade)."""

    @field_validator("model", mode="before")
    @classmethod
    def _model_by_name(cls, value: Any) -> Any:
        """Accept a name, the path of a model file, or its settings; a price needs no source here."""
        if isinstance(value, str):
            try:
                return load_model(value)
            except ConfigurationError as error:
                raise ValueError(str(error)) from None
        if isinstance(value, dict) and isinstance(value.get("price"), dict):
            try:
                name = str(parse_name(str(value.get("name"))))
            except ConfigurationError as error:
                raise ValueError(str(error)) from None
            return {**value, "price": {"source": "the judge file", **value["price"], "model": name}}
        return value


class JudgeSettings(Record):
    """A panel and its rules."""

    judges: tuple[Judge, ...] = Field(min_length=1)
    """The panel."""
    aggregation: Aggregation = "majority"
    """How several verdicts become one."""
    band: tuple[float, float] = (0.34, 0.66)
    """Between these probabilities of a flaw the panel abstains, and the task goes to review."""
    rebuttal: bool = False
    """Whether a flagged task gets a defence: a second question that argues that it is sound."""
    votes: int = Field(default=2, ge=0, le=16)
    """Ballots on the readings of an issue that its replay bears out; 0 leaves them out."""
    lookups: int = Field(default=6, ge=1, le=50)
    """Turns that an investigating judge has to look things up."""
    attempts: int = Field(default=2, ge=1, le=10)
    """Questions put for one verdict when the answer cannot be read, is refused or comes too late."""
    seed: int = 42
    """Seed of all chance."""

    @model_validator(mode="after")
    def _panel_is_sound(self) -> "JudgeSettings":
        names = [judge.name for judge in self.judges]
        if len(set(names)) < len(names):
            raise ValueError(f"two judges are called {max(names, key=names.count)!r}; give each a name of its own")
        if all(judge.tier == "second" for judge in self.judges):
            raise ValueError("all judges are of the second tier; at least one has to judge every task first")
        if not 0 <= self.band[0] <= self.band[1] <= 1:
            raise ValueError(f"band {list(self.band)} is not two probabilities in order")
        return self


def load_settings(path: Path) -> JudgeSettings:
    """Read a judge file (YAML).

    Raises:
        JudgeSettingsError: It cannot be read, or has a wrong setting.
    """
    return load_record(path, JudgeSettings, error=JudgeSettingsError, docs="docs/judge.md")
