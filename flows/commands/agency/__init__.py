"""``agenthard agency``: scenarios, plays, grades, feedback, rollouts, agreement of judges, tables of the paper."""

import typer

from agenthard.flows.commands.agency.agreement import agreement
from agenthard.flows.commands.agency.feedback import feedback
from agenthard.flows.commands.agency.grade import grade
from agenthard.flows.commands.agency.play import play
from agenthard.flows.commands.agency.rollouts import rollouts
from agenthard.flows.commands.agency.scenarios import scenarios
from agenthard.flows.commands.agency.tables import tables

app = typer.Typer(
    name="agency", help="AgencyBench: chains of long tasks on one workspace, with feedback.", no_args_is_help=True
)
app.command("scenarios")(scenarios)
app.command("play")(play)
app.command("grade")(grade)
app.command("feedback")(feedback)
app.command("rollouts")(rollouts)
app.command("agreement")(agreement)
app.command("tables")(tables)
