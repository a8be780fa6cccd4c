"""``agenthard audit``: the main job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.completion import complete_rule, complete_source
from agenthard.flows.commands.first_findings import show_first
from agenthard.flows.commands.options import AddressOption, CheckoutOption, RunnerOption, WeakIsolationOption
from agenthard.flows.commands.output import JsonOption, console, error_console, print_json, print_table
from agenthard.flows.logs import log
from agenthard.flows.scale_out.runner import Runner

if TYPE_CHECKING:
    from agenthard.flows.audit_outputs import AuditOutcome
    from agenthard.flows.audit_plan import AuditPlan, AuditSettings
    from agenthard.flows.profile import Profile
    from agenthard.flows.project_config import ProjectConfig

MOST_NOT_READ = 8
"""Files and folders on the first screen that were not read; the tables name all."""


def audit(
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            autocompletion=complete_source,
            help="Name of the source (`agenthard sources` lists them); default: that of agenthard.toml.",
        ),
    ] = None,
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH", help="Folder of the benchmark; default: the one that `agenthard fetch` downloaded."
        ),
    ] = None,
    domain: Annotated[list[str] | None, typer.Option(help="Read only this subtask or domain; repeatable.")] = None,
    runs: Annotated[list[Path] | None, typer.Option(help="File or folder of model runs; repeatable.")] = None,
    experiment: Annotated[
        list[str] | None, typer.Option(help="Read only runs of this experiment, as the logs name it; repeatable.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: runs/SOURCE-CONTENTHASH.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: one per core.")] = None,
    runner: RunnerOption = Runner.LOCAL,
    address: AddressOption = None,
    store: Annotated[
        str | None,
        typer.Option(help="Folder or bucket (s3://…, gs://…) that all workers reach; default: the run folder."),
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="Decision policy (YAML); default: the one that ships.")] = None,
    rules: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Rules of the agent's policy that `agenthard policy accept` wrote."),
    ] = None,
    checkout: CheckoutOption = None,
    allow_weak_isolation: WeakIsolationOption = False,
    select: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=complete_rule,
            help="Run only this check, category or component; repeatable.",
        ),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            autocompletion=complete_rule,
            help="Leave out this check, category or component; repeatable.",
        ),
    ] = None,
    experimental: Annotated[
        bool,
        typer.Option("--experimental", help="Also run experimental checks (no true finding on real benchmarks yet)."),
    ] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="Earlier run folder: only confirmed defects that are not in it count as new.")
    ] = None,
    reuse: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep results by content in this file, and check only what has changed since the audits that used it.",
        ),
    ] = None,
    profile: Annotated[
        bool, typer.Option("--profile", help="Also print where the time went, by stage and by check.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Audit a benchmark: find flawed tasks with evidence, decide, and write a cleaned split and a report.

    The same command continues an interrupted audit. Exit codes: 0 clean, 1 new confirmed defects, 2 incomplete,
    3 infrastructure, 64 usage. Unchecked tasks (no deciding check could run) are listed and do not change it.
    What is not given comes from `agenthard.toml`, which `agenthard init` writes.

    Example: `agenthard audit native demo-run/demo-benchmark --runs demo-run/demo-benchmark/runs.jsonl`
    """
    from agenthard.flows.audit_outputs import AuditOutcome, new_defects
    from agenthard.flows.audit_plan import AuditInput, AuditSettings
    from agenthard.flows.errors import CommandError, ExitCode, InfrastructureError
    from agenthard.flows.profile import read_profile, recorded_stages
    from agenthard.flows.progress import current, show_progress
    from agenthard.flows.scale_out.settings import ScaleOut
    from agenthard.taxonomy.system import cpu_count

    config = _config(source)
    source = source or config.source
    if source is None:
        raise CommandError(
            "name the source and the folder of the benchmark: `agenthard audit SOURCE PATH`; or write agenthard.toml, "
            "as `agenthard init PATH` does"
        )
    baseline = baseline or (Path(config.baseline) if config.baseline else None)
    if rules is not None:
        _check_rules(rules)
    settings = AuditSettings(
        source=source,
        path=str(path or config.path or _fetched(source)),
        domains=tuple(domain or config.domains),
        runs=tuple(map(str, runs or config.runs)),
        experiments=tuple(experiment or ()),
        out=str(out or config.out or ""),
        workers=workers or config.workers or cpu_count(),
        policy=str(policy) if policy else config.policy,
        checkout=str(checkout) if checkout else config.checkout,
        weak_isolation=allow_weak_isolation,
        policy_rules=str(rules) if rules else None,
        experimental=experimental or config.checks.experimental,
        select=tuple(select or config.checks.select),
        ignore=tuple(ignore or config.checks.ignore),
        suppressions=config.suppressions,
        reuse=str(reuse) if reuse else None,
        scale_out=ScaleOut(runner=runner, address=address, store=store),
    )
    settings.scale_out.check()
    settings.checks()
    with show_progress(error_console()):
        current().start(f"reading {source}")
        given = AuditInput(settings)
        if not settings.out:
            settings = settings.model_copy(update={"out": str(Path("runs") / f"{source}-{given.version.content_hash}")})
        given = AuditInput(settings, given.source)
    _check_inputs(settings)
    try:
        with show_progress(error_console()), recorded_stages() as stages:
            from agenthard.flows.audit_flow import run_audit

            outcome: AuditOutcome = run_audit(given)
    except KeyboardInterrupt:
        raise InfrastructureError(
            "interrupted; finished shards are kept: the same command continues from there"
        ) from None
    new = new_defects(Path(settings.out), baseline)
    found = read_profile(Path(settings.out), stages) if profile else None
    if as_json:
        times = {"profile": found} if found else {}
        print_json({**outcome.model_dump(mode="json"), "new_confirmed_defects": new, **times})
    else:
        show_outcome(outcome, settings, new, baseline)
        if found:
            show_profile(found)
    if new:
        raise typer.Exit(ExitCode.DEFECTS)
    if outcome.incomplete:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _check_rules(file: Path) -> None:
    """Read a file of accepted rules before anything starts.

    Raises:
        CommandError: It cannot be read.
    """
    from agenthard.audit.execution.policy.proposals import RuleFileError, read_accepted
    from agenthard.flows.errors import CommandError

    try:
        read_accepted(file)
    except RuleFileError as error:
        raise CommandError(str(error)) from error


