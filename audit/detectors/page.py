"""The documentation page of the checks, generated from the detectors' own docstrings."""

import inspect
from collections.abc import Sequence

from agenthard.audit.detectors.base import Detector
from agenthard.audit.detectors.measured import measured_lines

_INTRODUCTION = """\
# Checks

This page is generated from the detectors' docstrings by `agenthard checks --markdown`; change the docstring, not the
page. `agenthard explain ID` prints one section.

*Tier*: **confirmed** follows from the files by a stated rule, **suspected** is a heuristic or a statistic that a
person or a judge decides on, **signal** only orders the review queue. *Severity* says what the flaw does to the score.
Both are the usual ones; a finding can state its own. *Measured* figures are of this release: a
task without a label is not thereby sound, so agreement with labels is a lower bound; cost includes the execution of
ground truths, which several checks share and the first one pays.

| check | category | tier | severity | version |
|---|---|---|---|---|
"""


def checks_page(detectors: Sequence[Detector]) -> str:
    """Render the checks as Markdown: a table, then one section per check."""
    rows = [
        f"| [`{d.id}`](#{d.id}) | [{d.category}](taxonomy.md#{d.category}) | {d.tier} | {d.severity} | {d.version} |\n"
        for d in detectors
    ]
    return _INTRODUCTION + "".join(rows) + "".join(map(_section, detectors))


def _section(detector: Detector) -> str:
    text = inspect.cleandoc(detector.__doc__ or "")
    why = f"\n\nWhy it matters: {detector.why}" if detector.why else ""
    figures = "".join(f"\n* {line}" for line in measured_lines(detector.id))
    return f"\n## {detector.id}\n\n**{detector.title}**\n\n{text}{why}\n\nMeasured:\n{figures}\n"
