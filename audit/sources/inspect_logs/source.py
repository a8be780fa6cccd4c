"""The source: Inspect's logs as tasks and runs."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.sources.base import NotRead, Quarantine, Source, SourceError, Version, hash_files
from agenthard.audit.sources.formats.native_files import RUNS, read_native_runs
from agenthard.audit.sources.inspect_logs.log_files import Logged, log_files, read_logs, require_inspect, unread_logs
from agenthard.audit.sources.inspect_logs.runs import build_run
from agenthard.audit.sources.inspect_logs.tasks import Environments, build_task
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class InspectLogs(Source):
    """Reader of ``.eval`` logs. A domain is the name of an evaluation (Inspect's task).

    The same sample in several logs (models, epochs) is one task; each is a run of it.
    """

    name = "inspect"
    title = "Inspect logs"
    layout = "an .eval file, or a folder with some (at most two folders down)"

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a log, or a folder of logs.

        Raises:
            SourceError: when there is none, Inspect is not installed, or a domain is unknown.
        """
        super().__init__(root, domains)
        if not log_files(root):
            raise SourceError(
                f"{root}: no Inspect log here; looked for {self.layout}. Logs in JSON: `inspect log convert --to eval`"
            )
        require_inspect()
        if domains:
            known = sorted({logged.log.eval.task for logged in read_logs(root, Quarantine(), "task")})
            unknown = sorted(set(domains) - set(known))
            if unknown:
                raise SourceError(f"{root}: unknown domain: {', '.join(unknown)}; there are: {', '.join(known)}")

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether there is a log at the path."""
        return bool(log_files(root))

    def version(self) -> Version:
        """Identify the logs by their content."""
        return hash_files(self.root.parent if self.root.is_file() else self.root, log_files(self.root), "Inspect logs")

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks; a sample that differs from that of an earlier log is quarantined."""
        environments = Environments()
        seen: dict[str, tuple[str, tuple[str, str]]] = {}
        for logged in read_logs(self.root, quarantine, "task"):
            if self.domains and logged.log.eval.task not in self.domains:
                continue
            if logged.task_id not in seen:
                seen[logged.task_id] = logged.file, _asked(logged)
                try:
                    yield build_task(logged, environments)
                except (ValidationError, ValueError, RecursionError) as error:
                    reason = f"the sample is not a valid task: {str(error).splitlines()[0][:200]}; fix it"
                    self._quarantine(logged, reason, quarantine, "task")
            elif seen[logged.task_id][1] != _asked(logged):
                first = seen[logged.task_id][0]
                reason = f"input or target differ from those of the same sample in {first}, which counts"
                self._quarantine(logged, reason, quarantine, "task")

    def known_files(self) -> list[Path]:
        """Return the logs."""
        return log_files(self.root)

    def not_read(self) -> list[NotRead]:
        """Name the evaluations that the user did not choose, logs further down, and logs in JSON."""
        return [*super().not_read(), *unread_logs(self.root)]

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream the runs in the logs at a path, or native runs where logs are absent.

        Raises:
            SourceError: when there are neither.
        """
        if not log_files(path):
            if path.is_file() or (path / RUNS).is_file():
                yield from read_native_runs(path, quarantine)
                return
            raise SourceError(f"{path}: no runs here; give .eval logs, or a file of native runs")
        trials: Counter[tuple[str, str, str]] = Counter()
        for logged in read_logs(path, quarantine, "run"):
            if self.domains and logged.log.eval.task not in self.domains:
                continue
            if self._questions.get(logged.task_id, _asked(logged)) != _asked(logged):
                reason = "input or target differ from those of the task that is audited, so it is a run of another task"
                self._quarantine(logged, reason, quarantine, "run")
                continue
            spec = logged.log.eval
            key = (logged.task_id, spec.model, spec.solver or "")
            try:
                yield build_run(logged, trials[key])
            except (ValidationError, ValueError, RecursionError) as error:
                reason = f"the sample is not a valid run: {str(error).splitlines()[0][:200]}; fix it"
                self._quarantine(logged, reason, quarantine, "run")
            else:
                trials[key] += 1

    @cached_property
    def _questions(self) -> dict[str, tuple[str, str]]:
        found: dict[str, tuple[str, str]] = {}
        for logged in read_logs(self.root, Quarantine(), "task"):
            found.setdefault(logged.task_id, _asked(logged))
        return found

    @staticmethod
    def _quarantine(logged: Logged, reason: str, quarantine: Quarantine, kind: str) -> None:
        place = logged.origin()
        quarantine.add(place.file, reason, pointer=place.pointer, kind=kind, task_id=logged.task_id)

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write each log with the samples of the tasks in ``keep``; a log without any is left out.

        Inspect writes the samples again: every value is kept, the bytes of the archive are not.

        Raises:
            SourceError: when an id is unknown.
        """
        unknown = [task_id for task_id in keep if task_id not in self._questions]
        if unknown:
            raise SourceError(f"no such task in {self.root}: {', '.join(unknown[:5])}")
        folder = self.root.parent if self.root.is_file() else self.root
        targets = [(path, out / path.relative_to(folder)) for path in log_files(self.root)]
        return [target for path, target in targets if write_log(path, frozenset(keep), target)]


def _asked(logged: Logged) -> tuple[str, str]:
    """What a sample asks and what it expects, to compare; message ids differ from run to run and are left out."""
    given = logged.sample.input
    texts = given if isinstance(given, str) else repr([(message.role, message.text) for message in given])
    return texts, repr(logged.sample.target)


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
