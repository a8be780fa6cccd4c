"""``agenthard init``: the configuration of a project."""

import json
import os
from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json

TEMPLATE = """\
# What `agenthard audit` uses in this folder and below it. The command line wins; paths are relative to this file.

source = {source}   # `agenthard sources` lists the others
path = {path}
# domains = []                  # subtasks or domains; without it all
# runs = ["logs"]               # files or folders of model runs
# policy = "policy.yaml"        # decision policy; docs/policy.md
# out = "runs/audit"            # run folder; without it runs/SOURCE-CONTENTHASH
# baseline = "runs/earlier"     # only confirmed defects that are not in this run folder count as new
# workers = 4                   # processes; without it one per core

[checks]
# select = []                   # checks, categories or components that run; without it all (`agenthard checks`)
# ignore = []                   # ... that do not run
# experimental = false          # also run checks without a true finding on a real benchmark

# A finding that you accept until a day; after it, it counts again.
# [[suppressions]]
# finding = "0123456789ab"      # or: check = "call-schema" and task = "TASK"
# reason = "fixed in the next release"
# until = 2030-01-31
"""


def init(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Folder of the benchmark.")] = Path(),
    as_json: JsonOption = False,
) -> None:
    """Write a commented agenthard.toml for a benchmark, with the source that recognises it.

    It is written into the current folder; an existing one is kept.

    Example: `agenthard init demo-run/demo-benchmark`
    """
    from agenthard.audit.sources.registry import detect_name
    from agenthard.flows.errors import CommandError
    from agenthard.flows.project_config import FILE
    from agenthard.taxonomy.files import write_text

    file = Path(FILE)
    if file.exists():
        raise CommandError(f"{file}: is there already; change it, or remove it first")
    source = detect_name(path)
    place = path.as_posix() if path.is_absolute() else Path(os.path.normpath(path)).as_posix()
    # A JSON string is a TOML string too.
    write_text(file, TEMPLATE.format(source=json.dumps(source), path=json.dumps(place, ensure_ascii=False)))
    if as_json:
        print_json({"file": str(file), "source": source, "path": place})
    else:
        typer.echo(f"{file}: source {source}, path {place}\nnext: agenthard audit")
