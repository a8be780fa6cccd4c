"""What the tables of the paper are made from: an audit, its analysis, scores, anchors and a plane of its prompts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agenthard.audit.statistics import AnchorBanks, PromptSpace, Undefined, anchor_banks
from agenthard.reports.cleaning.analysis import analyse
from agenthard.reports.cleaning.inputs import AnalysisSettings, CleaningInput, load_run
from agenthard.reports.cleaning.record import CleaningAnalysis
from agenthard.reports.cleaning.runs import ChosenRuns, choose_runs, require_comparable
from agenthard.reports.cleaning.stages import StageName


@dataclass(frozen=True)
class RunMaterial:
    """One audit with everything that tables take from it."""

    name: str
    """Name of its run folder, made unique."""
    found: CleaningInput
    """Tasks, decisions, findings, runs."""
    analysis: CleaningAnalysis
    """What cleaning does."""
    runs: ChosenRuns | Undefined
    """Scores of the models that the reports compare."""
    everyone: ChosenRuns | Undefined
    """Scores of all models that attempted every task, as the paper takes them: a broken run is a failure."""
    banks: AnchorBanks | Undefined
    """Banks of anchor tasks."""
    plane: NDArray[np.float64]
    """Prompts × 2: where each is in the picture of the embedding."""

    @property
    def judged(self) -> bool:
        """Whether a judge has looked at tasks."""
        return any(stage.stage == "judge" and stage.kept is not None for stage in self.found.stages)

    def left_by_stage(self) -> dict[StageName, tuple[str, ...]]:
        """Return the tasks that each stage leaves; stages that did not run are left out."""
        left: dict[StageName, tuple[str, ...]] = {"initial": tuple(self.found.categories)}
        left |= {stage.stage: stage.kept for stage in self.found.stages if stage.kept is not None}
        if not self.found.stages:
            left["rules"] = self.found.with_action("keep", "unchecked", "review")
        if not isinstance(self.analysis.hard, Undefined):
            left["difficulty"] = self.analysis.hard.selected
        return left


def read_material(
    folders: Sequence[Path], settings: AnalysisSettings, experiment: str | None = None
) -> list[RunMaterial]:
    """Read and analyse audits.

    Args:
        folders: run folders of finished audits.
        settings: parameters of the analyses.
        experiment: which runs; None = those of the experiment with most comparable models, for each audit.

    Raises:
        RunTablesError: when a folder holds no finished audit.
        AnalysisError: when the experiment does not exist.
    """
    names = unique_names(folders)
    return [_material(name, folder, settings, experiment) for name, folder in zip(names, folders, strict=True)]


def unique_names(folders: Sequence[Path]) -> list[str]:
    """Name run folders by their last part, numbered where several have the same.

    >>> unique_names([Path("a/tau"), Path("b/tau"), Path("bfcl")])
    ['tau', 'tau-2', 'bfcl']
    """
    names: list[str] = []
    for folder in folders:
        name = folder.resolve().name or "run"
        number = sum(known == name or known.rpartition("-")[0] == name for known in names)
        names.append(f"{name}-{number + 1}" if number else name)
    return names


def _material(name: str, folder: Path, settings: AnalysisSettings, experiment: str | None) -> RunMaterial:
    found = load_run(folder)
    runs, everyone = (_runs(found, experiment, least) for least in (settings.min_verdicts, 0.0))
    banks = runs if isinstance(runs, Undefined) else anchor_banks(runs.missing, seed=settings.seed)
    space = PromptSpace([task.prompt for task in found.tasks], settings.embedder, found.vectors)
    return RunMaterial(name, found, analyse(found, settings, experiment), runs, everyone, banks, space.plane())


def _runs(found: CleaningInput, experiment: str | None, min_verdicts: float) -> ChosenRuns | Undefined:
    chosen = choose_runs(
        found.experiments,
        found.categories,
        experiment,
        clustered=found.clusters is not None,
        min_verdicts=min_verdicts,
    )
    return require_comparable(chosen, found.experiments, found.categories)
