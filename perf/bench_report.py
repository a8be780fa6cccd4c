"""Times the whole report of 71 models × 1,700 tasks with nulls: python perf/bench_report.py [MATRIX]

MATRIX is a table of scores; without one the models are simulated. Prompts, findings and decisions are simulated: one
task in ten is dropped, one in twenty waits for a person. Exit code 1 when it takes more CPU time than the limit; on
an idle machine no more time than that passes.
"""

import os
import re
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.statistics import ScoreMatrix, read_matrix
from agenthard.reports.cleaning.analysis import analyse
from agenthard.reports.cleaning.inputs import AuditIdentity, CleaningInput, Experiment, TaskFacts
from agenthard.reports.cleaning.page import write_cleaning_page
from agenthard.reports.cleaning.tables import write_analysis
from agenthard.reports.kit.renderer import stop_renderer

LIMIT_S = 8.0
WORDS = [f"word{i}" for i in range(4000)]


def rasch(models: int, tasks: int) -> ScoreMatrix:
    rng = np.random.default_rng(0)
    logits = rng.normal(0.5, 0.8, models)[:, None] - rng.normal(0, 1.3, tasks)
    values = (rng.random((models, tasks)) < 1 / (1 + np.exp(-logits))).astype(int)
    names = [f"simple_{i}" if i % 2 else f"multiple_{i}" for i in range(tasks)]
    return ScoreMatrix.from_array(values, [f"m{i}" for i in range(models)], names)


def made_of(matrix: ScoreMatrix) -> CleaningInput:
    rng = np.random.default_rng(1)
    prompts = [" ".join(rng.choice(WORDS, 40)) for _ in matrix.tasks]
    tasks = [
        TaskFacts(id=task, category=task.rsplit("_", 1)[0], prompt=prompt)
        for task, prompt in zip(matrix.tasks, prompts, strict=True)
    ]
    actions = rng.choice(["keep", "drop", "review"], len(tasks), p=[0.85, 0.10, 0.05])
    return CleaningInput(
        title="71 × 1,700",
        tasks=tasks,
        decisions=[
            Decision(task_id=task.id, action=action, reasons=("simulated",))
            for task, action in zip(tasks, actions.tolist(), strict=True)
        ],
        findings=(),
        components={},
        ledger=(),
        checked=len(tasks),
        audit=AuditIdentity(
            agenthard="bench",
            taxonomy="",
            source="bench",
            benchmark="",
            content_hash="",
            audit_key="",
            policy="",
            checks={},
        ),
        experiments=(Experiment("", matrix, matrix, 1),),
    )


def peak_of_children() -> float:
    """Largest memory in MiB of a child that runs, since it began its program (Linux only, else 0)."""
    try:
        children = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        found = [re.search(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{child}/status").read_text()) for child in children]
    except OSError:
        return 0.0
    return max((int(each[1]) / 1024 for each in found if each), default=0.0)


def main() -> int:
    matrix = read_matrix(Path(sys.argv[1])) if len(sys.argv) > 1 else rasch(71, 1700)
    print(f"{len(matrix.models)} models × {len(matrix.tasks):,} tasks")
    found = made_of(matrix)
    start, cpu = time.perf_counter(), time.process_time()
    analysis = analyse(found)
    analysed = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        files = write_analysis(analysis, Path(folder))
        written = time.perf_counter() - start
        write_cleaning_page(analysis, Path(folder) / "report.html")
    total = time.perf_counter() - start
    peak, other = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, peak_of_children()
    stop_renderer()
    drawing = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"analysis with {analysis.provenance.draws} random deletions {analysed:6.1f} s")
    print(f"{len(files)} files of data {written - analysed:27.1f} s")
    print(f"page {total - written:42.1f} s")
    spent = time.process_time() - cpu + drawing.ru_utime + drawing.ru_stime
    print(f"total {total:41.1f} s, {spent:.1f} CPU s (limit {LIMIT_S:g})")
    print(f"peak {peak:.0f} MiB, and {other:.0f} MiB of the process that draws")
    return int(spent > LIMIT_S)


if __name__ == "__main__":
    sys.exit(main())
