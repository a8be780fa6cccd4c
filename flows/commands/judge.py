"""``agenthard judge``: models judge the tasks of an audit, at once or through files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.commands.output import JsonOption, console, error_console, print_json, print_table

if TYPE_CHECKING:
    from flows.judging.publishing import JudgingOutcome
    from flows.judging.settings import JudgingSettings

app = typer.Typer(
    name="judge", help="Model judges: verdicts on tasks whose every quote code finds again.", no_args_is_help=True
)

_SHOWN = 10
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


@app.command("run")
def run(
    run: RunArgument,
    judges: JudgesOption,
    out: OutOption = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    retry: Annotated[bool, typer.Option("--retry", help="Ask again what ended in an error.")] = False,
    in_flight: Annotated[int, typer.Option(min=1, help="Questions that are asked at the same time.")] = 64,
    workers: WorkersOption = None,
    budget: Annotated[float | None, typer.Option(min=0, help="Most that models may cost.")] = None,
    token_budget: Annotated[int | None, typer.Option(min=1, help="Most tokens that models may use.")] = None,
    prices: Annotated[Path | None, typer.Option(help="Price table (YAML) that goes before ours.")] = None,
    cache: Annotated[Path | None, typer.Option(help="File of cached replies; default: in the folder.")] = None,
    benchmark: BenchmarkOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what it would take and cost.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Judge the tasks of an audit and conclude anew: every question once, resumable, within a budget, on the books.

    Exit codes: 0 every question has a verdict, 2 some ended in an error or were not asked, 3 infrastructure (nothing
    more could be asked; what is answered was kept).

    Example: `agenthard judge run demo-run/demo --judges docs/examples/judges.yaml --dry-run`
    """
    from flows.errors import CommandError

    settings = _settings(
        run,
        judges,
        out,
        benchmark,
        workers,
        tasks=tuple(task or ()),
        sample=sample,
        runs=runs,
        retry=retry,
        in_flight=in_flight,
        budget=budget,
        token_budget=token_budget,
        prices=str(prices) if prices else None,
        cache=str(cache) if cache else None,
    )
    settings.price_table()
    if dry_run:
        _show_forecast(settings, as_json)
        return
    from flows.judging.judging import run_judging
    from flows.progress import show_progress
    from models.providers.destination import Destination

    for file in settings.models:
        Destination.of(file)
    try:
        with show_progress(error_console()):
            outcome = run_judging(settings)
    except KeyboardInterrupt:
        raise CommandError("interrupted; what is answered is kept: the same command goes on from there") from None
    if as_json:
        print_json(outcome)
    else:
        _show(outcome)
    if outcome.stopped:
        raise CommandError(outcome.stopped)
    _exit(outcome.complete)


