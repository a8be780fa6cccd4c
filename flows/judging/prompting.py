"""The whole prompt of one task (``agenthard judge prompt``)."""

from pathlib import Path

from agenthard.audit.judge.settings import Judge, JudgeSettings, JudgeSettingsError, load_settings
from agenthard.flows.errors import CommandError
from agenthard.flows.judging.prompts import Workbench
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.models.model_file import ModelFile
from agenthard.models.request import Request
from agenthard.models.tokens import most_prompt_tokens, prompt_tokens
from agenthard.taxonomy.record import Record


class TaskPrompt(Record):
    """What a judge would be asked about a task."""

    request: Request
    """The request as it would be sent."""
    version: str
    """Version of the prompt."""
    sentence: str
    """What it is, in a sentence: version, length, what is left out."""


def task_prompt(
    run: Path, task_id: str, judges: Path | None, judge: str | None, runs: int, benchmark: Path | None
) -> TaskPrompt:
    """Write the prompt of a task.

    Args:
        run: Run folder of a finished audit.
        task_id: The task.
        judges: Judge file; None = one judge with its defaults.
        judge: Judge of that file; None = the first.
        runs: Runs of the task to show.
        benchmark: Folder of the benchmark; None = where it was audited.

    Raises:
        CommandError: There is no such audit, task or judge, or the prompt does not fit the judge.
    """
    panel = _panel(judges)
    names = [each.name for each in panel.judges]
    if judge is not None and judge not in names:
        raise CommandError(f"there is no judge {judge!r}; the judge file has {', '.join(names)}")
    settings = JudgingSettings(
        run=str(run), judges=panel, out=str(run), benchmark=str(benchmark) if benchmark else None, runs=runs
    )
    ready = Workbench(settings).prepare(task_id)[judge or names[0]]
    if ready.too_long:
        raise CommandError(ready.too_long)
    request = ready.request
    left_out = ready.material.omitted
    omitted = f"{len(left_out)} things are left out, and the prompt says so" if left_out else "nothing is left out"
    sentence = (
        f"version {ready.version}: about {prompt_tokens(request):,} tokens, at most {most_prompt_tokens(request):,}, "
        f"{len(ready.categories)} categories; {omitted}"
    )
    return TaskPrompt(request=request, version=ready.version, sentence=sentence)


def _panel(judges: Path | None) -> JudgeSettings:
    if judges is None:
        return JudgeSettings(judges=(Judge(name="judge", model=ModelFile(name="openai/any")),))
    try:
        return load_settings(judges)
    except JudgeSettingsError as error:
        raise CommandError(str(error)) from error
