"""CPU time of command and workers for what a cluster does: python perf/bench_workers.py [--write FILE]

Episodes of a model that a server on loopback plays, judgements by such a judge, and checks of runs. Each is done at two
sizes, and the difference counts: starting processes is in neither. perf/million_tasks.py calculates with these figures.
--write adds them to a file of perf/simulate_million.py.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from agenthard.ace.generator import Parameters
from agenthard.flows.ace_generation import SuiteFormat, write_suite
from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput, AuditSettings
from agenthard.flows.evaluation.flow import run_evaluation
from agenthard.flows.evaluation.settings import EvaluationSettings
from agenthard.flows.judging.run import run_judging
from agenthard.models.model_file import ModelFile
from tests.builders import make_run
from tests.flows.judging.made import audit, case, judging, model, panel, write_benchmark
from tests.loopback.app import KEY
from tests.loopback.fixtures import LoopbackProcess

WORKERS = 2
MODELS = 16
SIZES = 24, 424
"""Tasks, or trials of four tasks."""


class Used(NamedTuple):
    """CPU seconds."""

    command: float
    workers: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    found = dict[str, float]()
    os.environ["COMPATIBLE_API_KEY"] = KEY
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        server = LoopbackProcess(folder, {"brain": "tests.loopback.brains:ace"})
        try:
            found |= episodes(folder, server)
            server.change(brain="tests.flows.judging.made:readable")
            found |= judgements(folder, server)
        finally:
            server.stop()
        found |= runs(folder)
    if options.write:
        kept = json.loads(options.write.read_text(encoding="utf-8")) if options.write.is_file() else {}
        options.write.write_text(json.dumps({**kept, "workers": found}, indent=1) + "\n", encoding="utf-8")


def episodes(folder: Path, server: LoopbackProcess) -> dict[str, float]:
    """Measure episodes of four requests."""
    small = Parameters(rows=3, cols=3, hidden_slots=(1,), decoy_budgets=(0,), candidates=6, domains=("course", "meal"))
    write_suite(small, folder / "suite", SuiteFormat.JSONL)
    tasks = sum(1 for _ in EvaluationSettings(benchmark="ace", path=str(folder / "suite"), out="").open().tasks())
    settings = model("chat", server.url)
    price = {"model": settings["name"], "source": "assumed", **settings["price"]}
    file = ModelFile.model_validate({**settings, "price": price, "label": "loop"})
    base = {"benchmark": "ace", "path": str(folder / "suite"), "models": (file,), "workers": WORKERS}
    stored = list[int]()

    def play(trials: int) -> None:
        settings = EvaluationSettings(**base, trials=trials, out=str(folder / f"e{trials}"), scale_out=REMOTE)
        assert run_evaluation(settings).complete
        stored.append(settings.folder.store.stat().st_size)

    few, many = (size * 4 // tasks for size in SIZES)
    command, workers = compared(play, few, many)
    count = (many - few) * tasks
    found = {
        "turn_seconds": workers / count / 4,
        "request_seconds": command / count / 4,
        "turn_bytes": (stored[1] - stored[0]) / count / 4,
    }
    print(
        f"a request of an episode: {1e3 * found['turn_seconds']:.2f} ms of a worker, "
        f"{1e3 * found['request_seconds']:.2f} ms of the command, {found['turn_bytes']:,.0f} B on disk "
        f"({count} episodes of four requests)",
        flush=True,
    )
    return found


def judgements(folder: Path, server: LoopbackProcess) -> dict[str, float]:
    """Measure judgements of small tasks."""
    audited = audit(write_benchmark(folder / "library", SIZES[1]), folder / "run")
    content = panel([{"model": model("chat", server.url)}])

    def ask(tasks: int) -> None:
        run_judging(judging(audited, folder / f"j{tasks}", content, sample=tasks, workers=WORKERS, scale_out=REMOTE))

    command, workers = compared(ask, *SIZES)
    count = SIZES[1] - SIZES[0]
    print(
        f"a judgement: {1e3 * workers / count:.1f} ms of a worker, {1e3 * command / count:.1f} ms of the command with "
        f"its report ({count} judgements)",
        flush=True,
    )
    return {"prompt_seconds": workers / count, "judgement_seconds": command / count}


def runs(folder: Path) -> dict[str, float]:
    """Measure checks of runs."""
    (folder / "audited").mkdir()
    tasks = [case(number) for number in range(400)]
    lines = [task.model_dump_json(exclude={"origins"}) for task in tasks]
    (folder / "audited" / "tasks.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    made = [make_run(t.id, f"m{m}", passed=(n + m) % 3 != 0) for n, t in enumerate(tasks) for m in range(MODELS)]
    (folder / "runs.jsonl").write_text("".join(run.model_dump_json() + "\n" for run in made), encoding="utf-8")

    def check(models: int) -> None:
        given: dict[str, Any] = {"runs": (str(folder / "runs.jsonl"),)} if models else {}
        out = str(folder / f"a{models}")
        settings = AuditSettings(source="native", path=str(folder / "audited"), out=out, workers=1, **given)
        run_audit(AuditInput(settings))

    command, workers = compared(check, 0, MODELS)
    each = (command + workers) / len(made)
    print(f"a run: {1e3 * each:.2f} ms with its report ({len(made):,} runs)", flush=True)
    return {"run_check_seconds": each}


REMOTE = {"runner": "prefect"}
"""Workers are processes of this machine, whose CPU time this process is told when they end."""


def compared(work: Callable[[int], None], few: int, many: int) -> Used:
    """Do some work at two sizes, and return what the larger one takes more."""
    (first, small), (second, large) = measured(work, few), measured(work, many)
    return Used(second - first, large - small)


def measured(work: Callable[[int], None], size: int) -> tuple[float, float]:
    """Return the CPU seconds of this process and of those that ended."""
    own, others = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    work(size)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    children = after.ru_utime + after.ru_stime - others.ru_utime - others.ru_stime
    return time.process_time() - own, children


if __name__ == "__main__":
    sys.exit(main())
