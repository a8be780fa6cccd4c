"""``agenthard schedule``: audits again and again, what changed, and which split is published."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from agenthard.flows.commands.output import JsonOption, error_console, print_json, print_table

if TYPE_CHECKING:
    from prefect.deployments.runner import RunnerDeployment

    from agenthard.flows.scheduling.run import ScheduleOutcome
    from agenthard.flows.scheduling.settings import Schedule

app = typer.Typer(
    name="schedule",
    help="Audit a benchmark on a schedule: only what changed is checked, and the difference is told.",
    no_args_is_help=True,
)
ConfigArgument = Annotated[Path, typer.Argument(metavar="CONFIG", help="Schedule (YAML).")]
MOST_SHOWN = 10

EXAMPLE = """\
name: nightly
source: native
origin:
  path: demo-run/demo-benchmark   # or git: URL, dataset: OWNER/NAME, url: URL
folder: nightly-audits       # keeps the audits, their results by content, and the history
cron: "0 3 * * *"            # or interval_seconds: 3600
publish:
  split: clean
  gate: true                 # the published split changes only when a person approves it
notify:
  - kind: webhook
    url_env: SLACK_WEBHOOK_URL
"""
"""What ``schedule init`` writes."""


@app.command("init")
def init(
    out: Annotated[Path, typer.Argument(help="File to write.")] = Path("schedule.yaml"),
    as_json: JsonOption = False,
) -> None:
    """Write an example of a schedule.

    Example: `agenthard schedule init schedule.yaml`
    """
    from agenthard.flows.errors import CommandError
    from agenthard.taxonomy.files import write_text

    if out.exists():
        raise CommandError(f"{out}: exists; give another name")
    write_text(out, EXAMPLE)
    if as_json:
        print_json({"file": str(out)})
        return
    typer.echo(f"{out}: name the benchmark in it, then: agenthard schedule run {out}")


@app.command("run")
def run(config: ConfigArgument, as_json: JsonOption = False) -> None:
    """Audit once, now; no server is needed, so cron or a CI job can call it.

    Exit codes: 0 nothing new, 1 new confirmed defects, 3 the benchmark could not be fetched or audited.

    Example: `agenthard schedule run schedule.yaml`
    """
    from datetime import UTC, datetime

    from agenthard.flows.errors import ExitCode
    from agenthard.flows.progress import show_progress
    from agenthard.flows.scheduling.run import run_schedule
    from agenthard.flows.scheduling.settings import load_schedule

    schedule = load_schedule(config)
    with show_progress(error_console()):
        outcome = run_schedule(schedule, datetime.now(UTC))
    if as_json:
        print_json(outcome)
    else:
        _show(outcome, config)
    found = outcome.difference
    if found and any(each.tier == "confirmed" and each.severity != "cosmetic" for each in found.new):
        raise typer.Exit(ExitCode.DEFECTS)


def _show(outcome: "ScheduleOutcome", config: Path) -> None:
    from agenthard.taxonomy.printable import printable_line

    typer.echo(printable_line(f"{outcome.name}, audit {outcome.number}: {outcome.sentence}"))
    found = outcome.difference
    for title, findings in (("new", found.new), ("fixed", found.fixed), ("flipped", found.flipped)) if found else ():
        for each in findings[:MOST_SHOWN]:
            where = f"{each.place}: " if each.place else ""
            typer.echo(printable_line(f"  {title}: {where}[{each.id}] {each.check} {each.severity}: {each.claim}"))
        if len(findings) > MOST_SHOWN:
            typer.echo(f"  and {len(findings) - MOST_SHOWN:,} more {title}: the report has all")
    for reason in outcome.not_sent:
        typer.echo(f"  {printable_line(reason)}")
    if outcome.run:
        typer.echo(f"report     {Path(outcome.run) / 'report.html'}")
    typer.echo(f"history    {outcome.history}")
    if outcome.waits:
        typer.echo(f"next: agenthard schedule approve {config} --split {outcome.waits.split_id} --by NAME")


@app.command("serve")
def serve(configs: Annotated[list[Path], typer.Argument(metavar="CONFIG…", help="Schedules (YAML).")]) -> None:
    """Audit at the times that the schedules name, until interrupted; needs a Prefect server.

    Example: `agenthard schedule serve schedule.yaml`
    """
    schedules = list(map(_timed, configs))
    _require_server()
    from prefect import serve as serve_all

    from agenthard.flows.deployments import scheduled_audit

    with suppress(KeyboardInterrupt):
        serve_all(*(cast("RunnerDeployment", scheduled_audit.to_deployment(**_deployment(each))) for each in schedules))


@app.command("deploy")
def deploy(
    config: ConfigArgument,
    pool: Annotated[str, typer.Option(help="Work pool whose workers run the audits.")],
    as_json: JsonOption = False,
) -> None:
    """Register a schedule with a Prefect server; a worker of the pool runs it: `prefect worker start --pool POOL`.

    Example: `agenthard schedule deploy schedule.yaml --pool audits`
    """
    schedule = _timed(config)
    _require_server()
    from prefect.types.entrypoint import EntrypointType

    from agenthard.flows.deployments import scheduled_audit

    named: dict[str, Any] = {"work_pool_name": pool, "entrypoint_type": EntrypointType.MODULE_PATH}
    made = cast("RunnerDeployment", scheduled_audit.to_deployment(**_deployment(schedule), **named))
    identity = made.apply()
    if as_json:
        print_json({"deployment": str(identity), "name": f"agenthard-scheduled-audit/{schedule.name}", "pool": pool})
        return
    typer.echo(f"agenthard-scheduled-audit/{schedule.name} is deployed; next: prefect worker start --pool {pool}")


def _timed(config: Path) -> "Schedule":
    from agenthard.flows.errors import CommandError
    from agenthard.flows.scheduling.settings import load_schedule

    schedule = load_schedule(config)
    if schedule.cron is None and schedule.interval_seconds is None:
        raise CommandError(f"{config}: says no time; give `cron` or `interval_seconds`")
    return schedule


def _deployment(schedule: "Schedule") -> dict[str, Any]:
    """Return what a deployment of a schedule is made of. Paths are absolute: a worker starts elsewhere."""
    from prefect.schedules import Cron, Interval

    if schedule.cron is not None:
        rhythm: object = Cron(schedule.cron, timezone=schedule.timezone)
    else:
        rhythm = Interval(schedule.interval_seconds or 0, timezone=schedule.timezone)
    return {
        "name": schedule.name,
        "schedule": rhythm,
        "parameters": {"schedule": schedule.absolute().model_dump(mode="json")},
        "tags": ["agenthard", schedule.source],
        "concurrency_limit": 1,
    }


def _require_server() -> None:
    from agenthard.flows.errors import CommandError
    from agenthard.flows.stages import has_server

    if not has_server():
        raise CommandError(
            "no Prefect server is configured; next: `prefect server start`, then set PREFECT_API_URL to its address "
            "(http://127.0.0.1:4200/api), or call `agenthard schedule run` from cron"
        )


@app.command("approve")
def approve(
    config: ConfigArgument,
    by: Annotated[str, typer.Option(help="Who approves.")],
    split: Annotated[str | None, typer.Option(help="Id of the split that was looked at; default: what waits.")] = None,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    as_json: JsonOption = False,
) -> None:
    """Publish the split that waits for a person.

    Example: `agenthard schedule approve schedule.yaml --by ana`
    """
    from datetime import UTC, datetime

    from agenthard.flows.scheduling.run import approve as approve_split
    from agenthard.flows.scheduling.settings import load_schedule

    schedule = load_schedule(config)
    done = approve_split(schedule, split, by, reason, datetime.now(UTC))
    if as_json:
        print_json(done)
        return
    where = Path(schedule.folder) / done.folder
    typer.echo(f"published  {where} (version {done.version}, split {done.split_id}, approved by {done.by})")


@app.command("history")
def history(config: ConfigArgument, as_json: JsonOption = False) -> None:
    """List the audits of a schedule with what was new, fixed and flipped in each.

    Example: `agenthard schedule history schedule.yaml`
    """
    from agenthard.flows.scheduling.series import SeriesFolder
    from agenthard.flows.scheduling.settings import load_schedule

    series = SeriesFolder(Path(load_schedule(config).folder))
    found = series.history
    if as_json:
        print_json([each.model_dump(mode="json") for each in found])
        return
    columns = ("audit", "time", "tasks", "checked", "new", "persisted", "fixed", "flipped", "split")
    rows = []
    for each in found:
        start = (str(each.number), f"{each.at:%Y-%m-%d %H:%M}")
        if each.difference is None:
            rows.append((*start, *[""] * 6, "failed" if each.failure else "nothing changed"))
            continue
        counts = each.difference.counts
        told = (each.difference.tasks, each.difference.checked, *(counts[k] for k in columns[4:8]))
        rows.append((*start, *map(str, told), each.difference.split_now))
    print_table("", columns, rows, right=columns[2:8])
