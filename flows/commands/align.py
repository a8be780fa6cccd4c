"""``agenthard align``: label a sample, and compare an audit or a judge with the labels."""

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.align_ratings import rate, rated
from agenthard.flows.commands.options import SeedOption
from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from agenthard.reports.kit.markdown import Section

app = typer.Typer(
    name="align", help="Compare an audit or a judge with people: samples, agreement, drift.", no_args_is_help=True
)

app.command("rate")(rate)
app.command("rated")(rated)

MarkdownOption = Annotated[bool, typer.Option("--markdown", help="Print Markdown.")]
ShareOption = Annotated[float, typer.Option(min=0, max=1, help="Share of the tasks to label.")]
LeastOption = Annotated[int, typer.Option(min=1, help="Least number of tasks to label.")]


class ScoreKind(StrEnum):
    """What a stratified sample is spread over."""

    PASS_RATE = "pass-rate"
    PROBABILITY = "probability"


@app.command("sample")
def sample(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit or of a judge.")],
    out: Annotated[Path, typer.Option(help="Sheet to write, JSON Lines; its key is written next to it.")] = Path(
        "sheet.jsonl"
    ),
    share: ShareOption = 0.1,
    least: LeastOption = 30,
    by_score: Annotated[
        ScoreKind | None,
        typer.Option(
            help="Spread over a score: the models' pass rate, or the judge's probability. Default: half flagged."
        ),
    ] = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Draw tasks for people to label, half of them flagged, on a sheet that does not show any finding.

    The key next to the sheet has the weights that scale figures up to the whole benchmark. Do not show it to the
    annotators: it tells which tasks are flagged.

    Example: `agenthard align sample demo-run/demo --out sheet.jsonl`
    """
    from agenthard.flows.alignment import benchmark_of, read_answers, read_pass_rates, sheet_lines
    from agenthard.flows.errors import CommandError
    from agenthard.reports.alignment.sampling import SampleError, sample_balanced, sample_by_score, sample_size
    from agenthard.reports.alignment.summary import sample_sections
    from agenthard.taxonomy.files import write_text

    key_file = out.with_name(f"{out.stem}.key.json")
    for file in (out, key_file):
        if file.exists():
            raise CommandError(f"{file}: exists, and may hold labels; give another name with --out")
    found = read_answers(run)
    answers = found.candidates[0]
    ids = [task_id for task_id in found.task_ids if task_id in answers.by_task]
    size = sample_size(len(ids), share, least)
    try:
        if by_score is None:
            key = sample_balanced(answers, ids, size, seed)
        elif by_score is ScoreKind.PASS_RATE:
            key = sample_by_score(read_pass_rates(run), "pass rate", ids, size, seed)
        else:
            scores = {k: v.probability for k, v in answers.by_task.items() if v.probability is not None}
            key = sample_by_score(scores, "probability of a flaw", ids, size, seed)
    except SampleError as error:
        raise CommandError(f"{run}: {error}; a sample without --by-score needs neither runs nor a judge") from error
    not_asked = len(found.task_ids) - len(ids)
    key = key.model_copy(update={"benchmark": benchmark_of(run), "not_asked": not_asked})
    _write_lines(out, sheet_lines(run, [task.task_id for task in key.tasks]))
    write_text(key_file, key.model_dump_json(indent=2) + "\n")
    if as_json:
        print_json(key)
        return
    _print(sample_sections(key), markdown=False)
    typer.echo(f"sheet: {out}; key, not for annotators: {key_file}")
    typer.echo(f"then: agenthard align score {run} {out} --key {key_file}")


@app.command("score")
def score(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit or of a judge.")],
    labels: Annotated[list[Path], typer.Argument(help="Label files or filled sheets, JSON Lines.")],
    key: Annotated[Path | None, typer.Option(help="Key of the sample: weights figures up to the benchmark.")] = None,
    truth: Annotated[str, typer.Option(help="Boolean field of the labels that says what is flawed.")] = "flawed",
    categories: Annotated[
        Path | None, typer.Option(help="YAML or JSON: word of the labels → id of a category.")
    ] = None,
    also: Annotated[
        list[Path] | None, typer.Option(help="Run folder of another judge, prompt or repetition; repeatable.")
    ] = None,
    one_prompt: Annotated[Path | None, typer.Option(help="Run folder of a one-prompt judge, as a baseline.")] = None,
    previous: Annotated[Path | None, typer.Option(help="Earlier run folder, as a baseline.")] = None,
    prevalence: Annotated[float, typer.Option(help="Share of flawed tasks that precision is adjusted to.")] = 0.1,
    second_look: Annotated[
        Path | None, typer.Option(help="Write the tasks on which flags and labels differ to this sheet.")
    ] = None,
    resamples: Annotated[int, typer.Option(min=100, help="Bootstrap resamples behind every interval.")] = 2000,
    seed: SeedOption = 0,
    markdown: MarkdownOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print precision, recall and F1 against labels, with baselines, agreement and failure modes.

    Errors of a judge count neither for nor against: every figure says how many tasks were answered. A label set is a
    lower bound: a task without a report is not necessarily clean.

    Example: `agenthard align score demo-run/demo demo-run/demo-benchmark/labels.jsonl`
    """
    from agenthard.flows.alignment_score import AlignSettings, score_alignment
    from agenthard.flows.errors import CommandError
    from agenthard.reports.alignment.summary import alignment_sections

    if not 0 < prevalence < 1:
        raise CommandError(f"--prevalence must be strictly between 0 and 1, got {prevalence}")
    result = score_alignment(
        AlignSettings(
            run=str(run),
            labels=tuple(map(str, labels)),
            key=str(key) if key else None,
            truth=truth,
            categories=str(categories) if categories else None,
            also=tuple(map(str, also or ())),
            one_prompt=str(one_prompt) if one_prompt else None,
            previous=str(previous) if previous else None,
            prevalence=prevalence,
            second_look=str(second_look) if second_look else None,
            resamples=resamples,
            seed=seed,
        )
    )
    if as_json:
        print_json(result)
    else:
        _print(alignment_sections(result), markdown)


@app.command("plan")
def plan(
    tasks: Annotated[int, typer.Option(min=2, help="Tasks of the benchmark.")],
    precision: Annotated[float, typer.Option(help="Expected precision of the flags.")] = 0.8,
    recall: Annotated[float, typer.Option(help="Expected recall.")] = 0.7,
    prevalence: Annotated[float, typer.Option(help="Expected share of flawed tasks.")] = 0.1,
    half_width: Annotated[
        list[float] | None, typer.Option(help="Wanted half of the interval's width; repeatable. Default: 0.1 and 0.05.")
    ] = None,
    share: ShareOption = 0.1,
    least: LeastOption = 30,
    markdown: MarkdownOption = False,
    as_json: JsonOption = False,
) -> None:
    """Print how many labels a wanted precision of the figures costs, for three designs.

    Example: `agenthard align plan --tasks 278 --prevalence 0.2 --half-width 0.1`
    """
    from pydantic import ValidationError

    from agenthard.flows.errors import CommandError
    from agenthard.reports.alignment.plan import Expected, make_plan
    from agenthard.reports.alignment.summary import plan_sections

    try:
        expected = Expected(tasks=tasks, precision=precision, recall=recall, prevalence=prevalence)
        result = make_plan(expected, tuple(half_width or (0.1, 0.05)), share, least)
    except ValidationError as error:
        first = error.errors()[0]
        raise CommandError(
            f"{'/'.join(map(str, first['loc'])) or 'expected values'}: {first['msg'].removeprefix('Value error, ')}"
        ) from error
    except ValueError as error:
        raise CommandError(str(error)) from error
    if as_json:
        print_json(result)
    else:
        _print(plan_sections(result), markdown)


@app.command("drift")
def drift(
    now: Annotated[Path, typer.Argument(help="Run folder of the later run.")],
    before: Annotated[Path, typer.Argument(help="Run folder of the earlier run.")],
    frozen: Annotated[Path, typer.Option(help="Ids of the frozen tasks: a label file, or one id per line.")],
    allowed: Annotated[float, typer.Option(min=0, max=1, help="Share of flips that is taken for noise.")] = 0.1,
    alpha: Annotated[float, typer.Option(min=0, max=1, help="Significance level of the test of direction.")] = 0.05,
    markdown: MarkdownOption = False,
    as_json: JsonOption = False,
) -> None:
    """Check that verdicts on a frozen set did not change where the tasks did not.

    Exit code 1 when flips go one way significantly, or are more than allowed; 2 when nothing could be compared.

    Example: `agenthard align drift demo-run/demo demo-run/demo --frozen demo-run/demo-benchmark/labels.jsonl`
    """
    from agenthard.flows.alignment import read_frozen, read_side
    from agenthard.flows.errors import ExitCode
    from agenthard.reports.alignment.drift import check_drift
    from agenthard.reports.alignment.summary import drift_sections

    found = check_drift(read_side(before), read_side(now), read_frozen(frozen), allowed, alpha)
    if as_json:
        print_json(found)
    else:
        _print(drift_sections(found), markdown)
    if found.drifted:
        raise typer.Exit(ExitCode.DEFECTS)
    if not found.compared:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _write_lines(path: Path, lines: Iterable[dict[str, Any]]) -> None:
    from agenthard.reports.kit.files import json_text
    from agenthard.taxonomy.files import write_atomically

    write_atomically(path, "".join(json_text(line) + "\n" for line in lines).encode("utf-8"))


def _print(sections: Iterable["Section"], markdown: bool) -> None:
    if markdown:
        from agenthard.reports.kit.markdown import sections_markdown

        typer.echo(sections_markdown(sections))
        return
    for section in sections:
        for text in filter(None, (section.title and f"# {section.title}", section.text)):
            typer.echo(text)
        if section.rows:
            print_table("", section.columns, section.rows)
        typer.echo("")
