"""``agenthard ace generate``: a suite of proved instances."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.ace.reading import one_message
from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table

if TYPE_CHECKING:
    from agenthard.ace.generator import Parameters


def generate(
    out: Annotated[Path, typer.Option(help="Folder of the suite.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="jsonl or parquet: our own format, answers apart from puzzles, with certificates; "
            "reference: one file per domain in the layout of the paper.",
        ),
    ] = "jsonl",
    rows: Annotated[int, typer.Option(help="Rows of the grid.")] = 5,
    cols: Annotated[int, typer.Option(help="Columns of the grid.")] = 7,
    hidden: Annotated[list[int] | None, typer.Option("--hidden", "-H", help="Hidden slots; repeatable.")] = None,
    budget: Annotated[list[int] | None, typer.Option("--decoys", "-B", help="Decoy budgets; repeatable.")] = None,
    candidates: Annotated[int, typer.Option("--candidates", "-K", help="Candidates per slot.")] = 25,
    domain: Annotated[list[str] | None, typer.Option(help="Domains; repeatable; default: all six.")] = None,
    per_cell: Annotated[int, typer.Option("--per-cell", help="Instances for each domain, H and B.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the suite.")] = 0,
    coupling: Annotated[
        bool, typer.Option("--coupling", help="Choose decoys that only joint reasoning excludes.")
    ] = False,
    query_plans: Annotated[
        bool, typer.Option("--query-plans", help="Store queries that suffice for the solution with each certificate.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes; they do not change a byte.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Generate a suite of proved instances; the default is the paper's. The same command resumes after an interruption.

    Exit codes: 0 the suite is there, 64 it cannot exist, 3 it cannot be written; the message says why.

    Example: `agenthard ace generate --out ace-suite -H 3 -B 2 --domain course`
    """
    from agenthard.flows.ace_generation import SuiteFormat, write_suite
    from agenthard.flows.errors import CommandError, InfrastructureError
    from agenthard.flows.progress import show_progress

    if form not in list(SuiteFormat):
        raise CommandError(f"no format {form!r}; there are: {', '.join(SuiteFormat)}")
    if query_plans and form == SuiteFormat.REFERENCE:
        raise CommandError(
            "--query-plans: the layout of the paper holds no certificates; use --format jsonl or parquet"
        )
    parameters = _parameters(
        rows=rows,
        cols=cols,
        candidates=candidates,
        per_cell=per_cell,
        seed=seed,
        coupling=coupling,
        query_plans=query_plans,
        hidden_slots=tuple(hidden or ()),
        decoy_budgets=tuple(budget or ()),
        domains=tuple(domain or ()),
    )
    try:
        with one_message(), show_progress(error_console()):
            written = write_suite(parameters, out, SuiteFormat(form), workers)
    except KeyboardInterrupt:
        raise InfrastructureError("interrupted; what is there is kept: the same command continues from there") from None
    if as_json:
        print_json([asdict(each) for each in written])
    else:
        rows_shown = [(each.file, str(each.instances)) for each in written]
        print_table("", ("file", "instances"), rows_shown, right=("instances",))


def _parameters(**asked: Any) -> "Parameters":
    """Check what is asked for; an empty list means the paper's."""
    from pydantic import ValidationError

    from agenthard.ace.generator import Parameters
    from agenthard.flows.errors import CommandError

    try:
        with one_message():
            return Parameters(**{name: value for name, value in asked.items() if value != ()})
    except ValidationError as error:
        reasons = "; ".join(f"{each['loc'][0]}: {each['msg']}" for each in error.errors())
        raise CommandError(f"such a suite cannot exist: {reasons}") from error
