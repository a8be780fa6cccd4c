"""A finished evaluation read again, for commands that show the tables of a benchmark's paper."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version as package_version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.settings import EvaluationFolder
from agenthard.taxonomy.declared import Declared
from agenthard.taxonomy.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas as pd

    from agenthard.reports.evaluation import EvaluationAnalysis, Published


@dataclass(frozen=True)
class FinishedEvaluation:
    """The run folder of an evaluation of one benchmark."""

    folder: EvaluationFolder
    """Its paths."""
    benchmark: str
    """Name of the benchmark."""
    suite: Path
    """What was played; it may have moved since."""
    conditions: dict[str, Any]
    """Conditions of all episodes."""

    def episodes(self, declared: Declared) -> "pd.DataFrame":
        """Read the table of attempts with their times.

        Raises:
            CommandError: a column of the benchmark is missing.
        """
        from agenthard.flows.evaluation.episode_table import read_episodes

        table = read_episodes(self.folder)
        missing = sorted({*declared.facts, *declared.counts} - set(table.columns))
        if missing:
            raise CommandError(f"{self.folder.tables}: an older table of episodes: no column {missing[0]}; play again")
        return table

    def runs(self) -> Iterator[Trajectory]:
        """Read the last attempt of each episode."""
        with gzip.open(self.folder.trajectories, "rt", encoding="utf-8") as lines:
            for line in lines:
                yield Trajectory.model_validate_json(line)

    def model_seconds(self) -> dict[str, float]:
        """Return how long each episode waited for its model, by id of the episode; empty without models."""
        from agenthard.models.ledger import Ledger

        if not self.folder.ledger.is_file():
            return {}
        ledger = Ledger(self.folder.ledger)
        try:
            return ledger.seconds()
        finally:
            ledger.close()


def read_finished(run: Path, benchmark: str) -> FinishedEvaluation:
    """Open the run folder of an evaluation.

    Args:
        run: the folder.
        benchmark: name of the benchmark that it has to be of.

    Raises:
        CommandError: the folder has no evaluation, or one of another benchmark.
    """
    folder = EvaluationFolder(run)
    manifest = run / "manifest.json"
    if not (folder.tables / "episodes.parquet").is_file() or not manifest.is_file():
        raise CommandError(f"{run}: no evaluation here; run `agenthard evaluate {benchmark} SUITE --out {run}` first")
    try:
        found = json.loads(manifest.read_text(encoding="utf-8"))
        settings, conditions = found["settings"], dict(found["conditions"])
        played, suite = str(settings["benchmark"]), Path(settings["path"])
    except (ValueError, KeyError, TypeError) as error:
        raise CommandError(f"{manifest}: not the manifest of an evaluation ({error})") from error
    if played != benchmark:
        raise CommandError(f"{run}: an evaluation of {played}, not of {benchmark}")
    return FinishedEvaluation(folder, played, suite, conditions)


def analyse_again(
    title: str, episodes: "pd.DataFrame", declared: Declared, published: "Sequence[Published]" = ()
) -> "EvaluationAnalysis":
    """Analyse a table of episodes for its figures."""
    from agenthard.reports.evaluation import About, analyse

    about = About(title=title, versions={"agenthard": package_version("agenthard")})
    return analyse(episodes, about, published, declared)
