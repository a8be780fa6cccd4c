"""Published figures of the audit paper next to ours: met, differing with the reason, not made, or unknown."""

from collections.abc import Mapping, Sequence

from agenthard.audit.statistics import (
    Estimate,
    Result,
    ScoreMatrix,
    Undefined,
    arena_hard_separability,
    average_rank_shift,
    indistinguishable_models,
    model_agreement,
    ranking_change_rate,
)
from agenthard.audit.statistics.result import undefined
from agenthard.reports.alignment.score import Alignment
from agenthard.reports.cleaning.compression import StageCompressions
from agenthard.reports.paper import published
from agenthard.reports.paper.label_tables import NO_LABELS
from agenthard.reports.paper.material import RunMaterial
from agenthard.reports.paper.record import Comparison, Met, PaperTable, PublishedFigure

NO_RUN = "no audit of this benchmark is among the runs"
OTHER_UNIT = (
    "the paper gives each task one issue that a judge names; here every check counts each part of each task that it "
    "flags, and no task is cut to one issue"
)
OTHER_LABELS = "other labels: the paper's are not published with it"
OTHER_SPLIT = "our policy drops other tasks than the paper's pipeline, whose lists of tasks are not known here"
SAME_SCORES = "computed again from the scores that Table 5 prints"


def compare_published(
    runs: Sequence[RunMaterial], compressions: Sequence[StageCompressions], alignment: Alignment | None
) -> tuple[Comparison, ...]:
    """Put every published figure next to ours.

    Args:
        runs: the audits; the last one of τ-bench counts, a judged one before others.
        compressions: compression over all benchmarks, by stage.
        alignment: agreement with people, if it was given.

    Returns:
        One row per published figure, and a second one for those that follow from printed scores.
    """
    mine = [run for run in runs if run.found.audit.source == published.TAU]
    run = max(mine, key=lambda each: (each.judged, mine.index(each))) if mine else None
    return (
        *_components(run),
        *_alignment(alignment),
        *_scores(run),
        *_printed_changes(),
        *_own_changes(run),
        *_stage_wise(run),
        *_overall(compressions),
        *(_row(figure, "", None, "", "our runs") for figure in published.UNKNOWN),
    )


def _row(figure: PublishedFigure, run: str, ours: Result | None, why: str, made_from: str) -> Comparison:
    value = ours.value if isinstance(ours, Estimate) else None
    difference = None if value is None or figure.value is None else round(value - figure.value, 9) + 0.0
    met: Met
    if figure.value is None:
        met = "unknown"
    elif difference is None:
        met = "not made"
        why = ours.reason if isinstance(ours, Undefined) else why
    else:
        met = "met" if abs(difference) <= 0.5000001 * 10**-figure.digits else "differs"
    return Comparison(
        published=figure,
        run=run,
        made_from="the paper's scores" if made_from == "the paper's scores" else "our runs",
        ours=ours,
        difference=difference,
        met=met,
        why="" if met == "met" and made_from == "our runs" else "; ".join(filter(None, (why, figure.note))),
    )


def _count(value: int, unit: str) -> Estimate:
    return Estimate(value=value, n=value, of=value, unit=unit, method="count")


def _components(run: RunMaterial | None) -> list[Comparison]:
    if run is None:
        return [_row(figure, "", None, NO_RUN, "our runs") for figure in published.COMPONENTS]
    pairs = sum(part.tasks for part in run.analysis.components)
    shares: dict[str, Result] = {
        part.component: Estimate(
            value=part.tasks / pairs, n=part.tasks, of=pairs, unit="tasks", method="share of flagged parts of tasks"
        )
        if pairs
        else undefined("no task is flagged", 0, "tasks")
        for part in run.analysis.components
    }
    judge = "" if run.judged else "; no judge has looked at the tasks, so flaws that only a reader sees are missing"
    return [
        _row(figure, run.name, shares.get(figure.id.removeprefix("component-")), OTHER_UNIT + judge, "our runs")
        for figure in published.COMPONENTS
    ]


def _alignment(found: Alignment | None) -> list[Comparison]:
    if found is None or not found.rows:
        return [_row(figure, "", None, NO_LABELS, "our runs") for figure in published.ALIGNMENT]
    best = found.rows[0]
    values = {"precision": best.precision, "recall": best.recall, "f1": best.f1}
    return [_row(figure, best.name, values[figure.id], OTHER_LABELS, "our runs") for figure in published.ALIGNMENT]


def _scores(run: RunMaterial | None) -> list[Comparison]:
    """Match published scores with models of ours by their initial score, since the paper's names may be others."""
    if run is None:
        return [_row(figure, "", None, NO_RUN, "our runs") for figure in published.SCORES]
    if isinstance(run.everyone, Undefined):
        return [_row(figure, run.name, run.everyone, "", "our runs") for figure in published.SCORES]
    matrix = run.everyone.failures
    parts = dict(zip(published.VERSIONS, (matrix.tasks, _issue_cleaned(run), _hard(run)), strict=True))
    scores = {version: _means(matrix, tasks) for version, tasks in parts.items()}
    initial = scores["initial"]
    figures, rows = iter(published.SCORES), []
    used: set[str] = set()
    for printed, *_ in published.LEADERBOARD:
        same = [
            model for model in sorted(initial, key=lambda m: -initial[m]) if abs(initial[model] - printed) <= 5.01e-4
        ]
        twins = sum(row[0] == printed for row in published.LEADERBOARD)
        model = next((name for name in same if name not in used), None)
        used |= {model} if model else set()
        for version, figure in zip(published.VERSIONS, figures, strict=False):
            why, ours = "", None
            if model is None:
                why = f"{len(initial)} models of ours have a run on every task, and no further one scores {printed:.3f}"
            elif version != "initial" and twins > 1:
                why = f"{twins} models of the paper score {printed:.3f} at first; which of them ours is, is not known"
            elif not parts[version]:
                why = "the run has no such split"
            else:
                n = len(parts[version])
                method = f"{model}, matched by its initial score; infrastructure errors as failures"
                ours = Estimate(value=scores[version][model], n=n, of=n, unit="tasks", method=method)
                why = f"{OTHER_SPLIT}: {n:,} tasks of ours"
            rows.append(_row(figure, f"{run.name}: {model}" if model else run.name, ours, why, "our runs"))
    return rows


