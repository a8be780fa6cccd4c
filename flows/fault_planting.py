"""Where sound tasks come from: generated and proved, made for the demo, or audited and found clean."""

from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from agenthard.audit.faults import Sound, operators, plant, sound_tasks, with_runs, write_planted
from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.registry import open_source
from agenthard.flows.errors import CommandError
from agenthard.flows.generators import find_generator

if TYPE_CHECKING:
    from agenthard.taxonomy.task import AgentTask
    from agenthard.taxonomy.trajectory import Trajectory

GENERATED = (
    "generated ACE-Bench instances, each proved to have one solution, and the tasks of the demo as they were written, "
    "with errands made from its tables; the audit has no say in what counts as sound"
)
_ROOM = 1.5
"""Tasks drawn from a benchmark for each sound one wanted: the audit leaves some out."""
_GENERATOR = "ace"
"""The benchmark that sound tasks are generated of, unless one is named."""


def plant_faults(
    source: str | None, path: Path | None, out: Path, seed: int, per_category: int, sound: int, only: str = "*"
) -> dict[str, Any]:
    """Plant flaws into sound tasks and write the benchmark, its answer key and the manifest.

    Args:
        source: name of a source; None takes generated tasks.
        path: its folder.
        out: folder to write into.
        seed: seed of all chance.
        per_category: flaws per category.
        sound: tasks that are to stay untouched, at least, where there are as many.
        only: pattern of the operators to plant, such as ``room-*``.

    Returns:
        The manifest.

    Raises:
        CommandError: no task is sound, or no operator has such a name.
    """
    chosen = [each for each in operators() if fnmatchcase(each.id, only)]
    if not chosen:
        raise CommandError(f"no operator is named {only!r}; `agenthard faults operators` lists them")
    wanted = sound + per_category * len({each.category for each in chosen})
    if source is None or path is None:
        pool, origin = generated(wanted, seed), GENERATED
    else:
        pool, origin = audited(source, path, wanted, seed), f"{source}: the audit finds nothing, the ground truth runs"
    if not pool:
        raise CommandError(f"{path}: no task of {source} is sound, so there is nothing to plant flaws into")
    return write_planted(plant(pool, chosen, seed, per_category), out, seed, origin)


def audit_planted(out: Path) -> Path:
    """Audit the planted benchmark with its runs and with experimental checks, on all cores; return the run folder."""
    from agenthard.audit.faults import BENCHMARK
    from agenthard.audit.sources.formats.native_files import RUNS
    from agenthard.flows.audit_flow import run_audit
    from agenthard.flows.audit_plan import AuditInput, AuditSettings
    from agenthard.taxonomy.system import cpu_count

    benchmark, run = out / BENCHMARK, out / "run"
    runs = benchmark / RUNS
    settings = AuditSettings(
        source="native",
        path=str(benchmark),
        runs=(str(runs),) if runs.is_file() else (),
        out=str(run),
        workers=cpu_count(),
        experimental=True,
    )
    run_audit(AuditInput(settings))
    return run


def generated(count: int, seed: int) -> list[Sound]:
    """Return at least ``count`` sound tasks: small instances of all domains of ACE-Bench, and the demo's.

    The demo's have runs, and so have some of the instances, spread evenly over all of them.
    """
    from tempfile import TemporaryDirectory

    from agenthard.flows.demo import write_sound_demo

    tasks, played = list["AgentTask"](), list["Trajectory"]()
    for task, runs in islice(find_generator(_GENERATOR).sound(count, seed), count):
        tasks.append(task)
        played += runs
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write_sound_demo(root)
        desk = open_source("native", root)
        quarantine = Quarantine()
        tasks += desk.tasks(quarantine)
        return with_runs(tasks, [*played, *desk.runs(root, quarantine)])


def audited(source: str, path: Path, count: int, seed: int) -> list[Sound]:
    """Draw tasks of a benchmark at random and keep those in which nothing is found."""
    tasks: list[AgentTask] = list(open_source(source, path).tasks(Quarantine()))
    drawn = Random(f"{seed}/drawn").sample(range(len(tasks)), min(len(tasks), round(_ROOM * count)))
    return with_runs(sound_tasks([tasks[index] for index in sorted(drawn)])[:count], ())
