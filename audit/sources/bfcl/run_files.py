"""Finds BFCL's result and score files and tells which belong together."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.json_records import RawRecord, read_jsonl
from agenthard.audit.sources.formats.malformed import MalformedRecordError

_RUN_FILE = re.compile(r"(?:BFCL_v\d_|gorilla_openfunctions_v1_test_)?(\w+?)_(result|score)\.json(?:\.gz)?")
_TREE = re.compile(r"^(results?|scores?)(?![A-Za-z])")
_GROUPS = frozenset(
    ("non_live", "live", "multi_turn", "agentic", "format_sensitivity", "memory", "kv", "vector", "rec_sum")
)


@dataclass(frozen=True)
class RunFiles:
    """What one model did in one category: a result file, a score file, or both."""

    model: str
    """Name of the model's folder."""
    category: str
    """Category as the file names it."""
    result: Path | None
    """File with what the model wrote."""
    score: Path | None
    """File with the failures."""


def find_run_files(path: Path) -> list[RunFiles]:
    """List the run files under ``path``, results joined with scores.

    A score belongs to the result at the same place of the other tree: ``result/MODEL/FILE`` and ``score/MODEL/FILE``,
    or both in one folder. The model is the nearest folder that is neither a tree nor one of BFCL's groups.

    Args:
        path: one file, or a folder at any height.

    Raises:
        SourceError: when there are none.
    """
    found: dict[tuple[str, ...], dict[str, Path]] = {}
    for file in sorted(path.rglob("*.json*")) if path.is_dir() else [path]:
        match = _RUN_FILE.fullmatch(file.name)
        if match and file.is_file():
            folders = [_TREE.sub("", part) for part in file.resolve().parent.parts]
            found.setdefault((*folders, match[1]), {})[match[2]] = file
    if not found:
        raise SourceError(
            f"no BFCL runs under {path}: looked for *_result.json and *_score.json, such as "
            "result/MODEL/BFCL_v3_simple_result.json; give the folder that holds result/ and score/"
        )
    return [
        RunFiles(_model(folders), category, files.get("result"), files.get("score"))
        for (*folders, category), files in found.items()
    ]


def _model(folders: list[str]) -> str:
    return next((name for name in reversed(folders) if name and name not in _GROUPS), "")


@dataclass(frozen=True)
class Scores:
    """A score file that was read."""

    total: int
    """How many runs were scored."""
    correct: int
    """How many of them passed."""
    failures: dict[str, RawRecord]
    """The failures by run id. BFCL logs some failures twice; the first counts."""

    def mismatch(self, ids: set[str]) -> str | None:
        """Tell why the file cannot be the score of the runs ``ids``, or None when it can."""
        stray = sorted(set(self.failures) - ids)
        if stray:
            return f"it lists failures of runs that are not there: {', '.join(stray[:3])}"
        if self.total != len(ids):
            return f"it counts {self.total} runs where {len(ids)} are known"
        if self.correct + len(self.failures) != self.total:
            return f"it counts {self.correct} of {self.total} as correct but lists {len(self.failures)} failures"
        return None


def read_scores(path: Path, name: str, ids: Sequence[str], quarantine: Quarantine) -> Scores:
    """Read a score file.

    Args:
        path: the file.
        name: its name in messages.
        ids: ids of the category's tasks in order; the files of 2024 number the runs from 1 in that order.
        quarantine: collects unreadable lines.

    Raises:
        MalformedRecordError: when the summary is missing or wrong, or a failure cannot be told.
    """
    records = read_jsonl(path, name, quarantine, kind="run")
    summary = next(records, None)
    counts = [] if summary is None else [summary.value.get(key) for key in ("total_count", "correct_count")]
    if not counts or not all(isinstance(count, int) for count in counts):
        raise MalformedRecordError(
            "the first line is not a summary", advice="it should hold total_count and correct_count"
        )
    failures: dict[str, RawRecord] = {}
    for record in records:
        failures.setdefault(_run_id(record.value.get("id"), ids, record.line), record)
    return Scores(counts[0], counts[1], failures)


def _run_id(written: Any, ids: Sequence[str], line: int) -> str:
    if isinstance(written, str) and not written.isdigit():
        return written
    number = int(written) if isinstance(written, (int, str)) else 0
    if not 1 <= number <= len(ids):
        raise MalformedRecordError(
            f"line {line} has the id {written!r}", advice="expected a task id or a number from 1 up"
        )
    return ids[number - 1]
