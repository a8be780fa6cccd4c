"""``agenthard replay``: what a ground truth, a wrong answer, or the proof of a finding does, step by step."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.options import CheckoutOption, WeakIsolationOption
from agenthard.flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from agenthard.audit.execution.context import Execution
    from agenthard.flows.audit_plan import AuditSettings
    from agenthard.flows.replay import Rechecked, Replayed

SHOWN = 400


def replay(
    where: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE [PATH] TASK",
            help="Name of the source, folder of the benchmark (default: downloaded by `agenthard fetch`), task id.",
        ),
    ] = None,
    mutant: Annotated[
        str | None, typer.Option(help="Id of a changed ground truth, as findings name it; ? lists them.")
    ] = None,
    check: Annotated[str | None, typer.Option(help="Run this check again, and show what it finds on the task.")] = None,
    finding: Annotated[str | None, typer.Option(help="Id of a finding: re-execute its proof, or its check.")] = None,
    run: Annotated[
        Path | None, typer.Option(help="With --finding: run folder of the audit; default: the newest that has it.")
    ] = None,
    domain: Annotated[list[str] | None, typer.Option(help="With --check: read only this domain; repeatable.")] = None,
    runs: Annotated[list[Path] | None, typer.Option(help="With --check: file or folder of runs; repeatable.")] = None,
    experiment: Annotated[
        list[str] | None, typer.Option(help="With --check: read only runs of this experiment; repeatable.")
    ] = None,
    checkout: CheckoutOption = None,
    allow_weak_isolation: WeakIsolationOption = False,
    full: Annotated[bool, typer.Option("--full", help="Do not shorten responses and values.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Replay a task's ground truth in its own environment: calls, responses, changes of the state, verdict.

    With --check, run a check again on the task and show what it finds; exit code 1 when it no longer finds anything.
    With --finding, re-execute what a finding rests on.

    Example: `agenthard replay ace ace-suite course_r5_c7_h3_b2`
    """
    from agenthard.flows.audit_plan import AuditSettings
    from agenthard.flows.errors import CommandError, ExitCode

    width = None if full else SHOWN
    if finding is not None:
        from agenthard.flows.runs_at_hand import find_run

        if where or mutant or check:
            raise CommandError("--finding says which task and check; give no other")
        _replay_finding(finding, find_run(finding, run), allow_weak_isolation, width, as_json)
        return
    source, path, task = _where(where or [])
    settings = AuditSettings(
        source=source,
        path=str(path),
        domains=tuple(domain or ()),
        runs=tuple(map(str, runs or ())),
        experiments=tuple(experiment or ()),
        out="",
        checkout=str(checkout) if checkout else None,
        weak_isolation=allow_weak_isolation,
    )
    with _execution(settings) as execution, execution.active():
        if check is not None:
            if not _recheck(settings, execution, task, check, None, width, as_json):
                raise typer.Exit(ExitCode.DEFECTS)
        elif mutant == "?":
            _list_mutants(settings, task, as_json)
        else:
            from agenthard.flows.replay import find_task, replay_task

            _show(replay_task(find_task(source, path, task), mutant), execution, width, as_json)


def _where(words: list[str]) -> tuple[str, Path, str]:
    from agenthard.audit.sources.fetch import fetched
    from agenthard.flows.errors import CommandError

    if len(words) == 3:
        return words[0], Path(words[1]), words[2]
    if len(words) != 2:
        raise CommandError("expected SOURCE [PATH] TASK, such as `agenthard replay tau2 airline/0`, or --finding ID")
    found = fetched(words[0])
    if not found:
        raise CommandError(f"give the folder of the benchmark: `agenthard replay {words[0]} PATH {words[1]}`")
    return words[0], found[-1].data, words[1]


def _execution(settings: "AuditSettings") -> "Execution":
    settings.check_checkout()
    return settings.execution()


def _list_mutants(settings: "AuditSettings", task: str, as_json: bool) -> None:
    from agenthard.flows.replay import find_task, list_mutants

    listed = list_mutants(find_task(settings.source, Path(settings.path), task))
    if as_json:
        print_json([{"id": each.id, "truth": each.truth.value, "change": each.change} for each in listed])
    for each in [] if as_json else listed:
        typer.echo(f"{each.truth.value:<11} {each.id}  {each.change}")


