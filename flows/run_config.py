"""The whole loop from one file: generate, evaluate, audit, report (``agenthard run CONFIG``)."""

import os
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from agenthard.flows.errors import CommandError
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_record


class EvaluateStage(Record):
    """Contestants and conditions. The field names are the options of ``agenthard evaluate``."""

    agents: tuple[str, ...] = ()
    """Agents without a model; without any, and without models, the benchmark's own leaderboard."""
    models: tuple[str, ...] = ()
    """Names of models, or model files."""
    trials: int = Field(default=1, ge=1)
    """Episodes per agent, task and failure rate."""
    failure_rates: tuple[float, ...] = (0.0,)
    """Probabilities that a tool call fails on purpose."""
    options: dict[str, str | int | float | tuple[str | int | float, ...]] = Field(default_factory=dict)
    """Conditions to play under; every episode is played under each value of a list."""
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
    """Published results to compare ours with: files, or ``paper``."""


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
    """Folder that holds everything; the same file resumes there."""
    tasks: str | None = None
    """File or folder with the tasks; None when they are generated."""
    generate: dict[str, Any] | None = None
    """Fields of the suite to generate; an absent one has the value of the paper's. None: the tasks are there."""
    evaluate: EvaluateStage = EvaluateStage()
    """Contestants and conditions."""
    audit: AuditStage = AuditStage()
    """How tasks and runs are audited."""
    report: ReportStage = ReportStage()
    """How the report on cleaning is made."""

    @model_validator(mode="after")
    def _tasks_come_from_one_place(self) -> "PipelineConfig":
        if (self.tasks is None) == (self.generate is None):
            raise ValueError("give either `tasks` (a path) or `generate` (what to generate)")
        if self.generate is not None:
            _check_generate(self.benchmark, self.generate)
        return self


def _check_generate(benchmark: str, fields: dict[str, Any]) -> None:
    """Make sure that such a suite can be generated.

    Raises:
        ValueError: It cannot; the message names each field.
    """
    from agenthard.flows.generators import find_generator
    from agenthard.play.errors import ImpossibleParametersError

    try:
        find_generator(benchmark).parameters.model_validate(fields)
    except ValidationError as error:
        faults = (f"generate.{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise ValueError("; ".join(faults)) from None
    except (CommandError, ImpossibleParametersError) as error:
        raise ValueError(str(error)) from error


def load_config(path: Path) -> PipelineConfig:
    """Read a configuration; paths in it are relative to its folder.

    Raises:
        CommandError: It cannot be read, is not valid YAML or has a wrong field; the message names each field.
    """
    config = load_record(path, PipelineConfig, error=CommandError, docs="docs/evaluation.md", explain=_faults)
    return _resolved(config, path.parent)


def _faults(error: ValidationError) -> str:
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg']}" for e in error.errors())


def _resolved(config: PipelineConfig, folder: Path) -> PipelineConfig:
    def there(name: str) -> str:
        return os.path.normpath(folder / name)

    stage = config.evaluate
    changes: dict[str, Any] = {
        "models": tuple(there(name) if name.endswith((".yaml", ".yml")) else name for name in stage.models),
        "compare": tuple(each if each == "paper" else there(each) for each in stage.compare),
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
