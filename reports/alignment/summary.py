"""The tables of an alignment, a label plan, a sample and a drift check, for terminals and for Markdown."""

from collections.abc import Iterable

from agenthard.audit.statistics.result import Estimate, Result, Undefined
from agenthard.reports.alignment.confidence import confidence_sections
from agenthard.reports.alignment.drift import Drift
from agenthard.reports.alignment.measures import Measured, RandomBaseline
from agenthard.reports.alignment.plan import Plan
from agenthard.reports.alignment.raters import PairAgreement, Robustness
from agenthard.reports.alignment.sampling import SampleKey
from agenthard.reports.alignment.score import Alignment
from agenthard.reports.kit.markdown import Section
from agenthard.reports.kit.text import plural


def alignment_sections(found: Alignment) -> list[Section]:
    """Lay out everything in reading order; parts without data are one sentence.

    Args:
        found: the alignment.
    """
    sections = [_overview(found), _kinds(found), _raters(found), _second_look(found), _modes(found)]
    if found.robustness is not None:
        sections += _robustness(found.robustness)
    if found.confidence is not None:
        sections += confidence_sections(found.confidence)
    return [*sections, Section("How these figures were made", _methods(found))]


def cell(result: Result, *, counts: tuple[int, int] | None = None) -> str:
    """Write a rate with its interval; k of n before it where both are whole.

    >>> cell(Estimate(value=0.5, low=0.1, high=0.9, level=0.95, n=4, of=4, unit="tasks", method="m"), counts=(2, 4))
    '2/4 = 0.500 [0.100, 0.900]'
    """
    if isinstance(result, Undefined):
        return f"undefined ({counts[0]} of {counts[1]})" if counts else "undefined"
    text = f"{result.value:.3f}"
    if counts:
        text = f"{counts[0]}/{counts[1]} = {text}"
    return f"{text} (no interval)" if result.low is None else f"{text} [{result.low:.3f}, {result.high:.3f}]"


def _overview(found: Alignment) -> Section:
    labels = found.labels
    left_out = [
        f"{count} {why}"
        for count, why in (
            (labels.tied, "on which annotators tie"),
            (labels.not_in_run, "that the run did not read"),
            (labels.not_in_key, "that are not in the sample"),
            (labels.unlabelled, "of the sample without a label"),
        )
        if count
    ]
    left_out += [f"stratum {name!r} ({count} tasks, none labelled)" for name, count in labels.unseen_strata.items()]
    where = "by weights" if found.weighted else "of the labelled tasks"
    text = (
        f"{labels.flawed} of {plural(labels.tasks, 'labelled task')} are flawed; "
        f"share {where}: {cell(found.prevalence)}. {plural(labels.labels, 'label')} by {', '.join(labels.annotators)}."
        + (f" Left out: {', '.join(left_out)}." if left_out else "")
        + (f" {plural(labels.open, 'line')} not filled in." if labels.open else "")
        + (f" {plural(labels.replaced, 'label')} replaced by a later line." if labels.replaced else "")
    )
    rows = [_measured(row, found.weighted) for row in found.rows]
    rows += [_random(row) for row in found.random]
    columns = (
        "flagged by",
        "kind",
        "answered",
        "flagged",
        "precision",
        "recall",
        "F1",
        f"precision at {found.adjusted_to:g}",
    )
    return Section("Agreement with the labels", text, columns, rows)


def _measured(row: Measured, weighted: bool) -> tuple[str, ...]:
    flagged, flawed = row.true_positives + row.false_positives, row.true_positives + row.false_negatives
    silent = [f"{row.undecided} undecided", plural(row.errors, "error"), f"{row.not_asked} not asked"]
    apart = ", ".join(text for text in silent if not text.startswith("0 "))
    return (
        row.name,
        row.kind,
        f"{row.answered} of {row.labelled}" + (f" ({apart})" if apart else ""),
        str(flagged),
        cell(row.precision, counts=None if weighted else (row.true_positives, flagged)),
        cell(row.recall, counts=None if weighted else (row.true_positives, flawed)),
        cell(row.f1),
        "as precision" if weighted else cell(row.adjusted),
    )