def _config(source: str | None) -> "ProjectConfig":
    """Read the configuration of the current folder; one of another benchmark than the one that is named is not used."""
    from agenthard.flows.project_config import ProjectConfig, find_config

    found = find_config(Path())
    if found is None:
        return ProjectConfig()
    file, config = found
    if source is not None and config.source not in (None, source):
        log.info("%s is about %s, and is not used for %s", file, config.source, source)
        return ProjectConfig()
    log.info("configuration: %s", file)
    return config


def _fetched(source: str) -> Path:
    from agenthard.audit.sources.fetch import fetched
    from agenthard.flows.errors import CommandError

    found = fetched(source)
    if not found:
        raise CommandError(f"give the folder of the benchmark: `agenthard audit {source} PATH`")
    return found[-1].data


def _check_inputs(settings: "AuditSettings") -> None:
    """Check paths and files before Prefect starts, so that a wrong one is refused at once."""
    from agenthard.audit.decisions.policy import load_policy
    from agenthard.flows.errors import CommandError

    settings.check_checkout()
    load_policy(Path(settings.policy) if settings.policy else None)
    for runs in settings.runs:
        if not Path(runs).exists():
            raise CommandError(f"{runs}: no runs at this path")


def show_outcome(
    outcome: "AuditOutcome",
    settings: "AuditSettings",
    new: int,
    baseline: Path | None,
) -> None:
    """Print what a reader needs in thirty seconds."""
    from rich.markup import escape

    from agenthard.flows.audit_plan import AuditPlan
    from agenthard.flows.run_folder import RunFolder

    out = console()
    out.print(f"[bold]{outcome.source}[/] {escape(outcome.benchmark)}: {_there(outcome)} tasks", highlight=False)
    left_out = f" + left out {outcome.tasks_left_out:,}" if outcome.tasks_left_out else ""
    out.print(
        f"  checked {outcome.checked:,} + not checked {outcome.not_checked:,} + quarantined {outcome.quarantined:,} "
        f"+ not read {outcome.tasks_not_read:,}{left_out} = {_there(outcome)}; "
        f"{outcome.check_errors:,} checks ended in an error"
    )
    if outcome.reused is not None:
        now = outcome.tasks - outcome.reused
        out.print(f"  checked now: {now:,} tasks; equal to those of an earlier audit: {outcome.reused:,}")
    _show_doubts(outcome)
    _show_not_read(outcome)
    out.print(f"  isolation of executed benchmark code: {outcome.isolation}", highlight=False, markup=False)
    tiers = ", ".join(f"{count:,} {tier}" for tier, count in outcome.findings.items())
    against = f"; {new:,} confirmed defects that are not in {baseline}" if baseline else ""
    out.print(f"  findings: {tiers}{against}")
    levels = ", ".join(f"{level} {count:,}" for level, count in outcome.levels.items())
    out.print(f"  level of the cause (confirmed and suspected): {levels}")
    out.print(
        f"  decisions: keep {outcome.decisions['keep']:,}, unchecked {outcome.decisions['unchecked']:,}, "
        f"review {outcome.decisions['review']:,}, drop {outcome.decisions['drop']:,} of {outcome.tasks:,}; "
        f"cleaned split {outcome.split_id} with {outcome.kept:,} tasks "
        "(unchecked tasks, and those under review, stay in until a person decides)"
    )
    reach = ", ".join(f"{kind} {tasks:,} of {outcome.tasks:,}" for kind, tasks in outcome.deciding.items())
    out.print(f"  deciding checks ran on: {reach}" + ("" if "judge" in outcome.deciding else "; no judge was asked"))
    _show_not_asked(outcome, settings)
    if outcome.tickets:
        out.print(f"  tickets (causes that tasks share): {outcome.tickets:,}")
    folder = RunFolder(Path(settings.out))
    if outcome.runs:
        plan = AuditPlan.model_validate_json((folder.work / "plan.json").read_bytes())
        out.print(
            f"  runs: {outcome.runs:,}, of which {outcome.infrastructure_errors:,} infrastructure errors "
            f"(no failures of the model); {outcome.quarantined_runs:,} records not usable"
        )
        _show_models(plan)
    out.print(f"\nreport     {outcome.report}\nsplit      {folder.split / 'cleaned'}\ntables     {folder.tables}")
    out.print(f"SARIF      {folder.root / 'results.sarif'}\nquarantine {folder.root / 'quarantine.jsonl'}")
    show_first(folder.root)


