"""What ``import agenthard as ah`` does with audits that are written, and with tables of scores."""

import asyncio
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from agenthard.flows.errors import UsageError
from agenthard.result import AuditResult

if TYPE_CHECKING:
    import pandas

    from agenthard.flows.publishing.records import Published
    from agenthard.flows.repair import RepairOutcome
    from agenthard.reports.cleaning.models import MatrixAnalysis
    from agenthard.reports.comparison.audits import AuditComparison
    from agenthard.reports.comparison.scores import ScoreComparison
    from agenthard.reports.paper.record import Paper
    from agenthard.reports.survey.record import Survey

PathLike = str | Path


def judge(
    result: AuditResult,
    judges: PathLike,
    out: PathLike | None = None,
    *,
    tasks: Sequence[str] = (),
    sample: int | None = None,
    runs: int = 0,
    budget: float | None = None,
    token_budget: int | None = None,
) -> AuditResult:
    """Ask a panel of models about the tasks of a written audit, and conclude again with their findings.

    Calling it again continues: a question that has an answer is not asked again.

    Args:
        result: the audit; write it first.
        judges: judge file (YAML).
        out: folder to write; None means the audit's folder with ``-judged`` added.
        tasks: ids of the tasks to judge; empty means all.
        sample: judge only so many of them.
        runs: runs of each task to show.
        budget: the most that models may cost.
        token_budget: the most tokens that models may use.

    Returns:
        The audit with the judges' findings; its ``judging`` has the figures, and why asking stopped early.

    Raises:
        UsageError: when the audit is not written.
        CommandError: when it cannot be judged, or the folder holds something else.
        ModelError: when a model is set up wrongly.
    """
    from agenthard.audit.judge.settings import load_settings
    from agenthard.flows.judging.run import run_judging
    from agenthard.flows.judging.settings import JudgingSettings

    folder = _folder(result)
    settings = JudgingSettings(
        run=str(folder),
        judges=load_settings(Path(judges)),
        out=str(out or folder.with_name(f"{folder.name}-judged")),
        tasks=tuple(tasks),
        sample=sample,
        runs=runs,
        workers=0,
        budget=budget,
        token_budget=token_budget,
    )
    settings.price_table()
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        outcome = run_judging(settings)
    else:  # a notebook's loop is running in this thread
        with ThreadPoolExecutor(1) as thread:
            outcome = thread.submit(run_judging, settings).result()
    judged = AuditResult.read(settings.out)
    judged.judging = outcome
    return judged


def repair(
    result: AuditResult, out: PathLike | None = None, *, findings: Sequence[str] = (), checks: Sequence[str] = ()
) -> "RepairOutcome":
    """Repair findings that have exactly one minimal fix: each change is made in a copy and re-checked.

    Args:
        result: the audit; write it first.
        out: folder to write; None means ``repair`` in the audit's folder.
        findings: ids of the findings to repair; empty means all.
        checks: repair only findings of these checks; empty means all.

    Raises:
        UsageError: when the audit is not written.
        CommandError: when the benchmark is gone or has changed.
    """
    from agenthard.flows.repair import RepairSettings, repair_run

    folder = _folder(result)
    settings = RepairSettings(
        run=str(folder), out=str(out or folder / "repair"), findings=tuple(findings), checks=tuple(checks)
    )
    return repair_run(settings, lambda what, steps: None)


def compare(
    first: AuditResult | PathLike,
    second: AuditResult | PathLike,
    *,
    experiment: str | None = None,
    common_models: bool = False,
) -> "AuditComparison | ScoreComparison":
    """Compare two written audits, or two files with tables of scores.

    Args:
        first: the earlier one: a result, a run folder, or a table of scores.
        second: the later one, of the same kind.
        experiment: which runs; None means the experiment with most comparable models.
        common_models: compare the models that both have, instead of refusing different ones.

    Raises:
        UsageError: when an audit is not written.
        CommandError: when a side cannot be read, or the sides may not be compared.
    """
    from agenthard.flows.comparison import CompareSettings, make_comparison

    sides = [str(_folder(side)) for side in (first, second)]
    return make_comparison(
        CompareSettings(first=sides[0], second=sides[1], experiment=experiment, common_models=common_models)
    )


