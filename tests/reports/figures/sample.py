"""A cleaning analysis written by hand: any number of models and tasks, its numbers made by simple formulas."""

import math

from agenthard.audit.decisions.difficulty import DifficultyRule
from agenthard.audit.statistics import Undefined
from agenthard.audit.statistics.result import undefined
from agenthard.reports.cleaning.inputs import LedgerEntry
from agenthard.reports.cleaning.measures import Measure
from agenthard.reports.cleaning.record import GLOSSARY, CleaningAnalysis, Headline, Provenance, TopFinding
from agenthard.reports.cleaning.splits import TITLES, Split, SplitName
from agenthard.reports.cleaning.stability import Reading
from tests.reports.figures.sample_models import (
    board_of,
    hard_of,
    information_of,
    runs_of,
    stability_of,
    stages_of,
    unseen_of,
)
from tests.reports.figures.sample_numbers import SEED, SHARES, SPLITS, estimate
from tests.reports.figures.sample_tasks import (
    agreement_of,
    components_of,
    curve_of,
    items_of,
    retention_of,
    undecided_of,
)

READINGS: tuple[Reading, ...] = ("errors_missing", "errors_as_failures")


def sample(models: int = 6, tasks: int = 40, names: dict[int, str] | None = None) -> CleaningAnalysis:
    """Build an analysis.

    Args:
        models: number of comparable models; one more has run too little.
        tasks: number of tasks of the initial split.
        names: names of some models, by position.
    """
    known = [(names or {}).get(i, f"vendor-{i % 5}/model-{i:02d}") for i in range(models)]
    sizes = {split: math.ceil(tasks * share) for split, share in SHARES.items()}
    boards = tuple(board_of(split, known, sizes[split], i) for i, split in enumerate(SPLITS))
    return CleaningAnalysis(
        title="Corner Shop",
        headline=Headline(
            sentence=f"{tasks} of {tasks} tasks were checked and {tasks // 4} flagged; cleaning changed the rank of "
            "some models, no more than deleting as many random tasks does.",
            checked=tasks,
            tasks=tasks,
            flagged=tasks // 4,
            new=None,
            undecided=3,
            cost=0.0,
            top=(_top(0), _top(1), _top(2)),
        ),
        ledger=(
            LedgerEntry(check="gold-against-policy", version="1", flagged=2, clean=tasks - 2, not_checked=0, errors=0),
            LedgerEntry(check="all-models-fail", version="1", flagged=0, clean=0, not_checked=tasks - 1, errors=1),
        ),
        runs=runs_of(known, tasks),
        splits=tuple(_split(split, sizes) for split in SPLITS),
        hard=hard_of(known, sizes),
        unseen=unseen_of(known, sizes),
        information=information_of(known, sizes),
        stages=stages_of(sizes),
        leaderboards=boards,
        stability=tuple(
            stability_of(boards[i], boards[j], reading) for reading in READINGS for i, j in ((0, 1), (1, 2), (0, 2))
        ),
        retention=tuple(retention_of(split, sizes) for split in SPLITS[1:]),
        undecided=undecided_of(boards[1]),
        agreement=tuple(agreement_of(split, known, sizes[split]) for split in SPLITS),
        separability_curve=curve_of(sizes),
        components=components_of(),
        items=items_of(tasks, models),
        provenance=Provenance(
            agenthard="0.1.0",
            taxonomy="1.2.0",
            source="shop",
            benchmark="v2",
            content_hash="00ff00ff00ff00ff",
            audit_key="ab12cd34ef56",
            policy="1",
            checks={"gold-against-policy": "1", "all-models-fail": "1"},
            seed=SEED,
            draws=1000,
            resamples=2000,
            level=0.95,
            difficulty=DifficultyRule(),
            embedder="TF-IDF",
        ),
        glossary=GLOSSARY,
    )


def without_runs(tasks: int = 40) -> CleaningAnalysis:
    """The same benchmark when no runs were given: everything about models is undefined or empty."""
    why = undefined("no runs of models were given")
    full = sample(2, tasks)
    stages = tuple(
        stage.model_copy(update={"measures": tuple(_unmeasured(m, why) for m in stage.measures)})
        for stage in full.stages
        if stage.name != "difficulty"
    )
    return full.model_copy(
        update={
            "runs": why,
            "splits": tuple(split.model_copy(update={"detectable": why}) for split in full.splits[:2]),
            "hard": why,
            "unseen": why,
            "information": why,
            "stages": stages,
            "leaderboards": (),
            "stability": (),
            "retention": full.retention[:1],
            "undecided": why,
            "agreement": (),
            "separability_curve": why,
            "items": why,
        }
    )


def _unmeasured(measure: Measure, why: Undefined) -> Measure:
    return measure.model_copy(update={"observed": why, "null": why, "original": None, "sentence": why.reason})


def _top(index: int) -> TopFinding:
    return TopFinding(
        id=f"{index:012x}",
        category=("incorrect-tool-call", "too-lenient", "misleading-tool-design")[index],
        tier="confirmed",
        severity="affects_score",
        claim=f"The gold call cancels order W1{index}, which was sent.",
        task_id=f"shop/{index}",
        tasks=index + 1,
    )


def _split(split: SplitName, sizes: dict[str, int]) -> Split:
    n = sizes[split]
    return Split(
        name=split,
        title=TITLES[split],
        split_id=f"{SPLITS.index(split):012x}",
        n=n,
        review=3 if split != "initial" else 0,
        detectable=estimate(2.8 * math.sqrt(0.34 / n), n=n),
        detectable_any=estimate(2.8 * math.sqrt(0.34 / n), n=n),
        sentence=f"{n} tasks. Do not compare scores on it with scores on another split.",
        task_ids=tuple(f"shop/{i}" for i in range(n)),
    )
