"""``agenthard check``: the fast check of a benchmark's files, for editors, pre-commit and pull requests."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.completion import complete_rule, complete_source
from agenthard.flows.commands.output import JsonOption, error_console, print_json
from agenthard.flows.logs import log
from agenthard.taxonomy.finding import Tier

if TYPE_CHECKING:
    from agenthard.flows.audit_plan import AuditSettings
    from agenthard.flows.run_findings import ListedFinding
    from agenthard.flows.static_check import StaticChecks
    from agenthard.reports.result import AuditResult


def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Print only findings in these files; default: in all.", show_default=False),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            metavar="SOURCE",
            autocompletion=complete_source,
            help="Name of the source; default: that of agenthard.toml, else the one that recognises the folder.",
        ),
    ] = None,
    path: Annotated[
        Path | None, typer.Option(help="Folder of the benchmark; default: that of agenthard.toml, else this folder.")
    ] = None,
    baseline: Annotated[Path | None, typer.Option(help="File with known findings, which are not printed.")] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Write all findings into the baseline, as known ones.")
    ] = False,
    tier: Annotated[
        list[Tier] | None, typer.Option(help="Print findings this sure; repeatable; default: confirmed and suspected.")
    ] = None,
    select: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", autocompletion=complete_rule, help="Run only this check, category or component."),
    ] = None,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", autocompletion=complete_rule, help="Leave out this check, category or component."),
    ] = None,
    sarif: Annotated[
        Path | None, typer.Option(help="Also write a SARIF log of all findings for code scanning.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; default: one per core.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Check a benchmark's files fast: nothing is executed, no run folder is written, runs of models are not read.

    Prints new findings as `file:line: [id] check severity tier: claim (N tasks)`. Exit codes: 0 none, 1 at least one,
    2 none, but something could not be read or checked.

    Example: `agenthard check --source native --path demo-run/demo-benchmark`
    """
    from agenthard.flows.errors import CommandError, ExitCode
    from agenthard.flows.progress import show_progress
    from agenthard.flows.static_check import check_benchmark, checked_files, read_baseline, write_baseline

    if update_baseline and (baseline is None or files):
        raise CommandError("--update-baseline writes all findings into the file that --baseline names: give no FILE")
    settings = _settings(source, path, select, ignore, workers)
    with show_progress(error_console()):
        result, plan = check_benchmark(settings)
    found = checked_files(result, plan, files or ())
    if sarif is not None:
        _write_sarif(result, sarif)
    if update_baseline and baseline is not None:
        write_baseline(baseline, result.findings)
        log.info("%s: %s known findings", baseline, f"{len(result.findings):,}")
        return
    known = read_baseline(baseline).findings if baseline is not None else {}
    sure = tier or [Tier.CONFIRMED, Tier.SUSPECTED]
    new = [each for each in found.findings if each.finding.id not in known and each.finding.tier in sure]
    _print(found, new, as_json)
    if new:
        raise typer.Exit(ExitCode.DEFECTS)
    if found.incomplete:
        raise typer.Exit(ExitCode.INCOMPLETE)


def _settings(
    source: str | None, path: Path | None, select: list[str] | None, ignore: list[str] | None, workers: int | None
) -> "AuditSettings":
    from agenthard.audit.sources.registry import detect_name
    from agenthard.flows.audit_plan import AuditSettings
    from agenthard.flows.project_config import ProjectConfig, find_config
    from agenthard.taxonomy.system import cpu_count

    at_hand = find_config(Path())
    config = at_hand[1] if at_hand else ProjectConfig()
    if source is not None and config.source not in (None, source):
        config = ProjectConfig()
    folder = path or Path(config.path or ".")
    return AuditSettings(
        source=source or config.source or detect_name(folder),
        path=str(folder),
        domains=config.domains,
        out="",
        workers=workers or config.workers or cpu_count(),
        policy=config.policy,
        experimental=config.checks.experimental,
        select=tuple(select or config.checks.select),
        ignore=tuple(ignore or config.checks.ignore),
        suppressions=config.suppressions,
    )


def _write_sarif(result: "AuditResult", path: Path) -> None:
    import json
    from tempfile import TemporaryDirectory

    from agenthard.flows.code_scanning import BASES, for_code_scanning, repository_of
    from agenthard.reports.sarif import write_sarif
    from agenthard.taxonomy.files import write_text

    with TemporaryDirectory() as folder:
        whole = Path(folder) / "results.sarif"
        write_sarif(result, whole)
        document = json.loads(whole.read_bytes())
    ready = for_code_scanning(document, {BASES[0]: result.root}, repository_of(result.root))
    write_text(path, json.dumps(ready, ensure_ascii=False, indent=1) + "\n")


def _print(found: "StaticChecks", new: "list[ListedFinding]", as_json: bool) -> None:
    from agenthard.flows.finding_formats import as_data, line

    if as_json:
        summary = found.model_dump(mode="json", exclude={"findings"})
        print_json({"findings": [as_data(item) for item in new], "known": len(found.findings) - len(new), **summary})
        return
    for item in new:
        typer.echo(line(item))
    log.info(
        "%s new findings in %s tasks; %s records not readable, %s tasks not read, %s checks ended in an error; "
        "%s checks did not run, because they need execution or runs (agenthard audit)",
        *(f"{count:,}" for count in (len(new), found.tasks, found.quarantined, found.tasks_not_read, found.errors)),
        f"{len(found.not_run):,}",
    )
