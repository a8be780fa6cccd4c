"""What hard splits cost and gain on models that did not select them: python perf/hard_split.py MATRIX [THRESHOLD]

MATRIX is a table of scores (docs/statistics.md says which files are read); models with gaps are left out. A task's
category is its id up to the last "_" or "/". Prints a Markdown table: each rule against all tasks and against random
subsets of equal size, means over models held out.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.statistics import Undefined, read_matrix
from agenthard.reports.cleaning.inputs import AnalysisSettings
from agenthard.reports.cleaning.unseen import UnseenFigure, judge_on_unseen


def main(arguments: Sequence[str]) -> int:
    matrix = read_matrix(Path(arguments[0])).complete_models()
    rule = DifficultyRule(threshold=float(arguments[1]) if len(arguments) > 1 else 14 / 16)
    categories = {task: re.sub(r"[_/][^_/]*$", "", task) for task in matrix.tasks}
    found = judge_on_unseen(categories, matrix, None, AnalysisSettings(difficulty=rule))
    if isinstance(found, Undefined):
        print(found.reason)
        return 1
    print(f"{len(matrix.models)} models × {len(matrix.tasks):,} tasks. {found.sentence}\n")
    print("| selected | tasks | significant pairs, % | χ² per 100 tasks | chance-corrected agreement |")
    print("|---|---|---|---|---|")
    everything = [found.rows[0].figure(name).everything for name in ("significant", "signal", "agreement")]
    print(f"| all tasks | {found.tasks:,} | {everything[0]:.1f} | {everything[1]:.2f} | {everything[2]:.3f} |")
    for row in found.rows:
        pairs, signal, agreement = (row.figure(name) for name in ("significant", "signal", "agreement"))
        cells = _cell(pairs, 1), _cell(signal, 2), _cell(agreement, 3)
        print(f"| {row.title} | {row.mean:,.0f} | {' | '.join(cells)} |")
    return 0


def _cell(figure: UnseenFigure, digits: int) -> str:
    chosen, random, low, high = (
        f"{value:.{digits}f}" for value in (figure.chosen, figure.random, figure.low, figure.high)
    )
    return f"{chosen} (random {random}, {low}–{high})"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
