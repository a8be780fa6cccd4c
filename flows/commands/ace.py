"""``agenthard ace``: generate, verify, probe and serve instances of ACE-Bench, in the file layout of the paper."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from flows.commands.output import JsonOption, console, error_console, print_json

if TYPE_CHECKING:
    from ace.instance import Instance

app = typer.Typer(name="ace", help="ACE-Bench: grid planning with a proved unique answer.", no_args_is_help=True)


@contextmanager
def _one_message() -> Iterator[None]:
    """Turn what ACE refuses into one message without a traceback."""
    from ace.environment import Unplayable
    from ace.extras import MissingExtra
    from ace.generator import GenerationFailed, ImpossibleParameters
    from ace.reference_entry import Malformed
    from audit.probes import CandidatesError
    from flows.errors import CommandError

    try:
        yield
    except (CandidatesError, GenerationFailed, ImpossibleParameters, Malformed, MissingExtra, Unplayable) as error:
        raise CommandError(str(error)) from error


FilesArgument = Annotated[list[Path], typer.Argument(help="Files in the layout of the paper.")]


@app.command()
def generate(
    out: Annotated[Path, typer.Option(help="Folder; one file per domain, in the layout of the paper.")],
    rows: Annotated[int, typer.Option(help="Rows of the grid.")] = 5,
    cols: Annotated[int, typer.Option(help="Columns of the grid.")] = 7,
    hidden: Annotated[list[int] | None, typer.Option("--hidden", "-H", help="Hidden slots; repeatable.")] = None,
    budget: Annotated[list[int] | None, typer.Option("--budget", "-B", help="Decoy budgets; repeatable.")] = None,
    candidates: Annotated[int, typer.Option("--candidates", "-K", help="Candidates per slot.")] = 25,
    domain: Annotated[list[str] | None, typer.Option(help="Domains; repeatable; default: all six.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of the suite.")] = 0,
    coupling: Annotated[
        bool, typer.Option("--coupling", help="Choose decoys that only joint reasoning excludes.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, help="Processes; they do not change a byte.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Generate a suite of proved instances; the default is the paper's. A file that is there already is kept.

    Example: `agenthard ace generate --out ace-suite -H 3 -B 2 --domain course`
    """
    from ace import reference_format
    from ace.generator import Parameters, generate
    from flows.commands.output import print_table
    from flows.progress import current, show_progress

    chosen = {"hidden_slots": tuple(hidden or ()), "decoy_budgets": tuple(budget or ()), "domains": tuple(domain or ())}
    written = []
    with _one_message(), show_progress(error_console()):
        suite = Parameters(
            rows=rows,
            cols=cols,
            candidates=candidates,
            seed=seed,
            coupling=coupling,
            **{name: values for name, values in chosen.items() if values},
        )
        current().start("generating", total=suite.count)
        for name in suite.domains:
            part = suite.model_copy(update={"domains": (name,)})
            header = part.header(name)
            path = out / header.filename(seed)
            if not path.exists():
                out.mkdir(parents=True, exist_ok=True)
                partial = path.with_suffix(".part")
                reference_format.write(partial, header, _counted(generate(part, workers=workers)), part.count)
                partial.replace(path)
            written.append((str(path), str(part.count)))
    if as_json:
        print_json([{"file": path, "instances": int(count)} for path, count in written])
    else:
        print_table("", ("file", "instances"), written, right=("instances",))


def _counted(instances: Iterator["Instance"]) -> Iterator["Instance"]:
    from flows.progress import current

    for instance in instances:
        yield instance
        current().advance(1)


@app.command()
def verify(files: FilesArgument, as_json: JsonOption = False) -> None:
    """Prove every instance again: truth, filters, decoys, preference levels, and uniqueness by exact search.

    Exit codes: 0 all hold, 1 a hard violation or a solution that is not unique, 2 unreadable instances.

    Example: `agenthard ace verify ace-suite/*.json`
    """
    from ace.proof import verify
    from flows.errors import ExitCode

    instances, unreadable = _read(files)
    reports = [verify(instance) for instance in instances]
    problems = [(report.id, problem) for report in reports for problem in report.problems]
    hard = sum(bool(report.hard) for report in reports)
    unique = sum(report.unique for report in reports)
    kinds = Counter(problem.kind for _, problem in problems)
    if as_json:
        rows = [{"id": i, "kind": p.kind, "cell": p.cell, "message": p.message} for i, p in problems]
        print_json(
            {"instances": len(reports), "unique": unique, "hard": hard, "unreadable": unreadable, "problems": rows}
        )
    else:
        console().print(
            f"{len(reports)} instances: {unique} unique, {hard} with hard violations, {len(unreadable)} unreadable"
        )
        for kind, count in kinds.items():
            console().print(f"  {count} problems of kind {kind}")
        for identity, problem in problems:
            console().print(f"  {identity} {problem.cell or ''}: {problem.message}", markup=False)
        for reason in unreadable:
            console().print(f"  unreadable: {reason}", markup=False)
    if hard or unique < len(reports):
        raise typer.Exit(ExitCode.DEFECTS)
    if unreadable:
        raise typer.Exit(ExitCode.INCOMPLETE)


@app.command()
def probe(
    files: FilesArgument,
    every: Annotated[bool, typer.Option("--every", help="List every probe, not only the shortcuts.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the learned probes.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Look for shortcuts: ways of guessing the answer without the rules, each measured against chance.

    Example: `agenthard ace probe ace-suite/*.json`
    """
    from ace.probes import candidates_of
    from audit.probes import read_scene, render, run_battery

    instances, unreadable = _read(files)
    with _one_message():
        scenes = [read_scene(candidates_of(instance), f"{i}:{instance.id}") for i, instance in enumerate(instances)]
        report = run_battery(scenes, seed)
    if as_json:
        print_json(report)
        return
    typer.echo(render(report, every=every))
    for reason in unreadable:
        typer.echo(f"unreadable: {reason}", err=True)


@app.command("serve-mcp")
def serve_mcp(
    file: Annotated[Path, typer.Argument(help="File in the layout of the paper.")],
    instance: Annotated[str, typer.Argument(help="Id of the instance to play.")],
    result: Annotated[Path | None, typer.Option(help="Where to write the outcome when the client is gone.")] = None,
    failure_rate: Annotated[float, typer.Option(min=0, max=1, help="Probability that a tool call fails.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Seed of the failures.")] = 0,
) -> None:
    """Serve one instance as tools over MCP (standard input and output). Needs the extra `mcp`.

    Example: `agenthard ace serve-mcp ace-suite/FILE.json course_r5_c7_h3_b2`
    """
    from ace.environment import Environment
    from ace.mcp_server import serve
    from flows.errors import CommandError

    known, _ = _read([file])
    chosen = next((candidate for candidate in known if candidate.id == instance), None)
    if chosen is None:
        raise CommandError(f"{file}: no instance {instance!r}; there are {', '.join(c.id for c in known[:5])} ...")
    with _one_message():
        serve(Environment(chosen.puzzle, failure_rate=failure_rate, seed=seed), result=result)


def _read(files: list[Path]) -> "tuple[list[Instance], list[str]]":
    from ace import reference_format

    instances: list[Instance] = []
    unreadable: list[str] = []
    for path in files:
        with _one_message():
            content = reference_format.read(path)
        instances += content.instances
        unreadable += [f"{path.name}, instance {item.index}: {item.reason}" for item in content.unreadable]
    return instances, unreadable
