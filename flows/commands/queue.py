"""``agenthard queue``: named queues of tasks for reviewers."""

from pathlib import Path
from typing import Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json, print_table
from agenthard.flows.commands.verdicts import StoreOption, open_store

app = typer.Typer(
    name="queue", help="Named queues for reviewers, filled by a rule, and findings over time.", no_args_is_help=True
)

EXAMPLE = """\
name: score-flaws
rule:
  severity: [affects_score]
instructions: Could a right agent fail this task, or a wrong one pass it?
fields: [category, severity, confidence, reason]
reviewers: [ann, bob]
overlap: 0.2
"""
"""What ``queue init`` writes."""


@app.command("init")
def init(
    out: Annotated[Path, typer.Argument(help="File to write.")] = Path("queue.yaml"),
    as_json: JsonOption = False,
) -> None:
    """Write an example of the configuration of a queue.

    Example: `agenthard queue init queue.yaml`
    """
    from agenthard.flows.errors import CommandError
    from agenthard.taxonomy.files import write_text

    if out.exists():
        raise CommandError(f"{out}: exists; give another name")
    write_text(out, EXAMPLE)
    if as_json:
        print_json({"file": str(out)})
        return
    typer.echo(f"{out}: name the reviewers in it, then: agenthard queue add RUN --config {out}")


@app.command("add")
def add(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit.")],
    config: Annotated[
        Path | None, typer.Option(help="Configuration of the queue (YAML); default: a queue of all flagged tasks.")
    ] = None,
    reviewer: Annotated[
        list[str] | None, typer.Option(help="Who reviews; repeatable. Default: the reviewers of the configuration.")
    ] = None,
    baseline: Annotated[Path | None, typer.Option(help="Earlier run folder: its findings add nothing.")] = None,
    by: Annotated[str, typer.Option(help="Who assigns.")] = "agenthard",
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put the tasks of matching findings of a run into a queue, each assigned to one reviewer or two.

    Adding a run again adds only what is new, so a scheduled audit can end with this command.

    Example: `agenthard queue add demo-run/demo --reviewer ann --reviewer bob`
    """
    from datetime import UTC, datetime

    from agenthard.flows.audited_run import read_findings
    from agenthard.flows.review.decide import ReviewedRun, run_name
    from agenthard.flows.review.queue import FOLDER, chosen_tasks, fill, progress, queue_settings
    from agenthard.taxonomy.files import write_text

    settings = queue_settings(config, reviewer or ())
    audit, name = ReviewedRun(run), run_name(run)
    contents = audit.contents
    known = {finding.id for finding in read_findings(baseline)} if baseline else set()
    tasks = chosen_tasks(settings, audit.findings, audit.decisions, known)
    with open_store(run, store) as opened:
        state = opened.state(name, contents)
        added = opened.append(fill(settings, tasks, state, contents, name, by, datetime.now(UTC)))
        state.add(added)
        found = progress(state, settings.name)
    folder = run / FOLDER
    folder.mkdir(exist_ok=True)
    write_text(folder / f"{settings.name}.json", settings.model_dump_json(indent=2) + "\n")
    if as_json:
        print_json({"matching": len(tasks), "added": len(added), **found.model_dump()})
        return
    typer.echo(
        f"queue {settings.name}: {len(tasks):,} matching tasks, {len(added):,} assignments added; "
        f"{found.tasks:,} tasks, {found.done:,} of {found.assignments:,} verdicts given"
    )
    typer.echo(f"next: agenthard review {run}")


@app.command("show")
def show(
    run: Annotated[Path, typer.Argument(help="Run folder of an audit.")],
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show how far the queues of a run are.

    Example: `agenthard queue show demo-run/demo`
    """
    from agenthard.flows.review.decide import ReviewedRun, run_name
    from agenthard.flows.review.queue import progress, queue_names

    audit = ReviewedRun(run)
    with open_store(run, store) as opened:
        state = opened.state(run_name(run), audit.contents)
    found = [progress(state, name) for name in queue_names(state)]
    if as_json:
        print_json([each.model_dump() | {"finished": each.finished} for each in found])
        return
    if not found:
        typer.echo(f"{run}: no queue; next: agenthard queue init")
        return
    columns = ("queue", "tasks", "assigned", "done", "disputed", "finished")
    rows = [
        (e.name, *map(str, (e.tasks, e.assignments, e.done, e.disputed)), "yes" if e.finished else "no") for e in found
    ]
    print_table("", columns, rows, right=columns[1:5])


@app.command("history")
def history(
    finding: Annotated[str, typer.Argument(help="Id of a finding.")],
    runs: Annotated[list[Path], typer.Argument(help="Run folders of one benchmark, the earliest first.")],
    as_json: JsonOption = False,
) -> None:
    """Follow a finding through several runs: new, persisted, fixed or flipped, why, and what people said.

    A judge that changes its verdict on a task that did not change is judge drift, apart from a change of the benchmark.

    Example: `agenthard queue history 5980e3eba98a demo-run/demo demo-run/demo`
    """
    from agenthard.flows.review.history import finding_history
    from agenthard.taxonomy.printable import printable_line

    rows = finding_history(runs, finding)
    if as_json:
        print_json([row.model_dump(mode="json") for row in rows])
        return
    table = []
    for row in rows:
        change: str = "first run" if row.change is None else row.change.change
        if row.change is not None and row.change.cause:
            change += f" ({row.change.cause})"
        if row.change is not None and row.change.differences:
            change += f": {printable_line('; '.join(row.change.differences))}"
        decided = ", ".join(f"{action} {count}" for action, count in row.decisions.items())
        held = f"{row.tier}, {row.severity}, {row.tasks} tasks" if row.tier else "-"
        table.append((row.run, row.version, change, held, decided, printable_line("; ".join(row.said))))
    print_table("", ("run", "benchmark", "change", "finding", "decisions", "people"), table)
