"""The command line. Each command lives in ``flows/commands``; heavy packages are imported inside the commands."""

import sys

import typer

from flows.commands import (
    ace,
    align,
    audit,
    catalogue,
    compare,
    demo,
    env,
    evaluate,
    faults,
    fetch,
    judge,
    leaderboard,
    repair,
    replay,
    report,
    run,
    score,
    sources,
)

app = typer.Typer(
    name="agenthard",
    help="Audit LLM-agent benchmarks: find flawed tasks with evidence, and write a cleaned split.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)
app.command("audit")(audit.audit)
app.command("evaluate")(evaluate.evaluate)
app.command("run")(run.run)
app.command("checks")(catalogue.checks)
app.command("explain")(catalogue.explain)
app.command("taxonomy")(catalogue.taxonomy)
app.command("score")(score.score)
app.command("report")(report.report)
app.command("compare")(compare.compare)
app.command("leaderboard")(leaderboard.leaderboard)
app.command("replay")(replay.replay)
app.command("repair")(repair.repair)
app.command("fetch")(fetch.fetch)
app.command("demo")(demo.demo)
app.add_typer(ace.app)
app.add_typer(align.app)
app.add_typer(env.app)
app.add_typer(faults.app)
app.add_typer(judge.app)
app.add_typer(sources.app)


def main() -> None:
    """Entry point of the console script; an expected error is one message and exit code 3, never a traceback."""
    from flows.errors import EXPECTED, explain
    from flows.safe_path import protect_children

    protect_children()
    try:
        app()
    except EXPECTED as error:
        typer.echo(f"error: {explain(error)}", err=True)
        sys.exit(3)


if __name__ == "__main__":
    main()
