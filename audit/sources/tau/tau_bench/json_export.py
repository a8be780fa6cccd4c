"""τ-bench as JSON: one folder per domain with ``tasks.json``, ``tools.json``, ``policy.json`` and ``db.json``."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.formats.json_records import copy_elements, read_json_array
from agenthard.audit.sources.tau.records import UnreadableDomainError
from agenthard.audit.sources.tau.tau_bench.layout import SPLITS, Domain, Layout, NativeTask, effect_of, split_domain
from agenthard.audit.sources.tau.tool_files import load_json, read_tools
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import EnvironmentSpec

TOOLS, POLICY, STATE, WIKI = "tools.json", "policy.json", "db.json", "wiki.md"


class JsonExport(Layout):
    """Reader of the JSON layout."""

    def domains(self) -> list[str]:
        """Name the folders with tasks and a policy as JSON, and their further splits."""
        folders = sorted(path.parent for path in self.root.glob("*/tasks.json") if (path.parent / POLICY).is_file())
        found = []
        for folder in folders:
            found.append(folder.name)
            found += [f"{folder.name}-{split}" for split in SPLITS if (folder / f"tasks_{split}.json").is_file()]
        return found

    def tasks(self, domain: str, quarantine: Quarantine) -> Iterator[NativeTask]:
        """Stream the elements of the list of tasks."""
        path = self.files(domain)[0]
        name = self.name(path)
        for record in read_json_array(path, name, quarantine):
            yield NativeTask(record.index, record.line, record.value, partial(_place, name, record.index))

    def count(self, domain: str) -> int:
        """Count the elements of the array."""
        return sum(1 for _ in read_json_array(self.files(domain)[0], "", Quarantine()))

    def environment(self, domain: str) -> Domain:
        """Read the JSON files next to the tasks; ``policy.json`` holds the policy text as its ``wiki.md``."""
        folder = self.files(domain)[0].parent
        tools, policy, state = (folder / name for name in (TOOLS, POLICY, STATE))
        value = load_json(policy, self.name(policy))
        text = value.get(WIKI) if isinstance(value, dict) else None
        if not isinstance(text, str):
            raise UnreadableDomainError(self.name(policy), f"expected an object that holds the policy text as {WIKI!r}")
        origins = {"/environment/policy": Origin(file=self.name(policy), pointer=join("", WIKI))}
        has_state = state.is_file()
        if has_state:
            origins["/environment/state"] = Origin(file=self.name(state))
        environment = EnvironmentSpec(
            tools=read_tools(tools, self.name(tools), lambda tool: effect_of(domain, tool.function.name)),
            policy=text,
            state=load_json(state, self.name(state)) if has_state else None,
            state_name=self.name(state) if has_state else None,
        )
        return Domain(environment, origins)

    def files(self, domain: str) -> list[Path]:
        """List the four files of a domain, as far as they exist."""
        name, split = split_domain(domain)
        folder = self.root / name
        tasks = folder / ("tasks.json" if split == "test" else f"tasks_{split}.json")
        return [tasks, *(folder / other for other in (TOOLS, POLICY, STATE) if (folder / other).is_file())]

    def write_tasks(self, domain: str, keep: set[int], target: Path) -> None:
        """Write the kept elements of the array."""
        copy_elements(self.files(domain)[0], target, keep)


def _place(file: str, index: int, pointer: str) -> Origin:
    return Origin(file=file, pointer=f"/{index}{pointer}")
