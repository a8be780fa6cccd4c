"""Writing a log with some of its samples."""

from collections.abc import Collection
from pathlib import Path


def write_log(path: Path, keep: Collection[str], target: Path) -> bool:
    """Write the samples of a log whose task is kept, with their runs and without the results of all samples.

    Args:
        path: the log.
        keep: ids of tasks.
        target: file to write.

    Returns:
        Whether there was any such sample; if not, nothing is written.
    """
    from inspect_ai.log import read_eval_log, write_eval_log

    log = read_eval_log(str(path))
    samples = [sample for sample in log.samples or () if f"{log.eval.task}/{sample.id}" in keep]
    if not samples:
        return False
    kept_ids = {sample.id for sample in samples}
    ids = [sample_id for sample_id in log.eval.dataset.sample_ids or sorted(kept_ids, key=str) if sample_id in kept_ids]
    log.eval.dataset = log.eval.dataset.model_copy(update={"samples": len(ids), "sample_ids": ids})
    log.samples, log.results, log.reductions = samples, None, None
    target.parent.mkdir(parents=True, exist_ok=True)
    write_eval_log(log, str(target))
    return True