def _issue_cleaned(run: RunMaterial) -> tuple[str, ...]:
    return run.found.with_action("keep", "unchecked", "review")


def _hard(run: RunMaterial) -> tuple[str, ...]:
    return run.left_by_stage().get("difficulty", ())


def _means(matrix: ScoreMatrix, tasks: Sequence[str]) -> dict[str, float]:
    part = matrix.keep(set(tasks) & set(matrix.tasks))
    if not part.tasks:
        return {}
    return dict(zip(part.models, part.values.mean(axis=1).tolist(), strict=True))


def _printed_changes() -> list[Comparison]:
    """Compute Table 9 again from the scores that Table 5 prints."""
    models = [f"rank {rank}" for rank in range(1, len(published.LEADERBOARD) + 1)]
    initial, filtered, hard = (
        dict(zip(models, column, strict=True)) for column in zip(*published.LEADERBOARD, strict=True)
    )
    values = _changes(initial, {"filtered": filtered, "hard": hard})
    return [_row(figure, "", values[figure.id], SAME_SCORES, "the paper's scores") for figure in published.RANK_CHANGES]


def _changes(initial: Mapping[str, float], later: Mapping[str, Mapping[str, float]]) -> dict[str, Result]:
    values: dict[str, Result] = {"indistinguishable-initial": indistinguishable_models(initial)}
    for name, scores in later.items():
        values[f"change-rate-{name}"] = ranking_change_rate(initial, scores)
        values[f"rank-shift-{name}"] = average_rank_shift(initial, scores)
        values[f"indistinguishable-{name}"] = indistinguishable_models(scores)
    return values


def _own_changes(run: RunMaterial | None) -> list[Comparison]:
    if run is None or isinstance(run.everyone, Undefined):
        return [_row(figure, "", None, NO_RUN, "our runs") for figure in published.RANK_CHANGES]
    matrix = run.everyone.failures
    later = {"filtered": _means(matrix, _issue_cleaned(run)), "hard": _means(matrix, _hard(run))}
    values = _changes(_means(matrix, matrix.tasks), {name: scores for name, scores in later.items() if scores})
    why = f"{len(matrix.models)} models with a run on every task, the paper has 16; {OTHER_SPLIT}"
    return [_row(figure, run.name, values.get(figure.id), why, "our runs") for figure in published.RANK_CHANGES]


def _stage_wise(run: RunMaterial | None) -> list[Comparison]:
    if run is None:
        return [_row(figure, "", None, NO_RUN, "our runs") for figure in published.STAGE_WISE]
    values: dict[str, Result] = {
        "tasks-initial": _count(len(run.found.tasks), "tasks"),
        "tasks-filtered": _count(len(_issue_cleaned(run)), "tasks"),
    }
    if hard := _hard(run):
        values |= dict.fromkeys(("tasks-hard", "tasks-hard-leaderboard"), _count(len(hard), "tasks"))
    why = OTHER_SPLIT
    if isinstance(run.everyone, Undefined):
        values |= dict.fromkeys(("models-initial", "agreement-initial", "separability-initial"), run.everyone)
    else:
        matrix = run.everyone.failures
        values["models-initial"] = _count(len(matrix.models), "models")
        values["agreement-initial"] = model_agreement(matrix)
        parity = arena_hard_separability(matrix, seed=run.analysis.provenance.seed)
        if isinstance(parity, Estimate):
            parity = parity.model_copy(update={"value": parity.value / 100})
        values["separability-initial"] = parity
        why = (
            f"{len(matrix.models)} models with a run on every task, the paper has 16; agreement and separability "
            "depend on the models"
        )
    rows = []
    for figure in published.STAGE_WISE:
        own = why if figure.id.endswith("-initial") else OTHER_SPLIT
        rows.append(_row(figure, run.name, values.get(figure.id), own, "our runs"))
    return rows


def _overall(compressions: Sequence[StageCompressions]) -> list[Comparison]:
    last = compressions[-1] if compressions else None
    ours = "nothing was compressed"
    if last is not None:
        both = [f"{100 * each.value:.1f} %" for each in (last.pooled, last.macro) if isinstance(each, Estimate)]
        ours = f"ours after {last.title}, over {last.benchmarks} benchmark(s): pooled and macro {' and '.join(both)}"
    return [_row(figure, "", None, ours, "our runs") for figure in published.OVERALL]


def comparison_table(comparisons: Sequence[Comparison]) -> PaperTable:
    """Lay out the comparisons as a table."""
    return PaperTable(
        name="published",
        paper="all",
        ours="only here",
        title="Published figures next to ours",
        note="Met: equal to the digits that the paper printed. Models are matched by their initial score, since the "
        "paper and our runs may name them differently.",
        rows=tuple(
            {
                "paper": row.published.paper,
                "figure": row.published.what,
                "published": row.published.value,
                "ours": row.ours.value if isinstance(row.ours, Estimate) else None,
                "difference": row.difference,
                "met": row.met,
                "made_from": row.made_from,
                "run": row.run,
                "why": row.why,
            }
            for row in comparisons
        ),
    )