def publish(
    result: AuditResult | PathLike,
    split: Literal["clean", "hard", "repaired"] = "clean",
    out: PathLike | None = None,
    *,
    previous: PathLike | None = None,
    sign: PathLike | None = None,
    push: str | None = None,
) -> "Published":
    """Publish a split: the benchmark's own format, a Hugging Face data set, its removals, a version, a card.

    Args:
        result: the audit, or its run folder.
        split: split of the audit (clean), of a report (hard), or of a repair (repaired).
        out: folder to write; None means ``publication/SPLIT`` in the run folder.
        previous: folder or manifest of the last publication; None means the one in ``out``, if there is one.
        sign: file with an Ed25519 private key (PEM) that signs the manifest.
        push: data set repository (OWNER/NAME) to upload to; None means that nothing leaves this machine.

    Returns:
        Version, changes, counts and folder of the publication.

    Raises:
        UsageError: when the audit is not written.
        CommandError: when the run folder or the benchmark is damaged, or a file cannot be used.
    """
    from agenthard.flows.publishing.publish import publish as publish_split
    from agenthard.flows.publishing.records import PublishSettings

    paths = {name: None if path is None else str(path) for name, path in (("out", out), ("previous", previous))}
    key = None if sign is None else str(sign)
    return publish_split(PublishSettings(run=str(_folder(result)), split=split, sign=key, push=push, **paths))


def survey(results: Iterable[AuditResult | PathLike], page: PathLike | None = None, *, title: str = "") -> "Survey":
    """Put audits side by side: flaws by category, evaluators put to the test, points on flawed tasks, versions.

    Args:
        results: audits or run folders; several of one benchmark are its history.
        page: page to write, with ``survey.json`` and ``tables/`` next to it; None means that nothing is written.
        title: title of the page; empty means how many benchmarks it is about.

    Raises:
        UsageError: when an audit is not written.
        CommandError: when a run folder cannot be read.
    """
    from agenthard.reports.cleaning.inputs import AnalysisSettings
    from agenthard.reports.survey.page import write_survey
    from agenthard.reports.survey.survey import survey as put_together

    found = put_together([_folder(result) for result in results], AnalysisSettings(), title=title)
    if page is not None:
        write_survey(found, Path(page))
    return found


def paper(
    results: Iterable[AuditResult | PathLike],
    out: PathLike | None = None,
    *,
    embedder: str = "tfidf",
    alignment: PathLike | None = None,
) -> "Paper":
    """Make every table of the audit paper, and compare its published figures with ours.

    Args:
        results: audits or run folders, as they are or after a judge.
        out: folder for the page, tables and figures; None means that nothing is written.
        embedder: what turns prompts into vectors (see ``agenthard.audit.statistics.embedder``).
        alignment: what ``agenthard align score --json`` printed, for the tables that need labels of people.

    Raises:
        UsageError: when an audit is not written.
        CommandError: when a run folder or the alignment cannot be read.
    """
    from agenthard.flows.paper import read_alignment
    from agenthard.reports.cleaning.inputs import AnalysisSettings
    from agenthard.reports.paper.material import read_material
    from agenthard.reports.paper.page import make_paper, write_paper

    folders, settings = [_folder(result) for result in results], AnalysisSettings(embedder=embedder)
    labels = None if alignment is None else read_alignment(Path(alignment))
    if out is not None:
        return write_paper(folders, Path(out), settings, alignment=labels).paper
    return make_paper(read_material(folders, settings), labels)


def leaderboard(scores: "pandas.DataFrame | PathLike", drop: Iterable[str] = ()) -> "MatrixAnalysis":
    """Rank the models of a table of scores, with intervals, rank intervals and tied sets.

    >>> import agenthard as ah, pandas
    >>> rows = [{"model": m, "task_id": t, "score": int(t <= n)} for m, n in [("a", 9), ("b", 4)] for t in range(10)]
    >>> found = ah.leaderboard(pandas.DataFrame(rows))
    >>> [(row.rank, row.model, row.passed) for row in found.leaderboards[0].rows]
    [(1, 'a', 10), (2, 'b', 5)]

    Args:
        scores: a data frame or a file: wide (one row per model, first column ``model``, one column per task) or long
            (columns ``model``, ``task_id``, ``score``). A score is 0 or 1.
        drop: ids of tasks to leave out; the ranking without them is compared with deleting as many random tasks.

    Raises:
        MatrixError: when the table cannot be used.
        AnalysisError: when no model can be compared, or a dropped task is not in the table.
    """
    from agenthard.audit.statistics import matrix_from_frame, read_matrix
    from agenthard.reports.cleaning.models import analyse_matrix

    matrix = read_matrix(Path(scores)) if isinstance(scores, str | Path) else matrix_from_frame(scores)
    return analyse_matrix(matrix, tuple(drop))


def _folder(result: AuditResult | PathLike) -> Path:
    if not isinstance(result, AuditResult):
        return Path(result)
    if result.folder is None:
        raise UsageError("the audit is in memory only; call result.write(FOLDER) first")
    return result.folder
