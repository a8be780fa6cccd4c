"""Result files of τ-bench: a JSON array of ``{task_id, reward, info, traj, trial}``, without model and domain.

Both are taken from the file's name, ``tool-calling-MODEL-TEMPERATURE_range_0--1_user-USER-llm_TIME.json`` or
``MODEL-DOMAIN.json``; the domain first from the task that each run embeds.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.json_stream import stream_members
from agenthard.audit.sources.tau.logs import LogRow, first_record
from agenthard.taxonomy.record import Origin

_FILE_NAME = re.compile(
    r"(?:^|.*_)(?:tool-calling|act|react|few-shot)-(?P<model>.+)-\d+(?:\.\d+)?_range_.*?_user-(?P<user>.+)"
    r"-(?:llm|react|verify|reflection|human)_\d+$"
)


@dataclass(frozen=True)
class ResultFiles:
    """Opens the benchmark's own result files."""

    benchmark: str
    """Tag that the rows get."""
    domains: Sequence[str]
    """All domains and splits of the benchmark."""
    users: Mapping[str, Mapping[str, str | None]]
    """User of each task that was read, by open domain and native id."""

    def open(self, path: Path, name: str) -> Iterator[LogRow] | None:
        """Return the rows with their places, or None when the file is something else."""
        return self._rows(path, name) if {"task_id", "reward", "traj"} <= set(first_record(path)) else None

    def _rows(self, path: Path, name: str) -> Iterator[LogRow]:
        domain, model, user_model = self._names(Path(name).name.removesuffix(".gz").removesuffix(".json"))
        for member in stream_members(path):
            value = member.value
            if isinstance(value, dict):
                info = value["info"] if isinstance(value.get("info"), dict) else {}
                cost = info.get("user_cost")
                value = {
                    "benchmark": self.benchmark,
                    "domain": self._domain_of(value, info, domain),
                    "model": model,
                    "user_model": user_model,
                    "task_id": value.get("task_id"),
                    "trial": value.get("trial"),
                    "reward": value.get("reward"),
                    "infra_error": info.get("error"),
                    "messages": value.get("traj"),
                    "usage": {"user_cost": float(cost)} if isinstance(cost, int | float) else {},
                }
            yield Origin(file=name, pointer=member.pointer), value

    def _names(self, stem: str) -> tuple[str, str, str | None]:
        """Read domain (or an empty text), model and user model from a file's name."""
        found = _FILE_NAME.match(stem)
        model = found["model"] if found else stem
        longest_first = sorted(self.domains, key=len, reverse=True)
        named = (d for d in longest_first if re.search(rf"(?:^|[-_]){re.escape(d)}(?:[-_]|$)", stem))
        domain = next(named, "")
        if domain:
            model = re.sub(rf"^{re.escape(domain)}-|-{re.escape(domain)}$", "", model)
        return domain, model, found["user"] if found else None

    def _domain_of(self, run: dict[str, Any], info: dict[str, Any], named: str) -> str:
        """Find the domain whose task at the run's position has the user of the embedded task, else the named one.

        A run that embeds no task in a file without a domain's name belongs to the only open domain, if there is one.
        """
        task = info.get("task")
        user = task.get("user_id") if isinstance(task, dict) else None
        if not user:
            return named or (next(iter(self.users)) if len(self.users) == 1 else "")
        matching = [domain for domain, ids in self.users.items() if ids.get(str(run.get("task_id"))) == user]
        return matching[0] if len(matching) == 1 else named