@app.command("prompt")
def prompt(
    run: RunArgument,
    task: Annotated[str, typer.Argument(help="Id of the task.")],
    judges: Annotated[
        Path | None, typer.Option(help="Judge file (YAML); default: one judge with its defaults.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Judge of that file; default: the first.")] = None,
    runs: RunsOption = 0,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the whole prompt that a judge gets for a task.

    Example: `agenthard judge prompt demo-run/demo library/27`
    """
    from flows.judging.prompting import task_prompt

    found = task_prompt(run, task, judges, judge, runs, benchmark)
    if as_json:
        print_json(found)
        return
    for message in found.request.messages:
        typer.echo(f"[{message.role}]\n{message.text}\n")
    error_console().print(found.sentence, markup=False)


@app.command("export")
def export(
    run: RunArgument,
    judges: JudgesOption,
    requests: Annotated[Path, typer.Option("--out", help="File to write (JSON Lines).")] = Path("requests.jsonl"),
    form: Annotated[
        str, typer.Option("--format", help="agenthard (everything), openai-batch or gemini-batch (one model each).")
    ] = "agenthard",
    judge: Annotated[str | None, typer.Option(help="Only this judge of the file.")] = None,
    judged: Annotated[
        Path | None, typer.Option(help="Folder with answers already: only what is left is written.")
    ] = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    retry: Annotated[bool, typer.Option("--retry", help="Also what ended in an error there.")] = False,
    workers: WorkersOption = None,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the exact requests of a judging as a file, to be answered elsewhere. No key is needed, nothing is sent.

    Exit codes: 0 done, 2 for some questions no request can be written.

    Example: `agenthard judge export demo-run/demo --judges docs/examples/judges.yaml --out requests.jsonl`
    """
    from typing import get_args

    from flows.errors import CommandError
    from flows.judging.exporting import ExportFormat, export_requests

    if form not in get_args(ExportFormat):
        raise CommandError(f"--format {form}: choose among {', '.join(get_args(ExportFormat))}")
    settings = _settings(
        run, judges, judged, benchmark, workers, tasks=tuple(task or ()), sample=sample, runs=runs, retry=retry
    )
    with error_console().status("writing requests"):
        outcome = export_requests(settings, requests, form, judge)  # type: ignore[arg-type]
    if as_json:
        print_json(outcome)
    else:
        by_judge = ", ".join(f"{name} {count:,}" for name, count in outcome.requests.items())
        typer.echo(f"{outcome.tasks:,} tasks; requests: {by_judge or 'none'}; answered already: {outcome.answered:,}")
        typer.echo(
            f"prompts: about {outcome.prompt_tokens:,} tokens, the longest at most {outcome.longest_prompt:,}; "
            f"{outcome.shortened:,} leave something out and say so"
        )
        for name in outcome.investigators:
            typer.echo(f"not exported: {name} looks things up as it goes, which one request cannot; use `judge run`")
        for question, reason in list(outcome.errors.items())[:_SHOWN]:
            typer.echo(f"no request for {question}: {reason}")
        typer.echo(f"\nrequests {outcome.file}\nthen     agenthard judge import {run} ANSWERS --judges {judges}")
    _exit(not outcome.errors)


@app.command("import")
def import_(
    run: RunArgument,
    answers: Annotated[Path, typer.Argument(help="Answers (JSON Lines): ours, or OpenAI's or Gemini's batch output.")],
    judges: JudgesOption,
    out: OutOption = None,
    task: TaskOption = None,
    sample: SampleOption = None,
    runs: RunsOption = 0,
    retry: Annotated[bool, typer.Option("--retry", help="Also read answers to what ended in an error.")] = False,
    workers: WorkersOption = None,
    benchmark: BenchmarkOption = None,
    as_json: JsonOption = False,
) -> None:
    """Read answers to exported requests with the checks of `judge run`, and conclude anew. No key is needed.

    Exit codes: 0 every question has a verdict and every line was used, 2 otherwise.

    Example: `agenthard judge import demo-run/demo answers.jsonl --judges docs/examples/judges.yaml --out judged`
    """
    from flows.judging.judging import import_answers
    from flows.progress import show_progress

    settings = _settings(
        run, judges, out, benchmark, workers, tasks=tuple(task or ()), sample=sample, runs=runs, retry=retry
    )
    with show_progress(error_console()):
        outcome = import_answers(settings, answers)
    if as_json:
        print_json(outcome)
    else:
        _show(outcome.judging)
        if outcome.unused:
            typer.echo(f"\n{len(outcome.unused):,} lines of {answers} answer no question:")
        for line, reason in outcome.unused[:_SHOWN]:
            typer.echo(f"  line {line}: {reason}")
    _exit(outcome.judging.complete and not outcome.unused)


def _settings(
    run: Path, judges: Path, out: Path | None, benchmark: Path | None, workers: int | None, **options: Any
) -> "JudgingSettings":
    import os

    from audit.judge.settings import JudgeSettingsError, load_settings
    from flows.errors import CommandError
    from flows.judging.settings import JudgingSettings

    try:
        panel = load_settings(judges)
    except JudgeSettingsError as error:
        raise CommandError(str(error)) from error
    return JudgingSettings(
        run=str(run),
        judges=panel,
        out=str(out or run.with_name(f"{run.name}-judged")),
        benchmark=str(benchmark) if benchmark else None,
        workers=max(1, len(os.sched_getaffinity(0)) - 1) if workers is None else workers,
        **options,
    )


def _exit(complete: bool) -> None:
    from flows.errors import ExitCode

    if not complete:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _show_forecast(settings: "JudgingSettings", as_json: bool) -> None:
    from flows.judging.forecast import forecast
    from models.estimate import Spread

    with error_console().status("writing prompts"):
        found = forecast(settings)
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return

    def spread(value: Spread, digits: int = 0) -> str:
        return " – ".join(f"{each:,.{digits}f}" for each in (value.low, value.typical, value.high))

    rows = []
    for each in found:
        cells = ["", "", "", ""]
        if each.takes is not None:
            cost = "no price" if each.takes.cost is None else spread(each.takes.cost, 2)
            tokens = (spread(each.takes.prompt_tokens), spread(each.takes.completion_tokens))
            cells = [spread(each.takes.requests), *tokens, cost]
        rows.append((each.judge, f"{each.questions:,} ({each.cached:,} cached)", *cells))
    columns = ("judge", "questions", "requests", "prompt tokens", "completion tokens")
    print_table("", (*columns, f"cost, {settings.price_table().currency}"), rows)
    console().print("\nlow – typical – high; nothing was sent", markup=False)


def _show(outcome: "JudgingOutcome") -> None:
    """Print what a reader needs in thirty seconds."""
    out = console()
    words = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in outcome.panels.items())
    out.print(f"{outcome.tasks:,} tasks: {words}")
    errors = ", ".join(f"{kind} {count:,}" for kind, count in outcome.errors.items())
    out.print(
        f"verdicts: {outcome.answered:,} of {outcome.questions:,} questions; errors: {errors or 'none'}; "
        f"not asked: {outcome.not_asked:,}"
    )
    tiers = ", ".join(f"{count:,} {tier}" for tier, count in outcome.findings.items())
    decisions = outcome.audit.decisions
    out.print(f"findings of the judges: {tiers}")
    out.print(
        f"decisions with them: keep {decisions['keep']:,}, review {decisions['review']:,}, drop {decisions['drop']:,} "
        f"of {outcome.audit.tasks:,}; cleaned split {outcome.audit.split_id} with {outcome.audit.kept:,} tasks"
    )
    for total in outcome.costs:
        cost = "no price" if total.cost is None else f"{total.cost:.4f}"
        out.print(
            f"{total.model}: {total.answered:,} replies, {total.prompt_tokens:,} + {total.completion_tokens:,} tokens, "
            f"cost {cost}; {total.cached:,} from the cache, {total.failed:,} failed, "
            f"{total.maybe_billed + total.unknown:,} unknown",
            markup=False,
        )
    folder = Path(outcome.audit.folder)
    out.print(f"\nreport   {outcome.audit.report}\nverdicts {folder / 'judge'}", markup=False)