def _random(row: RandomBaseline) -> tuple[str, ...]:
    rates = (cell(row.precision), cell(row.recall), cell(row.f1))
    return row.name, "baseline", f"{row.labelled} of {row.labelled}", str(row.flagged), *rates, ""


def _kinds(found: Alignment) -> Section:
    kinds, unknown = found.kinds, found.labels.unknown_categories
    apart = [
        f"{plural(count, 'flawed task')} left out of the {name}: their labels name none that is known."
        for count, name in ((kinds.without_component, "components"), (kinds.without_category, "categories"))
        if count
    ]
    if unknown:
        words = ", ".join(f"{word!r} ({count})" for word, count in unknown.items())
        apart.append(f"Words of the labels that are not a category: {words}; a mapping file can define them.")
    rows = [
        (row.name, row.kind, _of(row.precision), _of(row.recall), cell(row.f1), _of(row.found_at_all))
        for row in kinds.rows
    ]
    columns = ("flaw", "kind", "precision", "recall", "F1", "flagged for any reason")
    return Section(f"By component and category: {found.compared}", " ".join(apart), columns, rows)


def _of(result: Result) -> str:
    """Write a rate with its n, because some rows rest on few tasks."""
    return f"{cell(result)} of {result.n}" if isinstance(result, Estimate) else "undefined (0 of 0)"


def _raters(found: Alignment) -> Section:
    raters = found.raters
    alphas = (
        ("α of the annotators", raters.alpha),
        ("α with " + found.compared, raters.alpha_with_judge),
        ("α of the annotators on the category", raters.alpha_categories),
    )
    text = "; ".join(f"{name}: {_or_reason(result)}" for name, result in alphas)
    rows = [_pair(pair) for pair in (*raters.between_annotators, *raters.with_judge)]
    return Section("Annotators and judge", f"{text}.", ("one", "other", "same verdict", "Cohen's κ"), rows)


def _pair(pair: PairAgreement) -> tuple[str, ...]:
    return pair.first, pair.second, _of(pair.same), _or_reason(pair.kappa)


def _or_reason(result: Result) -> str:
    return result.reason if isinstance(result, Undefined) else f"{cell(result)} ({result.n} of {result.of})"


def _second_look(found: Alignment) -> Section:
    look = found.second_look
    if not look.looked_again:
        return Section(
            "Second look",
            f"No second look at the {plural(look.wrong_at_first, 'flag')} that the labels call wrong.",
        )
    text = (
        f"Looked again at {look.looked_again} of {plural(look.wrong_at_first, 'flag')} that the first labels call "
        f"wrong; {look.confirmed} found right. Precision {cell(look.first)} by the first labels, "
        f"{cell(look.later)} post hoc."
    )
    return Section("Second look", text)


def _modes(found: Alignment) -> Section:
    modes = found.failure_modes
    counted = "; ".join(
        f"{modes.explained[error]} of {plural(count, error)} explained" for error, count in modes.errors.items()
    )
    elsewhere = f" {plural(modes.elsewhere, 'mode')} given on tasks without an error." if modes.elsewhere else ""
    rows = [
        (row.error, row.mode + ("" if row.of_the_paper else " (not in the paper)"), _of(row.share))
        for row in modes.rows
    ]
    columns = ("error", "mode", "share of the explained")
    return Section(f"Why {found.compared} was wrong", f"{counted}.{elsewhere}", columns, rows)


def _robustness(found: Robustness) -> Iterable[Section]:
    text = f"On the {found.common} of {found.labelled} labelled tasks that all of them gave a verdict on."
    if found.left_out:
        fewer = ", ".join(f"{name} ({count})" for name, count in found.left_out.items())
        text += f" Left out, with a verdict on fewer than half of the tasks: {fewer}."
    rows = [(row.name, cell(row.accuracy), cell(row.f1)) for row in found.rows]
    yield Section("Several judges", text, ("judge", "right", "F1"), rows)
    pairs = [_pair(pair) for pair in found.agreement]
    yield Section("Judges with each other", "", ("one", "other", "same verdict", "Cohen's κ"), pairs)
    if isinstance(found.differences, Undefined):
        yield Section("Paired differences", found.differences.reason)
        return
    tests = [
        (
            row.first,
            row.second,
            f"{row.difference:+.3f}",
            f"{row.n} of {row.of}",
            f"{row.p:.3g}",
            f"{row.adjusted_p:.3g}",
        )
        for row in found.differences
    ]
    columns = ("one", "other", "right, one − other", "tasks", "p", "p, Holm")
    yield Section("Paired differences", f"Test: {found.test}.", columns, tests)


