"""Tables of the paper other than the stage-wise ones, and those that it does not have."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from agenthard.audit.statistics import Undefined
from agenthard.reports.cleaning.compression import StageCompressions
from agenthard.reports.kit.text import number
from agenthard.reports.paper.label_tables import NO_LABELS
from agenthard.reports.paper.material import RunMaterial
from agenthard.reports.paper.record import PaperTable, table_of
from agenthard.reports.paper.stage_rows import plain
from agenthard.taxonomy.categories import builtin_taxonomy
from agenthard.taxonomy.finding import Tier

Row = dict[str, Any]


def design(runs: Sequence[RunMaterial]) -> PaperTable:
    """Describe the benchmarks (Table 1)."""
    rows = []
    for run in runs:
        chosen = run.analysis.runs
        rows.append(
            {
                "run": run.name,
                "benchmark": run.found.title,
                "release": run.found.audit.benchmark,
                "tasks": len(run.found.tasks),
                "categories": len(set(run.found.categories.values())),
                "clones": run.found.clusters is not None,
                "models": 0 if isinstance(chosen, Undefined) else len(chosen.models),
                "compared_models": 0 if isinstance(chosen, Undefined) else len(chosen.comparable),
                "trials": None if isinstance(chosen, Undefined) else chosen.trials,
                "checked_tasks": run.found.checked,
                "judged": run.judged,
            }
        )
    return table_of(
        name="benchmarks",
        paper="Table 1",
        ours="report.html of the audit",
        title="Benchmarks and what was read of them",
        note="The paper's columns on design are those of its six benchmarks; these are facts of the audited files.",
        rows=rows,
    )


def components(runs: Sequence[RunMaterial]) -> PaperTable:
    """Share of the components among findings, and among tasks (Table 2)."""
    rows: list[Row] = []
    for run in runs:
        pairs = sum(part.tasks for part in run.analysis.components)
        for part in run.analysis.components:
            rows.append(
                {
                    "run": run.name,
                    "component": part.title,
                    "findings": part.confirmed + part.suspected,
                    "share_of_findings": number(part.share),
                    "tasks": part.tasks,
                    "share_of_flagged_parts": part.tasks / pairs if pairs else None,
                    "share_of_all_tasks": part.tasks / len(run.found.tasks) if run.found.tasks else None,
                }
            )
    return table_of(
        name="components",
        paper="Table 2",
        ours="report.html, Findings by component and category; tables/components.csv",
        title="Flaws by the part of the task that is wrong",
        note="Confirmed and suspected findings. A finding may touch many tasks or none, so the shares are given three "
        "times: of findings; of flagged parts, which count each component of each task once and are closest to the "
        "paper's unit, one issue per task; and of all tasks.",
        rows=rows,
    )


def categories(runs: Sequence[RunMaterial]) -> PaperTable:
    """Findings and tasks by category of the taxonomy (Tables 3 and 7)."""
    rows: list[Row] = []
    for run in runs:
        findings, tasks = Counter[str](), dict[str, set[str]]()
        for finding in run.found.findings:
            if finding.tier is not Tier.SIGNAL:
                findings[finding.category] += 1
                tasks.setdefault(finding.category, set()).update(finding.task_ids)
        for category in builtin_taxonomy().categories:
            rows.append(
                {
                    "run": run.name,
                    "component": category.component,
                    "category": category.name,
                    "findings": findings[category.id],
                    "tasks": len(tasks.get(category.id, ())),
                }
            )
    return table_of(
        name="categories",
        paper="Tables 3 and 7",
        ours="`agenthard taxonomy` has definitions and examples; report.html links every finding",
        title="Flaws by category of the taxonomy",
        rows=rows,
    )


def quality(runs: Sequence[RunMaterial], labelled: bool) -> PaperTable:
    """Compression, separability and diversity of the cleaned split, and alignment with people (Table 4)."""
    rows: list[Row] = []
    for run in runs:
        stages = [stage for stage in run.analysis.stages if stage.ran and stage.name != "difficulty"]
        first, last = stages[0], stages[-1]
        row: Row = {"run": run.name, "tasks": first.n, "cleaned": last.n, **plain("compression", last.from_original)}
        for name in ("agreement", "separability", "diversity"):
            for word, stage in (("initial", first), ("cleaned", last)):
                found = next((m.observed for m in stage.measures if m.id == name), None)
                row |= plain(f"{name}_{word}", found)
        rows.append(row)
    return table_of(
        name="quality",
        paper="Table 4 (separability, diversity, compression)",
        ours="report.html, Stages",
        title="What cleaning does to compression, separability and diversity",
        note="" if labelled else f"Precision, recall and F1 are in a table of their own. {NO_LABELS}",
        rows=rows,
    )


def leaderboards(runs: Sequence[RunMaterial]) -> PaperTable:
    """Scores and ranks on all splits (Table 5)."""
    rows: list[Row] = []
    for run in runs:
        for board in run.analysis.leaderboards:
            for line in board.rows:
                rows.append(
                    {"run": run.name, "split": board.split, "split_id": board.split_id, "rank": line.rank}
                    | {"model": line.model, "passed": line.passed, "runs": line.runs}
                    | plain("score", line.score)
                    | plain("score_errors_as_failures", line.errors_as_failures)
                )
    return table_of(
        name="leaderboards",
        paper="Table 5",
        ours="report.html, Leaderboards; tables/leaderboards.csv",
        title="Leaderboards on the initial, issue-cleaned and hard split",
        note="Scores on the hard split are cross-fitted: on the tasks that the other models select.",
        rows=rows,
        otherwise="No audit has runs of models that can be compared.",
    )


def rank_changes(runs: Sequence[RunMaterial]) -> PaperTable:
    """Changes of rank, each with its null (Table 9)."""
    rows: list[Row] = []
    for run in runs:
        for change in run.analysis.stability:
            for measure in change.measures:
                null = measure.null
                band, reason = (None, null.reason) if isinstance(null, Undefined) else (null, None)
                rows.append(
                    {"run": run.name, "errors": change.reading.removeprefix("errors_").replace("_", " ")}
                    | {"before": change.before, "after": change.after, "figure": measure.title}
                    | plain("before_value", measure.original)
                    | plain("observed", measure.observed)
                    | {"random_low": band.low if band else None, "random_high": band.high if band else None}
                    | {"verdict": measure.verdict, "no_null": reason}
                )
    return table_of(
        name="rank-changes",
        paper="Table 9",
        ours="report.html, Ranking stability; tables/ranking_stability.csv",
        title="Changes of rank, next to deleting as many random tasks",
        rows=rows,
        otherwise="No audit has the scores of two models on two splits.",
    )


def retention(runs: Sequence[RunMaterial]) -> PaperTable:
    """Share of each category that stays (Figures 5, 7 and 8)."""
    rows = [
        {"run": run.name, "split": table.split, "category": row.category, "before": row.n, "kept": row.kept}
        | {"share": row.share, "below_safeguard": row.below_safeguard}
        for run in runs
        for table in run.analysis.retention
        for row in table.rows
    ]
    return table_of(
        name="retention",
        paper="Figures 5, 7 and 8",
        ours="report.html, Categories; tables/retention.csv",
        title="Share of each category that stays",
        rows=rows,
        otherwise="Nothing was removed.",
    )


def compression_table(found: Sequence[StageCompressions]) -> PaperTable:
    """Pooled and macro compression over all benchmarks."""
    rows = [
        {"stage": row.title, "ran_on": row.ran, "benchmarks": row.benchmarks, "kept": row.kept, "tasks": row.tasks}
        | plain("pooled", row.pooled)
        | plain("macro", row.macro)
        for row in found
    ]
    return table_of(
        name="compression",
        paper="compression over all benchmarks",
        ours="`agenthard report RUN RUN …`",
        title="Compression over all benchmarks, stage by stage",
        note="Pooled: 1 − Σ kept / Σ tasks. Macro: mean over benchmarks. Where a stage did not run on a benchmark, "
        "what the stage before leaves counts. Of several audits of one release only the last counts.",
        rows=rows,
    )


def anchor_tables(runs: Sequence[RunMaterial]) -> tuple[PaperTable, PaperTable]:
    """Banks of anchor tasks and their errors; the paper has neither."""
    errors: list[Row] = []
    anchors: list[Row] = []
    for run in runs:
        if isinstance(run.banks, Undefined):
            continue
        for bank in run.banks.banks:
            for row in bank.errors:
                errors.append(
                    {"run": run.name, "size": bank.size, "method": row.method, "held_out_models": run.banks.models}
                    | {"tasks": run.banks.tasks}
                    | plain("mean_error", row.mean_error)
                    | plain("largest_error", row.largest_error)
                )
            anchors += [
                {"run": run.name, "size": bank.size, "task_id": anchor.task, "weight": anchor.weight}
                for anchor in bank.anchors
            ]
    reasons = "; ".join(f"{run.name}: {run.banks.reason}" for run in runs if isinstance(run.banks, Undefined))
    missing = f"No audit has scores for a bank ({reasons})."
    return (
        table_of(
            name="anchor-errors",
            paper="none",
            ours="only here",
            title="Error of a score from 25 to 100 anchor tasks, on models that did not choose them",
            note="Compare it with the mean of as many random tasks: where anchors are not better, use random tasks. "
            + (f"Without a bank: {reasons}." if reasons else ""),
            rows=errors,
            otherwise=missing,
        ),
        table_of(
            name="anchors",
            paper="none",
            ours="only here",
            title="Anchor tasks with their weights",
            rows=anchors,
            otherwise=missing,
        ),
    )


def prompt_places(runs: Sequence[RunMaterial]) -> PaperTable:
    """Where each prompt is in the picture of the embedding; the paper has none."""
    rows = [
        {"run": run.name, "task_id": task.id, "category": task.category, "decision": decision.action}
        | {"x": float(place[0]), "y": float(place[1])}
        for run in runs
        for task, decision, place in zip(run.found.tasks, run.found.decisions, run.plane, strict=True)
    ]
    return table_of(
        name="prompts",
        paper="none",
        ours="only here",
        title="Prompts in the two main directions of their embedding",
        rows=rows,
    )
