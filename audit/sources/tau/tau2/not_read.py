"""What looks like tasks in a checkout of τ²-bench and is not read, with the reason; and which files are known."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import NotRead, Quarantine
from agenthard.audit.sources.formats.json_records import read_json_array
from agenthard.audit.sources.tau.records import UnreadableDomainError
from agenthard.audit.sources.tau.tau2.checkout import SPLITS, VARIANTS, Checkout
from agenthard.audit.sources.tau.tool_files import load_json

RESULTS = (("data", "tau2", "results"), ("data", "simulations"), ("data", "tau2", "simulations"))
"""Where a checkout keeps runs; their files embed the tasks that were run."""


def known_files(checkout: Checkout) -> Iterator[Path]:
    """Yield the files and folders whose purpose is known: those of the readable domains, and runs."""
    for domain in checkout.domains:
        yield from checkout.files(domain)
        yield checkout.data / domain / SPLITS
    yield from (checkout.base.joinpath(*parts) for parts in RESULTS)


def left_out(checkout: Checkout, read: Sequence[str], *, chosen: bool) -> tuple[NotRead, ...]:
    """List what is not read.

    Args:
        checkout: the checkout.
        read: names of the domains that are read.
        chosen: whether the user named them; the other domains are then left out by the user.
    """
    found: list[NotRead] = []
    for folder in sorted(path for path in checkout.data.iterdir() if path.is_dir()):
        found += (
            _outside_default_split(checkout, folder) if folder.name in read else _whole(checkout, folder, chosen=chosen)
        )
    if not chosen:
        variants = ((name, base, file) for name, (base, file) in VARIANTS.items() if base in read)
        found += [
            NotRead(
                file=checkout.name(checkout.data / base / file),
                tasks=0,
                reason=f"the tasks of {base} again, with this half of the policy: --domain {name} reads them",
                left_out=True,
            )
            for name, base, file in variants
            if (checkout.data / base / file).is_file() and name not in read
        ]
    return tuple(found)


def _whole(checkout: Checkout, folder: Path, *, chosen: bool) -> Iterator[NotRead]:
    """Name a domain that is not read at all."""
    name, readable = checkout.name(folder), folder.name in checkout.domains
    tasks = [file for file in checkout.task_files(folder.name) if file.is_file()]
    if tasks:
        count = sum(_count(file) for file in tasks)
        if not readable:
            reason = "without a policy: neither policy.md, main_policy.md and tech_support_manual.md, nor prompts/"
        elif chosen:
            reason = f"left out by --domain; --domain {folder.name} reads it"
        else:
            reason = f"not among the domains run by default; --domain {folder.name} reads it"
        yield NotRead(file=name, tasks=count, reason=reason, left_out=readable or chosen)
    elif any((folder / file).is_file() for file in ("policy.md", "main_policy.md", "db.json", "db.toml")):
        there = ", ".join(sorted(path.name for path in folder.iterdir()))
        reason = f"a domain without tasks: there is {there}, and neither tasks.json nor tasks/task_*.json"
        reason = f"{reason}; fetch the checkout again if it should have tasks"
        yield NotRead(file=name, tasks=0, reason=reason, left_out=chosen)


def _outside_default_split(checkout: Checkout, folder: Path) -> Iterator[NotRead]:
    """Name the tasks of a domain that is read which are not in its default split, and further files of tasks."""
    read = checkout.task_files(folder.name)
    for file in read:
        try:
            split = checkout.default_split(folder.name)
        except UnreadableDomainError:
            continue
        if split is not None:
            others = sum(str(task.get("id")) not in split for task in _tasks(file))
            if others:
                reason = "not in the split 'base', which the benchmark runs by default"
                yield NotRead(file=checkout.name(file), tasks=others, reason=reason, left_out=True)
    known = {str(task.get("id")): task for file in read for task in _tasks(file)}
    for file in sorted({*folder.glob("tasks*.json"), *folder.glob("tasks/*.json")} - set(read)):
        tasks = _tasks(file)
        if not tasks:
            reason = "holds no tasks, but settings for tasks by their id, such as those of the voice mode"
            yield NotRead(file=checkout.name(file), tasks=0, reason=reason, left_out=True)
            continue
        new = sum(str(task.get("id")) not in known for task in tasks)
        changed = sum(known.get(str(task.get("id")), task) != task for task in tasks)
        source = f"{folder.name}/tasks/" if len(read) > 1 else read[0].name
        reason = f"the benchmark runs those of {source}; {changed} of these differ from them, {new} are only here"
        yield NotRead(file=checkout.name(file), tasks=len(tasks), reason=reason, left_out=True)


def _count(file: Path) -> int:
    return len(_tasks(file))


def _tasks(file: Path) -> list[dict[str, Any]]:
    """Return the tasks of a file: of a list of them, or the one that it is."""
    if file.name.startswith("task_"):
        try:
            value = load_json(file, file.name)
        except UnreadableDomainError:
            return []
        return [value] if isinstance(value, dict) and "id" in value else []
    return [record.value for record in read_json_array(file, file.name, Quarantine()) if "id" in record.value]
