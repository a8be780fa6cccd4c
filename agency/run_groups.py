"""Runs put together as the tables of the paper need them: one group per run folder, with its measures and its calls."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from agenthard.agency.metrics import Measures, measures
from agenthard.audit.sources.agencybench.figures import ScenarioAttempts, gather
from agenthard.taxonomy.trajectory import Trajectory

TOOL_GROUPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "shell": ("run_shell_command",),
        "file": (
            *("read_file", "write_file", "replace", "list_directory", "glob", "read_many_files"),
            "search_file_content",
        ),
        "memory": ("save_memory", "initialize_memory_bank", "read_memory_bank", "update_memory_bank"),
        "web": ("web_search", "web_fetch", "hybrid_search", "deep_research"),
    }
)
"""Tools by group, as the paper's figure of tool use puts them together; the rest is ``other``."""
OTHER = "other"
_WRITTEN = re.compile(r"\[TOOL[ _]CALL\]\s*(\w+)\s*\(")
_SCAFFOLD = re.compile(r"\bscaffold[ =:]+([^,;]+)")
HOUR = 3600.0
MILLION = 1e6


def group_of(tool: str) -> str:
    """Return the group of a tool.

    >>> group_of("web_fetch"), group_of("todo_write")
    ('web', 'other')
    """
    return next((name for name, tools in TOOL_GROUPS.items() if tool in tools), OTHER)


@dataclass(frozen=True)
class RunGroup:
    """The runs of one agent under one set of conditions, over all its scenarios."""

    name: str
    """Name of the run folder, or agent and conditions."""
    runs: tuple[Trajectory, ...]
    """All attempts."""
    scenarios: tuple[ScenarioAttempts, ...]
    """The same by scenario and task."""
    measures: Measures
    """Their measures."""

    @property
    def models(self) -> tuple[str, ...]:
        """Models, the one with the most runs first."""
        return tuple(name for name, _ in Counter(run.model for run in self.runs).most_common())

    @property
    def scaffold(self) -> str | None:
        """Scaffold, where the name of the group states it as a condition."""
        found = _SCAFFOLD.search(self.name)
        return found[1].strip() if found else None

    @cached_property
    def calls(self) -> Counter[str]:
        """Calls of tools by name: those that the log keeps as records, or else those that it shows as text."""
        found: Counter[str] = Counter()
        for run in self.runs:
            kept = [call.name for message in run.messages for call in message.tool_calls]
            text = (name for message in run.messages for name in _WRITTEN.findall(message.content or ""))
            found.update(kept or text)
        return found

    @property
    def calls_are_text(self) -> bool:
        """Whether calls are only shown as text, so that the log may lack some."""
        return not any(message.tool_calls for run in self.runs for message in run.messages)

    @property
    def turns(self) -> int | None:
        """Replies with at least one call; None where the log keeps no calls."""
        return None if self.calls_are_text else sum(bool(m.tool_calls) for run in self.runs for m in run.messages)

    @property
    def hours(self) -> float | None:
        """Hours per scenario; None where a run has no time."""
        known = [run.usage["seconds"] for run in self.runs if "seconds" in run.usage]
        return sum(known) / HOUR / len(self.scenarios) if len(known) == len(self.runs) else None

    @property
    def million_tokens(self) -> float | None:
        """Million tokens of the agent per scenario, prompts and replies; None where the log counts none."""
        return None if self.measures.tokens is None else self.measures.tokens / MILLION

    def shares(self) -> dict[str, float] | None:
        """Return the share of each group of tools in all calls; None without a call."""
        total = self.calls.total()
        if not total:
            return None
        sums: Counter[str] = Counter()
        for name, count in self.calls.items():
            sums[group_of(name)] += count
        return {name: sums[name] / total for name in (*TOOL_GROUPS, OTHER)}


def run_groups(runs: Iterable[Trajectory], *, resamples: int = 2000, seed: int = 0) -> list[RunGroup]:
    """Put runs together by run folder, and measure each group.

    A run that sums up a whole scenario is left out where the runs of its tasks are there.

    Args:
        runs: attempts in any order.
        resamples: resamples of the bootstrap.
        seed: seed of the bootstrap.
    """
    known = list(runs)
    scenarios = {run.task_id.rsplit("/", 1)[0] for run in known}
    kept = [run for run in known if run.task_id not in scenarios]
    by_name: dict[str, list[Trajectory]] = defaultdict(list)
    for run in kept:
        by_name[run.protocol or ""].append(run)
    measured = measures(kept, resamples=resamples, seed=seed)
    return [RunGroup(name, tuple(by_name[name]), tuple(found), measured[name]) for name, found in gather(kept).items()]


def capabilities_of(groups: Sequence[RunGroup]) -> tuple[str, ...]:
    """Return the capabilities of all groups, in the order in which they occur."""
    return tuple(dict.fromkeys(each.capability for group in groups for each in group.scenarios))
