"""The documentation page of the taxonomy, generated from the data."""

from collections.abc import Mapping

from agenthard.taxonomy.categories import COMPONENT_TITLES, Taxonomy

_ORIGINS = {"paper": "the audit paper", "agenthard": "AgentHard", "user": "the user"}

_INTRODUCTION = """\
# What can be wrong with an agent task

This page is generated from `taxonomy/issues.yaml` (version {version}) by `agenthard taxonomy --markdown`; change the
data, not the page.

An agent task couples a user, an environment, an evaluation and a ground truth. Each category below belongs to the
component that has to be mended. {paper} categories come from the audit paper, {ours} are ours.

Categories of your own go into a YAML file of the same layout (`version`, `categories` with `id`, `name`, `component`,
`rule`, `positive`, `negative`, `checks`); `agenthard taxonomy --add FILE` checks and prints it.
"""


def taxonomy_page(taxonomy: Taxonomy, pages: Mapping[str, str]) -> str:
    """Render the taxonomy as Markdown: one section per component, one subsection per category.

    Args:
        taxonomy: the taxonomy.
        pages: file name of the page of each check in ``docs/checks``, by its id; the index for others.
    """
    origins = [category.origin for category in taxonomy.categories]
    parts = [
        _INTRODUCTION.format(version=taxonomy.version, paper=origins.count("paper"), ours=origins.count("agenthard"))
    ]
    for component, title in COMPONENT_TITLES.items():
        parts.append(f"\n## {title}\n")
        for category in taxonomy.component(component):
            checks = ", ".join(
                f"[`{check}`](checks/{pages.get(check, 'index.md')}#{check})" for check in category.checks
            )
            parts.append(
                f"\n### {category.id}\n\n**{category.name}** (from {_ORIGINS[category.origin]})\n\n{category.rule}\n\n"
                f"* Belongs here: {category.positive}\n* Does not: {category.negative}\n"
                f"* Checks that can decide it: {checks or 'none yet; a judge or a person'}\n"
            )
    return "".join(parts)
