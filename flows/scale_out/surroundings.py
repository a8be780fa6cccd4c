"""What has to be installed on a worker as it is where the command runs, so that the results are the same bytes."""

from collections.abc import Collection
from functools import lru_cache
from importlib.metadata import version as package_version
from pathlib import Path

from agenthard.audit.execution.checkout import code_version
from agenthard.audit.sources.fetch import fetched
from agenthard.audit.sources.registry import source_class
from agenthard.flows.audit_plan import AuditSettings
from agenthard.flows.errors import CommandError
from agenthard.flows.resume_key import checking_code
from agenthard.taxonomy.record import Record


class DifferentWorkerError(CommandError):
    """A worker has other code or data than the process of the command; the message says which and what to do."""

    code = "AH823"
    remedy = "Install the same versions on all machines, and run the same command again."


class Surroundings(Record):
    """What the result of a shard depends on, apart from the shard."""

    benchmarks: tuple[str, ...]
    """Benchmarks that the tasks name; their environments execute them."""
    package: str
    """Version of AgentHard."""
    code: str
    """Hash of the checks, the source and the environments of the benchmark."""
    checks: tuple[str, ...]
    """Checks that run."""
    installed: tuple[str, ...]
    """Versions of the benchmark that ``agenthard fetch`` downloaded; environments execute their code."""
    checkout: str | None
    """Hash of the code of the checkout."""

    @classmethod
    def here(cls, settings: AuditSettings, benchmarks: Collection[str]) -> "Surroundings":
        """Return those of this process.

        Args:
            settings: the audit.
            benchmarks: benchmarks that the tasks name.
        """
        checkout = Path(settings.checkout) if settings.checkout else None
        return cls(
            benchmarks=tuple(sorted(benchmarks)),
            package=package_version("agenthard"),
            code=checking_code(source_class(settings.source), benchmarks),
            checks=tuple(check.id for check in settings.checks()),
            installed=tuple(str(item.version) for item in fetched(settings.source)),
            checkout=code_version(checkout.resolve()) if checkout and checkout.is_dir() else None,
        )


@lru_cache(maxsize=8)
def _here(settings: AuditSettings, benchmarks: tuple[str, ...]) -> Surroundings:
    return Surroundings.here(settings, benchmarks)


_MEANINGS = {
    "package": "another version of AgentHard: {there} instead of {here}",
    "code": "other code of AgentHard or of its plug-ins",
    "checks": "other checks; a plug-in is missing or added",
    "installed": "other downloads of the benchmark ({there} instead of {here}); run `agenthard fetch` there",
    "checkout": "no checkout, or another one, at the path of --checkout",
}


def require_same(wanted: Surroundings, settings: AuditSettings) -> None:
    """Refuse to check a shard where the result may differ.

    Raises:
        DifferentWorkerError: Something is installed in another version here.
    """
    own = _here(settings, wanted.benchmarks)
    for name, meaning in _MEANINGS.items():
        here, there = getattr(wanted, name), getattr(own, name)
        if here != there:
            raise DifferentWorkerError(f"a worker has {meaning.format(here=here, there=there)}")