def _replay_finding(identity: str, run: Path, weak: bool, width: int | None, as_json: bool) -> None:
    """Re-execute the proof of a finding; without one that can be executed, run its check again."""
    from agenthard.audit.detectors.registry import detectors
    from agenthard.flows.audit_plan import AuditSettings
    from agenthard.flows.errors import CommandError, ExitCode
    from agenthard.flows.replay import find_task, replay_proof
    from agenthard.flows.run_findings import RunFindings

    settings_file = run / "work" / "settings.json"
    if not settings_file.is_file():
        raise CommandError(f"{run}: work/settings.json is missing, so the benchmark's place is unknown; audit again")
    settings = AuditSettings.model_validate_json(settings_file.read_bytes())
    settings = settings.model_copy(update={"weak_isolation": weak or settings.weak_isolation})
    finding = RunFindings(run).find(identity)
    assert finding is not None, "find_run returns a folder that has it"
    proof = finding.proof
    if not as_json:
        typer.echo(f"{finding.id} {finding.check}: {finding.claim}\n")
    if proof is not None and proof.kind == "constructed":
        with _execution(settings) as execution, execution.active():
            shown = replay_proof(find_task(settings.source, Path(settings.path), proof.task_id), proof)
            _show(shown, execution, width, as_json)
        if shown.verdict.passed == shown.should_pass:
            raise typer.Exit(ExitCode.DEFECTS)
        return
    if finding.check not in {detector.id for detector in detectors()}:
        raise CommandError(
            f"{finding.check} is not a check that can run again (a judge's replies are not repeated); "
            f"`agenthard show {run} {finding.id}` shows the quoted lines"
        )
    task_id = (finding.task_ids or finding.also_in)[0]
    with _execution(settings) as execution:
        found = _recheck(settings, execution, task_id, finding.check, finding.id, width, as_json)
    if not found:
        raise typer.Exit(ExitCode.DEFECTS)


def _recheck(
    settings: "AuditSettings",
    execution: "Execution",
    task: str,
    check: str,
    identity: str | None,
    width: int | None,
    as_json: bool,
) -> bool:
    """Run a check again; tell whether it finds what was asked for."""
    from agenthard.flows.replay import recheck

    result = recheck(settings, task, check, execution)
    found = [shown for shown in result.found if identity in (None, shown.finding.id)]
    result = result.model_copy(update={"found": tuple(found)})
    if as_json:
        print_json(result)
    else:
        _show_recheck(result, width)
        _show_isolation(execution)
    return bool(found)


def _show_recheck(result: "Rechecked", width: int | None) -> None:
    head = f"{result.check} (version {result.version}) on {result.task}"
    if result.reason:
        typer.echo(f"{head}: not checked: {result.reason}")
    elif not result.found:
        typer.echo(f"{head}: finds nothing")
    for shown in result.found:
        finding = shown.finding
        typer.echo(f"{head}: {finding.tier.value}, {finding.severity.value}, finding {finding.id}\n{finding.claim}")
        for item in shown.quotes:
            place = item.place or item.evidence.pointer
            typer.echo(f"\n{place}{f' ({item.evidence.note})' if item.evidence.note else ''}")
            typer.echo(f"    {_short(item.evidence.quote, width)}")
        typer.echo("")


def _short(value: object, width: int | None) -> str:
    from agenthard.audit.evidence import canonical_json

    text = value if isinstance(value, str) else canonical_json(value)
    return text if width is None or len(text) <= width else f"{text[:width]} … ({len(text):,} characters)"


def _show(result: "Replayed", execution: "Execution", width: int | None, as_json: bool) -> None:
    if as_json:
        print_json(result)
        return
    typer.echo(f"{result.task} in {result.environment}")
    if result.mutant:
        typer.echo(f"changed: {result.mutant.change}; it is {result.mutant.truth.value}: {result.mutant.why}")
    if result.not_executed:
        typer.echo(result.not_executed)
    for step in result.steps:
        typer.echo(f"\n{step.turn}.{step.index} {step.call.name} {_short(step.call.arguments, width)}")
        typer.echo(f"    {'fails' if step.error else 'gives'}: {_short(step.response, width)}")
        for change in step.changes:
            typer.echo(f"    {change.pointer}: {_short(change.before, width)} → {_short(change.after, width)}")
        if not step.changes:
            typer.echo("    changes nothing")
    for reply in result.replies:
        typer.echo(f"\nsays: {_short(reply, width)}")
    parts = ", ".join(f"{name} {'passes' if passed else 'fails'}" for name, passed in result.verdict.parts.items())
    typer.echo(f"\nverdict: {'passed' if result.verdict.passed else 'rejected'}{f' ({parts})' if parts else ''}")
    if result.verdict.reason:
        typer.echo(f"    {result.verdict.reason}")
    if result.should_pass is not None:
        right = "rightly" if result.should_pass == result.verdict.passed else "wrongly"
        typer.echo(f"{right}: it has to be {'passed' if result.should_pass else 'rejected'}")
    _show_isolation(execution)


def _show_isolation(execution: "Execution") -> None:
    for used in execution.isolations_used():
        typer.echo(f"isolation: {used}")
