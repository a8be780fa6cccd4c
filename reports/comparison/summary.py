"""A comparison as Markdown: for a mail, a pull request or a Prefect artifact."""

from collections.abc import Iterable

from agenthard.reports.comparison.audits import AuditComparison
from agenthard.reports.comparison.scores import ScoreComparison
from agenthard.reports.comparison.sections import Section, comparison_sections
from agenthard.reports.markdown import md, table


def comparison_markdown(found: AuditComparison | ScoreComparison) -> str:
    """Write a comparison of two audits, or of two tables of scores; texts of the benchmark are escaped."""
    return sections_markdown(comparison_sections(found))


def sections_markdown(sections: Iterable[Section]) -> str:
    """Write titled tables; every text is escaped."""
    parts = []
    for section in sections:
        if section.title:
            parts.append(f"## {md(section.title)}")
        if section.text:
            parts.append(md(section.text))
        if section.rows:
            parts.append(table(section.columns, [[md(cell) for cell in row] for row in section.rows]))
    return "\n\n".join(parts) + "\n"
