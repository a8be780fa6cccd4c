"""``agenthard ace``: generate, verify, probe and serve instances of ACE-Bench, and the tables of an evaluation."""

import typer

from agenthard.flows.commands.ace.generate import generate
from agenthard.flows.commands.ace.probe import probe
from agenthard.flows.commands.ace.serve_mcp import serve_mcp
from agenthard.flows.commands.ace.tables import tables
from agenthard.flows.commands.ace.verify import verify

app = typer.Typer(name="ace", help="ACE-Bench: grid planning with a proved unique answer.", no_args_is_help=True)
app.command("generate")(generate)
app.command("verify")(verify)
app.command("probe")(probe)
app.command("tables")(tables)
app.command("serve-mcp")(serve_mcp)
