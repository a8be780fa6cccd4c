"""``agenthard sources``: the benchmarks that can be read, and the skeleton of a package for another one."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from agenthard.flows.commands.output import JsonOption, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable

    from agenthard.audit.sources.mapping.infer import Proposal
    from agenthard.audit.sources.mapping.infer.questions import Question


class _ListsByItself(TyperGroup):
    """A group that lists when no command of it is named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] != "--help"):
            args = ["list", *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    name="sources",
    cls=_ListsByItself,
    help="List the benchmarks that can be read (`agenthard sources`), or begin a source of your own.",
)


@app.command("list")
def list_sources(
    name: Annotated[str | None, typer.Argument(help="Show one source.")] = None,
    schema: Annotated[bool, typer.Option("--schema", help="Print the JSON Schema of the native format.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the benchmarks that can be read, and the files each expects.

    Example: `agenthard sources`
    """
    from agenthard.audit.sources.registry import sources as registered
    from agenthard.flows.errors import CommandError
    from agenthard.taxonomy import AgentTask, Trajectory

    if schema:
        print_json({"AgentTask": AgentTask.model_json_schema(), "Trajectory": Trajectory.model_json_schema()})
        return
    known = registered()
    if name is not None and name not in known:
        raise CommandError(f"no source {name!r}; there are {', '.join(known)}")
    rows = [(s.name, s.title, s.layout) for key, s in known.items() if name in (None, key)]
    if as_json:
        print_json([dict(zip(("name", "title", "layout"), row, strict=True)) for row in rows])
    else:
        print_table("", ("name", "benchmark", "what makes a folder readable"), rows)


@app.command("new")
def new_source(
    name: Annotated[str, typer.Argument(help="Word for the command line: small letters, digits and hyphens.")],
    path: Annotated[Path, typer.Argument(help="New folder for the package.")],
    as_json: JsonOption = False,
) -> None:
    """Write a package that reads and executes a benchmark of your own: it works on a small example, to be changed.

    Example: `agenthard sources new my-bench my-bench`
    """
    from agenthard.audit.sources.registry import sources as registered
    from agenthard.audit.sources.skeleton import write_skeleton
    from agenthard.flows.errors import CommandError

    if name in registered():
        raise CommandError(f"there is a source {name!r} already; choose another name")
    written = [file.relative_to(path).as_posix() for file in write_skeleton(name, path)]
    if as_json:
        print_json({"folder": str(path), "files": written})
        return
    for file in written:
        typer.echo(file)
    typer.echo(f"\nnext: pip install -e {path} && agenthard audit {name} {path / 'example'}")


@app.command("infer")
def infer_mapping(
    path: Annotated[
        str,
        typer.Argument(
            metavar="PATH",
            help="File of rows (JSONL, JSON, CSV, Parquet, SQLite) or promptfoo configuration, a folder, or a URL.",
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write the mapping here instead of printing it.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Propose a mapping for the rows of a benchmark that no source reads, and show one task as it was understood.

    On a terminal it asks what it is unsure of; elsewhere, and with --json, it lists it. The exit code is 2 when a part
    that an audit needs is missing or looks wrong, such as "0 expected calls".

    Example: `agenthard sources infer docs/examples/library`
    """
    from agenthard.audit.sources.base import SourceError
    from agenthard.audit.sources.formats.remote import is_url
    from agenthard.audit.sources.mapping.infer import infer
    from agenthard.audit.sources.mapping.infer.proposal_yaml import as_yaml
    from agenthard.flows.errors import CommandError, ExitCode
    from agenthard.taxonomy.printable import printable_line

    if not is_url(path) and not Path(path).exists():
        raise CommandError(f"{path}: there is nothing at this path")
    if out is not None and out.exists():
        raise CommandError(f"{out} exists already; name a new file")
    try:
        proposal = infer(path, None if as_json else _asker())
    except SourceError as error:
        raise SourceError(f"{error}{_other_reader(path)}") from error
    if out is not None:
        out.write_text(as_yaml(proposal, out.resolve().parent), encoding="utf-8")
    if as_json:
        print_json({**proposal.facts(), "file": None if out is None else str(out)})
    elif out is None:
        typer.echo(as_yaml(proposal, Path.cwd()), nl=False)
    else:
        _show_proposal(proposal, out)
    if proposal.understood.problems:
        for problem in proposal.understood.problems:
            typer.echo(f"wrong or missing: {printable_line(problem)}", err=True)
        raise typer.Exit(ExitCode.INCOMPLETE)


def _other_reader(path: str) -> str:
    """Name the command that reads a path without a mapping, if a source recognises it."""
    from agenthard.audit.sources.base import SourceError
    from agenthard.audit.sources.registry import detect_name

    try:
        return f". It needs no mapping: `agenthard audit {detect_name(Path(path))} {path}` reads it"
    except (SourceError, OSError):
        return ""


def _asker() -> "Callable[[Question], Any] | None":
    """Return what asks a person; None unless standard input and output are terminals."""
    return _ask if sys.stdin.isatty() and sys.stdout.isatty() else None


def _ask(question: "Question") -> Any:
    """Show the candidates, numbered, and return the value of the one that is chosen; Enter takes the first."""
    from rich.prompt import IntPrompt

    from agenthard.taxonomy.printable import printable_line

    typer.echo(f"\n{question.text} ({question.key})")
    for number, candidate in enumerate(question.candidates, start=1):
        example = f"   e.g. {candidate.example}" if candidate.example else ""
        typer.echo(f"  {number}  {printable_line(candidate.label)}{printable_line(example)}")
    numbers = [str(number) for number in range(1, len(question.candidates) + 1)]
    try:
        chosen = IntPrompt.ask("number", choices=numbers, show_choices=False, default=1)
    except EOFError:
        raise typer.Abort from None
    return question.candidates[chosen - 1].value


def _show_proposal(proposal: "Proposal", out: Path) -> None:
    from agenthard.taxonomy.printable import printable_line

    understood = proposal.understood
    typer.echo(f"{out}: {understood.counted}\n\nas an example, {printable_line(understood.example[0])}")
    for line in understood.example[1:]:
        typer.echo(printable_line(line))
    if proposal.unsure:
        typer.echo("\nunsure of:")
        for text in proposal.unsure:
            typer.echo(f"  {printable_line(text)}")
    if not understood.problems:
        typer.echo(f"\nread the mapping, then: agenthard audit mapping {out}")
