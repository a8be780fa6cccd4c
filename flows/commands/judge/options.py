"""What the commands of ``agenthard judge`` have in common: options, settings and exit code."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from agenthard.flows.judging.settings import JudgingSettings

SHOWN = 10
"""Lines of one kind that are printed."""

RunArgument = Annotated[Path, typer.Argument(help="Run folder of a finished audit.")]
JudgesOption = Annotated[Path, typer.Option(help="Judge file (YAML): the panel and its rules.")]
OutOption = Annotated[Path | None, typer.Option(help="Folder to write; default: RUN-judged. The same command goes on.")]
TaskOption = Annotated[list[str] | None, typer.Option(help="Judge only this task; repeatable.")]
SampleOption = Annotated[int | None, typer.Option(min=1, help="Judge so many tasks, drawn with the judge file's seed.")]
RunsOption = Annotated[int, typer.Option(min=0, help="Runs of each task to show: failed and passed ones in turn.")]
BenchmarkOption = Annotated[Path | None, typer.Option(help="Folder of the benchmark; default: where it was audited.")]
WorkersOption = Annotated[
    int | None, typer.Option(min=0, help="Processes that write prompts; default: cores less one.")
]


def judging_settings(
    run: Path, judges: Path, out: Path | None, benchmark: Path | None, workers: int | None, **options: Any
) -> "JudgingSettings":
    """Put the settings of a judging together.

    Raises:
        CommandError: The judge file cannot be used.
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
        benchmark=str(benchmark) if benchmark else None,
        workers=max(1, cpu_count() - 1) if workers is None else workers,
        **options,
    )


def leave(complete: bool) -> None:
    """Exit with 2 where something is left to do."""
    from agenthard.flows.errors import ExitCode

    if not complete:
        raise typer.Exit(ExitCode.INCOMPLETE)
