"""The whole loop from one file: generate, evaluate, audit, report (``agenthard run CONFIG``)."""

import os
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, ValidationError, model_validator

from agenthard.flows.errors import CommandError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import read_yaml


class GenerateStage(Record):
    """A suite of ACE-Bench to generate; a field that is absent has the value of the paper's suite."""

    rows: int | None = None
    """Rows of the grid."""
    cols: int | None = None
    """Columns of the grid."""
    hidden_slots: tuple[int, ...] | None = None
    """Numbers of hidden slots."""
    decoy_budgets: tuple[int, ...] | None = None
    """Decoys in a whole instance."""
    candidates: int | None = None
    """Candidates per slot."""
    per_cell: int | None = None
    """Instances for each domain, number of slots and budget."""
    domains: tuple[str, ...] | None = None
    """Names of the domains."""
    seed: int | None = None
    """Seed of the suite."""
    coupling: bool | None = None
    """Choose decoys that only joint reasoning excludes."""


class EvaluateStage(Record):
    """Who takes part, and how. The words are those of ``agenthard evaluate``."""

    agents: tuple[str, ...] = ()
    """Agents without a model; without any, and without models, the benchmark's own leaderboard."""
    models: tuple[str, ...] = ()
    """Names of models, or model files."""
    trials: int = Field(default=1, ge=1)
    """Episodes per agent, task and failure rate."""
    failure_rates: tuple[float, ...] = (0.0,)
    """Probabilities that a tool call fails on purpose."""
    options: dict[str, str | int | float] = Field(default_factory=dict)
    """Conditions to play under."""
    seed: int = 42
    """Seed of all chance."""
    attempts: int = Field(default=3, ge=1)
    """Tries at an episode that infrastructure errors end."""
    in_flight: int = Field(default=64, ge=1)
    """Episodes that models play at the same time."""
    budget: float | None = Field(default=None, ge=0)
    """Most that models may cost."""
    token_budget: int | None = Field(default=None, gt=0)
    """Most tokens that models may use."""
    prices: str | None = None
    """Price table that goes before ours."""
    cache: str | None = None
    """File of cached replies; None keeps it in the run folder."""
    compare: tuple[str, ...] = ()
    """Published results to stand beside ours."""


class AuditStage(Record):
    """How the tasks and the runs are audited."""

    policy: str | None = None
    """Decision policy; None = the one that ships."""


class ReportStage(Record):
    """How the report on cleaning is made."""

    seed: int = 0
    """Seed of every draw."""
    draws: int = Field(default=500, ge=200)
    """Random deletions behind every null."""
    resamples: int = Field(default=2000, ge=1)
    """Bootstrap resamples behind every interval."""


class PipelineConfig(Record):
    """One benchmark from its tasks to the leaderboard before and after cleaning."""

    benchmark: str
    """Name of the benchmark, which is also the name of its audit source."""
    out: str
    """Folder that holds everything; the same file goes on where it was."""
    tasks: str | None = None
    """File or folder with the tasks; None when they are generated."""
    generate: GenerateStage | None = None
    """What to generate; None when the tasks are there."""
    evaluate: EvaluateStage = EvaluateStage()
    """Who takes part, and how."""
    audit: AuditStage = AuditStage()
    """How tasks and runs are audited."""
    report: ReportStage = ReportStage()
    """How the report on cleaning is made."""

    @model_validator(mode="after")
    def _tasks_come_from_one_place(self) -> "PipelineConfig":
        if (self.tasks is None) == (self.generate is None):
            raise ValueError("give either `tasks` (a path) or `generate` (what to generate)")
        if self.generate is not None and self.benchmark != "ace":
            raise ValueError("only the benchmark ace can be generated")
        return self


def load_config(path: Path) -> PipelineConfig:
    """Read a configuration; paths in it are relative to its folder.

    Raises:
        CommandError: It cannot be read, is no YAML or has a wrong field; the message names each field.
    """
    try:
        content = read_yaml(path)
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: cannot be read ({error})") from error
    except yaml.YAMLError as error:
        raise CommandError(f"{path}: no YAML ({error})") from error
    try:
        config = PipelineConfig.model_validate(content)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())
        raise CommandError(f"{path}: {faults}; docs/evaluation.md describes the file") from error
    return _resolved(config, path.parent)


def _resolved(config: PipelineConfig, folder: Path) -> PipelineConfig:
    def there(name: str) -> str:
        return os.path.normpath(folder / name)

    stage = config.evaluate
    changes: dict[str, Any] = {
        "models": tuple(there(name) if name.endswith((".yaml", ".yml")) else name for name in stage.models),
        "compare": tuple(map(there, stage.compare)),
        **{name: there(value) for name in ("prices", "cache") if (value := getattr(stage, name)) is not None},
    }
    policy = config.audit.policy
    return config.model_copy(
        update={
            "out": there(config.out),
            "tasks": None if config.tasks is None else there(config.tasks),
            "evaluate": stage.model_copy(update=changes),
            "audit": AuditStage(policy=None if policy is None else there(policy)),
        }
    )
