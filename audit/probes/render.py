"""The battery's report as plain text."""

from collections.abc import Iterator

from agenthard.audit.probes.report import LEVEL, ProbeReport, ProbeResult, percent


def render(report: ProbeReport, *, every: bool = False) -> str:
    """Write a report for people.

    Args:
        report: what the battery found.
        every: True to list every probe, not only the shortcuts.

    Returns:
        Lines of text, the shortcuts first.
    """
    return "\n".join([*_head(report), "", *_shortcuts(report), "", *_families(report), *_ahead(report)]) + (
        "\n\n" + "\n".join(_table(report)) if every else ""
    )


def _head(report: ProbeReport) -> Iterator[str]:
    yield (
        f"{report.scenes} tasks, {report.choices} choices; a candidate taken at random is the answer in "
        f"{percent(report.chance_all)}."
    )
    if report.contested != report.choices or report.chance_survivors != report.chance_all:
        yield (
            f"In {report.contested} choices the stated rules leave a rival; one of those left, taken at random, is the "
            f"answer in {percent(report.chance_survivors)}."
        )
    if report.truth_breaks_rules:
        yield f"In {report.truth_breaks_rules} choices the answer breaks the stated rules of its own choice."


def _shortcuts(report: ProbeReport) -> Iterator[str]:
    found = report.give_aways()
    outside, judged = report.missed_by_luck()
    if found:
        yield f"{len(found)} traits give answers away (adjusted p < {LEVEL}), surest first:"
    else:
        yield f"No trait gives answers away: no probe of {judged} beats chance (adjusted p < {LEVEL})."
    for shortcut in found:
        more = f" {shortcut.agreeing} more results of this trait agree." if shortcut.agreeing else ""
        yield f"- {shortcut.trait}: {shortcut.best.sentence}{more}"
    yield (
        f"95 % intervals that leave chance out: {outside} of {judged}; by luck alone about {0.05 * judged:.0f} would."
    )


def _families(report: ProbeReport) -> Iterator[str]:
    yield "family: probes, shortcuts"
    for family, (number, found) in report.families().items():
        yield f"  {family}: {number}, {found}"


def _ahead(report: ProbeReport) -> Iterator[str]:
    if report.look_ahead:
        yield ""
        yield "Look-ahead (reads the rules, so it is no shortcut): how often the best fitting candidate is the answer"
    for row in report.look_ahead:
        yield (
            f"  {row.way}, {row.group or 'all'}: {percent(row.accuracy)} of {row.n} choices "
            f"(at random {percent(row.guess)})"
        )


def _table(report: ProbeReport) -> Iterator[str]:
    yield f"{'scope':10}{'n':>6}{'rate':>8}{'95 % interval':>18}{'chance':>8}{'p (Holm)':>10}  probe"
    for result in report.results:
        yield _row(result)


def _row(result: ProbeResult) -> str:
    interval = f"{percent(result.low)} to {percent(result.high)}"
    mark = "" if result.verdict == "at chance" else f"  <- {result.verdict}"
    return (
        f"{result.scope:10}{result.n:6}{percent(result.rate):>8}{interval:>18}{percent(result.chance):>8}"
        f"{result.p_holm:10.2g}  the answer {result.says}{mark}"
    )
