"""Finds BFCL's result and score files and tells which belong together."""

import re
from dataclasses import dataclass
from pathlib import Path

from agenthard.audit.sources.base import SourceError

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
