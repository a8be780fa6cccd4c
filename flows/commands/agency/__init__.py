"""``agenthard agency``: the tables of AgencyBench's paper."""

import typer

from agenthard.flows.commands.agency.tables import tables

app = typer.Typer(name="agency", help="AgencyBench: chains of tasks on one workspace.", no_args_is_help=True)


@app.callback()
def agency() -> None:
    """AgencyBench: chains of tasks on one workspace."""


app.command("tables")(tables)
