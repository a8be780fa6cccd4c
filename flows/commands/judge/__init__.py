"""``agenthard judge``: models judge the tasks of an audit, directly, in batches or through files."""

import typer

from agenthard.flows.commands.judge import batch, exchange, prompt, run

app = typer.Typer(
    name="judge", help="Model judges: verdicts on tasks, with quotes that code verifies.", no_args_is_help=True
)
app.command("run")(run.run)
app.command("batch")(batch.batch)
app.command("prompt")(prompt.prompt)
app.command("export")(exchange.export)
app.command("import")(exchange.import_)
