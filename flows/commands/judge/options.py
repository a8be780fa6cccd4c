"""Shared code of the commands of ``agenthard judge``: options, settings and exit code."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.model_options import optional_path

if TYPE_CHECKING:
    from agenthard.flows.judging.settings import JudgingSettings

MAX_SHOWN = 10
"""Lines of one kind that are printed."""

RunArgument = Annotated[Path, typer.Argument(help="Run folder of a finished audit.")]
JudgesOption = Annotated[Path, typer.Option(help="Judge file (YAML): the panel and its rules.")]
OutOption = Annotated[
    Path | None, typer.Option(help="Folder to write; default: RUN-judged. The same command resumes it.")
]
TaskOption = Annotated[list[str] | None, typer.Option(help="Judge only this task; repeatable.")]
SampleOption = Annotated[
    int | None, typer.Option(min=1, help="Judge this many tasks, drawn with the seed of the judge file.")
]
RunsOption = Annotated[
    int, typer.Option(min=0, help="Runs of each task to show to the judges: failed and passed ones alternate.")
]
RetryOption = Annotated[bool, typer.Option("--retry", help="Include questions that ended in an error.")]
BenchmarkOption = Annotated[
    Path | None, typer.Option(help="Folder of the benchmark; default: the folder that was audited.")
]
WorkersOption = Annotated[
    int | None, typer.Option(min=0, help="Processes that write prompts; default: one less than there are cores.")
]


def judging_settings(
    run: Path,
    judges: Path,
    out: Path | None,
    task: Sequence[str] | None,
    *,
    workers: int | None,
    benchmark: Path | None,
    prices: Path | None = None,
    cache: Path | None = None,
    **options: Any,
) -> "JudgingSettings":
    """Build the settings of a judging from the options of a command; `options` are fields of the settings.

    Raises:
        CommandError: The judge file is not valid.
    """
    from agenthard.audit.judge.settings import JudgeSettingsError, load_settings
    from agenthard.flows.errors import CommandError
    from agenthard.flows.judging.settings import JudgingSettings
    from agenthard.taxonomy.system import cpu_count

    try:
        panel = load_settings(judges)
    except JudgeSettingsError as error:
        raise CommandError(str(error)) from error
    return JudgingSettings(
        run=str(run),
        judges=panel,
        out=str(out or run.with_name(f"{run.name}-judged")),
        tasks=tuple(task or ()),
        workers=max(1, cpu_count() - 1) if workers is None else workers,
        benchmark=optional_path(benchmark),
        prices=optional_path(prices),
        cache=optional_path(cache),
        **options,
    )


def exit_incomplete(complete: bool) -> None:
    """Exit with code 2 unless everything is complete."""
    from agenthard.flows.errors import ExitCode

    if not complete:
        raise typer.Exit(ExitCode.INCOMPLETE)
