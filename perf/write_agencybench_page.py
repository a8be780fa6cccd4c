"""Write the measured parts of docs/sources/agencybench.md: figures, attempts without work, findings of an audit.

Usage: python perf/write_agencybench_page.py PATH
PATH is the folder of the benchmark with its released run. Each part replaces what is between its two markers on the
page, so that no number of them is typed by hand.
"""

import argparse
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

import agenthard as ah
from agenthard.audit.sources.agencybench import AgencyBench
from agenthard.audit.sources.base import FigureTable, Quarantine
from agenthard.reports.kit.markdown import md, table
from agenthard.taxonomy.finding import Finding

TARGET = Path(__file__).parents[1] / "docs" / "sources" / "agencybench.md"
EXAMPLE = 150
"""Characters of a finding that the table quotes."""


def figure_parts(path: Path) -> dict[str, str]:
    """Return the parts that the reader computes: scores, measures, and where no work was done."""
    source = AgencyBench(path)
    scores, measures, idle = source.figures(source.runs(path, Quarantine()))
    return {"scores": _table(scores), "measures": _table(measures), "idle": _table(idle, without="/")}


def findings_part(findings: Sequence[Finding]) -> str:
    """Return the table of the findings of an audit, one row a check."""
    by_check: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        by_check[finding.check].append(finding)
    rows = []
    for check, found in sorted(by_check.items()):
        tiers = [each.tier for each in found]
        counts = ", ".join(f"{tiers.count(tier)} {tier}" for tier in sorted(set(tiers)))
        tasks = len({task for each in found for task in each.task_ids})
        rows.append((f"`{check}`", counts, str(tasks), _short(found[0].claim)))
    return table(("check", "findings", "tasks", "the first one says"), rows)


def put(page: str, parts: Mapping[str, str]) -> str:
    """Replace the parts of a page.

    Raises:
        SystemExit: when the page lacks a marker.
    """
    for name, text in parts.items():
        pattern = re.compile(rf"(<!-- {name}: [^>]*-->\n)(.*?)(<!-- end {name} -->)", re.DOTALL)
        if not pattern.search(page):
            raise SystemExit(f"{TARGET.name} has no place for {name!r}: add its two markers")
        page = pattern.sub(lambda found, text=text: f"{found[1]}\n{text}\n\n{found[3]}", page)  # type: ignore[misc]
    return page


def _table(figures: FigureTable, without: str | None = None) -> str:
    rows = [row for row in figures.rows if without is None or without not in row[0]]
    return table(figures.columns, [[md(cell) for cell in row] for row in rows])


def _short(claim: str) -> str:
    cut = claim if len(claim) <= EXAMPLE else claim[:EXAMPLE].rsplit(" ", 1)[0] + " …"
    return md(cut)


def main() -> None:
    """Audit the benchmark, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", type=Path, metavar="PATH")
    path = parser.parse_args().path
    result = ah.audit(ah.open_source("agencybench", path), runs=[path])
    parts = {**figure_parts(path), "findings": findings_part(result.findings)}
    TARGET.write_text(put(TARGET.read_text(encoding="utf-8"), parts), encoding="utf-8")


if __name__ == "__main__":
    main()