def show_profile(profile: "Profile") -> None:
    """Print where the time of an audit went, in tables of at most 80 columns."""
    from agenthard.flows.profile import check_rows, stage_rows

    typer.echo("")
    print_table("time by stage", ("stage", "seconds", "share"), stage_rows(profile), right=("seconds", "share"))
    typer.echo("")
    columns = ("check", "seconds", "executing", "share", "ms per task")
    print_table(f"time by check ({profile.tasks:,} tasks)", columns, check_rows(profile), right=columns[1:])
    typer.echo("executing: seconds of these that a check waited for benchmark code")


def _show_not_asked(outcome: "AuditOutcome", settings: "AuditSettings") -> None:
    """State which checks did not run, and which findings do not count."""
    from agenthard.audit.detectors.registry import detectors
    from agenthard.reports.choices import choice_lines
    from agenthard.taxonomy.printable import printable_line

    out = console()
    off = len(detectors()) - len(detectors(experimental=settings.experimental))
    if off:
        out.print(f"  {off} experimental checks off (--experimental)", highlight=False)
    for text in choice_lines(outcome.suppressed, outcome.expired, outcome.not_asked):
        out.print(f"  {printable_line(text)}", markup=False, soft_wrap=True, highlight=False)
    for each in outcome.expired:
        log.warning("warning: a suppression has expired and counts again: %s", each)


def _there(outcome: "AuditOutcome") -> str:
    """Return the number of tasks in the benchmark; "at least" where a place cannot tell how many it holds."""
    unknown = any(item.tasks is None for item in outcome.not_read)
    return f"{'at least ' if unknown else ''}{outcome.tasks_there:,}"


def _show_doubts(outcome: "AuditOutcome") -> None:
    """Say why the mapping looks wrong, and why records could not be read."""
    from rich.markup import escape

    from agenthard.taxonomy.printable import printable_line

    for doubt in outcome.mapping_doubts:
        text = f"this looks like a wrong mapping: {doubt}"
        console().print(f"  [bold red]{escape(printable_line(text))}[/]", soft_wrap=True, highlight=False)
    if outcome.mapping_doubts:
        text = "nothing is confirmed: correct the mapping, or write `verified: true` into it when its tasks are right"
        console().print(f"  {text}", soft_wrap=True, highlight=False)
    for reason in outcome.quarantine_reasons:
        console().print(f"  quarantined: {escape(printable_line(reason))}", soft_wrap=True, highlight=False)


def _show_not_read(outcome: "AuditOutcome") -> None:
    """Name what was not read, the gaps before what was left out on purpose."""
    from rich.markup import escape

    from agenthard.taxonomy.printable import printable_line

    ordered = sorted(outcome.not_read, key=lambda item: (item.left_out, not item.is_gap))
    for item in ordered[:MOST_NOT_READ]:
        count = "" if item.tasks is None else f" ({item.tasks:,} task{'' if item.tasks == 1 else 's'})"
        text = f"{'left out' if item.left_out else 'not read'}: {item.file}{count}: {item.reason}"
        console().print(f"  {escape(printable_line(text))}", soft_wrap=True)
    if len(ordered) > MOST_NOT_READ:
        console().print(f"  and {len(ordered) - MOST_NOT_READ:,} more places: tables/not_read.parquet names them")


def _show_models(plan: "AuditPlan") -> None:
    rows = []
    for row in plan.models:
        scored = row.runs - row.infrastructure_errors - row.unscored
        accuracy = "undefined" if row.accuracy is None else f"{row.accuracy:.3f} [{row.low:.3f}, {row.high:.3f}]"
        rows.append(
            (
                row.model,
                row.protocol,
                f"{row.passed}/{scored}",
                accuracy,
                f"{row.passed}/{row.runs - row.unscored} = {row.accuracy_counting_errors:.3f}",
                str(row.infrastructure_errors),
                str(row.tasks),
            )
        )
    columns = ("model", "experiment", "passed", "accuracy [95 % Wilson]", "errors as failures", "errors", "tasks")
    print_table("", columns, rows, right=("passed", "errors", "tasks", "errors as failures"))
