"""Reading attempts at scenarios: from evaluations, files of runs, and the public release."""

import gzip
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.flows.errors import CommandError
from agenthard.flows.evaluation.settings import EvaluationFolder
from agenthard.taxonomy.trajectory import Trajectory

RELEASE = "agencybench"
SUFFIXES = (".jsonl", ".jsonl.gz")


def read_runs(paths: Sequence[Path]) -> tuple[list[Trajectory], list[str]]:
    """Read runs.

    Args:
        paths: run folders of evaluations, files of runs as JSON Lines, or folders of the public release.

    Returns:
        The runs, and sentences about what could not be read.

    Raises:
        CommandError: A path holds no runs, or a line is not a run.
    """
    runs: list[Trajectory] = []
    left_out: list[str] = []
    for path in paths:
        written = EvaluationFolder(path).trajectories if path.is_dir() else path
        if written.is_file() and written.name.endswith(SUFFIXES):
            runs += _lines(written)
        elif path.is_dir():
            quarantine = Quarantine()
            source = open_source(RELEASE, path)
            runs += source.runs(path, quarantine)
            if quarantine.items:
                left_out.append(f"{len(quarantine.items)} entries of {path.name} could not be read.")
        else:
            raise CommandError(f"{path}: neither a folder nor a file of runs ({', '.join(SUFFIXES)})")
    return runs, left_out


def _lines(path: Path) -> Iterator[Trajectory]:
    opened = gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")
    number = 0
    with opened as file:
        try:
            for line in file:
                number += 1
                if line.strip():
                    yield Trajectory.model_validate_json(line)
        except ValidationError as error:
            raise CommandError(f"{path}, line {number}: not a run: {error.errors()[0]['msg']}") from error
        except (OSError, EOFError) as error:
            raise CommandError(f"{path}: cannot be read: {error}") from error