def _methods(found: Alignment) -> str:
    shown = [found.rows[0].precision, found.rows[0].recall, found.rows[0].f1, found.rows[0].adjusted]
    shown += [found.random[0].precision, found.raters.alpha_with_judge]
    methods: dict[str, None] = {}
    for result in shown:
        if isinstance(result, Estimate):
            level = f", {result.level:.0%}" if result.level else ""
            seed = "" if result.seed is None else f", seed {result.seed}"
            methods[f"{result.method}{level}{seed}"] = None
        else:
            methods[result.reason] = None
    clusters = " κ, α and McNemar's test take tasks as independent, clusters or not." if found.clustered else ""
    return "; ".join(methods) + f".{clusters} Tasks without a verdict count neither for nor against."


MOST = 50
"""Flips that are listed."""


def plan_sections(plan: Plan) -> list[Section]:
    """Lay out the table of the planner."""
    expected = plan.expected
    text = (
        f"{plural(expected.tasks, 'task')}, expected precision {expected.precision:g}, recall {expected.recall:g}, "
        f"{expected.prevalence:.1%} flawed; so {expected.flagged_share:.1%} ({expected.flagged_tasks}) are flagged and "
        f"{expected.missed_share:.1%} of the others are flawed."
    )
    rows = [
        (row.goal, row.design, f"{row.labels} of {expected.tasks}", str(row.flagged), f"± {row.half_precision:.3f}",
         f"± {row.half_recall:.3f}")
        for row in plan.rows
    ]  # fmt: skip
    columns = ("goal", "design", "labels", "on flagged", "precision", "recall")
    return [Section("Labels needed", text, columns, rows), Section("", f"{plan.method}; {expected.level:.0%}.")]


def sample_sections(key: SampleKey) -> list[Section]:
    """Lay out how a sample was drawn."""
    rows = [
        (s.name, f"{s.population:,}", str(s.sampled), f"{s.population / s.sampled:.2f}" if s.sampled else "none drawn")
        for s in key.strata
    ]
    text = f"{plural(len(key.tasks), 'task')}, design {key.design} by {key.drawn_by}, seed {key.seed}"
    if key.not_asked:
        text += f"; {plural(key.not_asked, 'task')} that were not asked about cannot be drawn"
    return [Section("Sample", text, ("stratum", "tasks", "drawn", "weight"), rows)]


def drift_sections(found: Drift) -> list[Section]:
    """Lay out a drift check."""
    missing = "".join(f"; {why}: {count}" for why, count in found.without_verdict.items())
    text = (
        f"{found.why}. {found.compared} of {plural(found.frozen, 'frozen task')} compared; "
        f"content changed: {found.content_changed}{missing}."
    )
    rows = [
        (row.version, f"{_flips(row.newly_flagged, row.newly_clean)} of {row.flips.n}", cell(row.flips),
         str(row.newly_flagged), str(row.newly_clean), f"{row.direction_p:.3g}", f"{row.rate_p:.3g}")
        for row in found.rows
    ]  # fmt: skip
    columns = (
        "prompt or checks",
        "flips",
        "share",
        "newly flagged",
        "newly clean",
        "p, one way",
        "p, more than allowed",
    )
    flips = [
        (flip.task_id, f"{flip.before} → {flip.now}", flip.content, flip.version, flip.reason)
        for flip in found.flips[:MOST]
    ]
    shown = f"the first {MOST} of {len(found.flips)}" if len(found.flips) > MOST else str(len(found.flips))
    listed = Section(f"Flips ({shown})", "", ("task", "verdict", "content", "prompt or checks", "reason"), flips)
    level = found.rows[0].flips.level if isinstance(found.rows[0].flips, Estimate) else None
    how = f"Wilson intervals{f', {level:.0%}' if level else ''}; exact McNemar and binomial tests, α = {found.alpha:g}."
    return [Section("Drift", text, columns, rows), listed, Section("", how)]


def _flips(flagged: int, clean: int) -> str:
    return str(flagged + clean)
