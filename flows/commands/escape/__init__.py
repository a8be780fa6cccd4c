"""``agenthard escape``: generate, verify, probe, play and serve rooms, the tables of an evaluation, a run as a page."""

import typer

from agenthard.flows.commands.escape.generate import generate
from agenthard.flows.commands.escape.play import play
from agenthard.flows.commands.escape.probe import probe
from agenthard.flows.commands.escape.serve_mcp import serve_mcp
from agenthard.flows.commands.escape.tables import tables
from agenthard.flows.commands.escape.verify import verify
from agenthard.flows.commands.escape.view import view

app = typer.Typer(
    name="escape", help="AgentEscapeBench: escape rooms whose tools are real functions.", no_args_is_help=True
)
app.command("generate")(generate)
app.command("verify")(verify)
app.command("probe")(probe)
app.command("play")(play)
app.command("tables")(tables)
app.command("view")(view)
app.command("serve-mcp")(serve_mcp)
