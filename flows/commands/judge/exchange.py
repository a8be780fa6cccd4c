"""``agenthard judge export`` and ``import``: requests and answers as files."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.judge.options import (
    MAX_SHOWN,
    BenchmarkOption,
    JudgesOption,
    OutOption,
    RetryOption,
    RunArgument,
    RunsOption,
    SampleOption,
    TaskOption,
    WorkersOption,
    exit_incomplete,
    judging_settings,
)
from agenthard.flows.commands.judge.show import show
from agenthard.flows.commands.output import JsonOption, error_console, print_json


def export(
    run: RunArgument,
    judges: JudgesOption,
    requests: Annotated[Path, typer.Option("--out", help="File to write (JSON Lines).")] = Path("requests.jsonl"),
    form: Annotated[
        str, typer.Option("--format", help="agenthard (everything), openai-batch or gemini-batch (one model each).")
    ] = "agenthard",
    judge: Annotated[str | None, typer.Option(help="Only this judge of the file.")] = None,
    judged: Annotated[
        Path | None, typer.Option(help="Folder with earlier answers: only open requests are written.")
    ] = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    retry: RetryOption = False,
    workers: WorkersOption = None,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the exact requests of a judging as a file, to be answered elsewhere. Needs no key, sends nothing.

    Exit codes: 0 done, 2 no request can be written for some questions.

    Example: `agenthard judge export demo-run/demo --judges docs/examples/judges.yaml --out requests.jsonl`
    """
    from typing import get_args

    from agenthard.flows.errors import CommandError
    from agenthard.flows.judging.exchange import ExportFormat, export_requests

    if form not in get_args(ExportFormat):
        raise CommandError(f"--format {form}: choose one of {', '.join(get_args(ExportFormat))}")
    settings = judging_settings(
        run, judges, judged, task, sample=sample, runs=runs, retry=retry, workers=workers, benchmark=benchmark
    )
    with error_console().status("writing requests"):
        outcome = export_requests(settings, requests, form, judge)  # type: ignore[arg-type]
    if as_json:
        print_json(outcome)
    else:
        by_judge = ", ".join(f"{name} {count:,}" for name, count in outcome.requests.items())
        typer.echo(f"{outcome.tasks:,} tasks; requests: {by_judge or 'none'}; already answered: {outcome.answered:,}")
        typer.echo(
            f"prompts: about {outcome.prompt_tokens:,} tokens, the longest at most {outcome.longest_prompt:,}; "
            f"{outcome.shortened:,} are shortened, and say so"
        )
        for name in outcome.investigators:
            typer.echo(f"not exported: {name} looks things up, which takes several requests; use `judge run`")
        for question, reason in list(outcome.errors.items())[:MAX_SHOWN]:
            typer.echo(f"no request for {question}: {reason}")
        typer.echo(f"\nrequests {outcome.file}\nthen     agenthard judge import {run} ANSWERS --judges {judges}")
    exit_incomplete(not outcome.errors)


def import_(
    run: RunArgument,
    answers: Annotated[Path, typer.Argument(help="Answers (JSON Lines): ours, or OpenAI's or Gemini's batch output.")],
    judges: JudgesOption,
    out: OutOption = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    retry: RetryOption = False,
    workers: WorkersOption = None,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read answers to exported requests, with the checks of `judge run`, and write a new report. Needs no key.

    Exit codes: 0 every question has a verdict and every line was used, 2 otherwise.

    Example: `agenthard judge import demo-run/demo answers.jsonl --judges docs/examples/judges.yaml --out judged`
    """
    from agenthard.flows.judging.run import import_answers
    from agenthard.flows.progress import show_progress

    settings = judging_settings(
        run, judges, out, task, sample=sample, runs=runs, retry=retry, workers=workers, benchmark=benchmark
    )
    with show_progress(error_console()):
        outcome = import_answers(settings, answers)
    if as_json:
        print_json(outcome)
    else:
        show(outcome.judging)
        if outcome.unused:
            typer.echo(f"\n{len(outcome.unused):,} lines of {answers} answer no question:")
        for line, reason in outcome.unused[:MAX_SHOWN]:
            typer.echo(f"  line {line}: {reason}")
    exit_incomplete(outcome.judging.complete and not outcome.unused)
