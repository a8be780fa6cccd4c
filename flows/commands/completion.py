"""Values that the shell completes: sources, checks, ids of a run. What they need is imported when they are called."""

from pathlib import Path

import typer


def complete_source(incomplete: str) -> list[str]:
    """Name the sources that begin so."""
    from agenthard.audit.plugins import plugins
    from agenthard.audit.sources.registry import BUILT_IN, GROUP

    return [name for name in sorted(plugins(GROUP, BUILT_IN)) if name.startswith(incomplete)]


def complete_check(incomplete: str) -> list[str]:
    """Name the checks that begin so."""
    from agenthard.audit.detectors.registry import detectors

    return [check.id for check in detectors() if check.id.startswith(incomplete)]


def complete_rule(incomplete: str) -> list[str]:
    """Name the checks and categories that begin so."""
    from agenthard.taxonomy.categories import load_taxonomy

    categories = [category.id for category in load_taxonomy().categories if category.id.startswith(incomplete)]
    return sorted({*complete_check(incomplete), *categories})


def complete_of_run(context: typer.Context, incomplete: str) -> list[str]:
    """Name the findings and the tasks of the run folder before the word that begin so; none if it holds no audit."""
    from agenthard.flows.run_findings import RunFindings
    from agenthard.taxonomy.errors import AgentHardError

    try:
        ids = RunFindings(Path(context.params.get("run") or "")).ids
    except (AgentHardError, OSError, ValueError):
        return []
    return [each for each in ids if each.startswith(incomplete)]
