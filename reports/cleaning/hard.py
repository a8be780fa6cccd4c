"""The hard split: which tasks it holds, who selected them, and the split each model is scored on."""

from audit.decisions.difficulty import DifficultyRule, HardTask
from taxonomy.record import Record


class HardSelection(Record):
    """The hard split and how it came about."""

    rule: DifficultyRule
    """Threshold, least share of each category, least number of models."""
    selection_models: tuple[str, ...]
    """Models whose outcomes select the published split."""
    tasks: tuple[HardTask, ...]
    """Verdict on every issue-cleaned task, in the benchmark's order."""
    selected: tuple[str, ...]
    """Tasks of the published hard split."""
    hard: int
    """Tasks selected because models fail them."""
    kept_for_category: int
    """Easy tasks that stay so that each category keeps its least share."""
    easy: int
    """Tasks left out because nearly all models solve them."""
    all_fail: int
    """Tasks that every model fails: to review, because a wrong key looks like a hard task."""
    unknown: int
    """Tasks with outcomes of too few models."""
    cross_fitted: dict[str, int]
    """Model → tasks of the split that the other models select, on which its score is taken."""
    sentence: str
    """How the split is selected, how scores on it are taken, and why."""
