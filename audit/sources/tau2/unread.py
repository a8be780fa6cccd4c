"""Which tasks of a τ²-bench checkout are not read: domains that cannot be opened, and what is not run by default."""

from collections.abc import Collection, Iterator
from pathlib import Path

from audit.sources.base import NotRead, Quarantine
from audit.sources.reading import read_json_array
from audit.sources.records import records_of
from audit.sources.tau2.checkout import SPLITS, TASKS, Checkout
from audit.sources.tau_common.records import DomainUnreadable

TASK_FOLDER = "tasks"
"""Folder in which some domains keep each task as a file of its own, beside the list of all of them."""
RESULTS = (("data", "tau2", "results"), ("data", "simulations"), ("data", "tau2", "simulations"))
"""Where a checkout keeps runs; their files embed the tasks that were run."""


def not_read(checkout: Checkout, opened: Collection[str], chosen: Collection[str]) -> Iterator[NotRead]:
    """Name what is not read, folder by folder.

    Args:
        checkout: the files.
        opened: domains that are read.
        chosen: domains that the user named; empty when the default is read.
    """
    for folder in sorted(path for path in checkout.data.iterdir() if path.is_dir()):
        name, domain = checkout.name(folder), folder.name
        if domain not in checkout.domains:
            if _is_domain(folder):
                yield NotRead(file=name, tasks=len(_ids(folder)), reason=_missing(folder), left_out=bool(chosen))
        elif domain not in opened:
            why = f"--domain {domain} reads it"
            reason = f"left out by --domain; {why}" if chosen else f"not among the domains run by default; {why}"
            yield NotRead(file=name, tasks=len(_ids(folder)), reason=reason, left_out=True)
        else:
            beyond = _beyond_default(checkout, domain)
            if beyond:
                reason = "not in the split 'base', which the benchmark runs by default"
                file = checkout.name(checkout.tasks_file(domain))
                yield NotRead(file=file, tasks=beyond, reason=reason, left_out=True)


def known_files(checkout: Checkout) -> Iterator[Path]:
    """Yield the files and folders whose purpose is known: those of the readable domains, and runs."""
    for domain in checkout.domains:
        yield from checkout.files(domain)
        folder = checkout.tasks_file(domain).parent
        yield from (folder / TASKS, folder / SPLITS)
        yield folder / TASK_FOLDER
    yield from (checkout.base.joinpath(*parts) for parts in RESULTS)


def _is_domain(folder: Path) -> bool:
    """Whether a folder has what only domains have: tasks, or a database."""
    return any((folder / name).exists() for name in (TASKS, TASK_FOLDER, "db.json", "db.toml"))


def _missing(folder: Path) -> str:
    """Say why a domain cannot be opened."""
    has_tasks = (folder / TASKS).is_file() or (folder / TASK_FOLDER).is_dir()
    if not has_tasks:
        return f"a domain with a database but without {TASKS}; its tasks are not in this checkout"
    return "a domain in a layout that this reader does not know: no policy.md next to its tasks"


def _ids(folder: Path) -> set[str]:
    """Ids of the tasks of a domain, in its list and in its folder of files; a task kept in both counts once."""
    files = [folder / TASKS] if (folder / TASKS).is_file() else []
    single = sorted((folder / TASK_FOLDER).glob("*.json")) if (folder / TASK_FOLDER).is_dir() else []
    found = {str(record.value.get("id")) for path in files for record in read_json_array(path, "", Quarantine())}
    return found | {str(record.get("id")) for path in single for _, record in list(records_of(path))[:1]}


def _beyond_default(checkout: Checkout, domain: str) -> int:
    try:
        split = checkout.default_split(domain)
    except DomainUnreadable:
        return 0
    if split is None:
        return 0
    records = read_json_array(checkout.tasks_file(domain), "", Quarantine())
    return sum(str(record.value.get("id")) not in split for record in records)
