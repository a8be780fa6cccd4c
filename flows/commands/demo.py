"""``agenthard demo``: the main job on a small benchmark with known flaws, then on public ones."""

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.first_findings import commands
from agenthard.flows.commands.output import JsonOption, error_console, print_json
from agenthard.flows.logs import log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agenthard.flows.audit_outputs import AuditOutcome
    from agenthard.flows.demo import ScoredEntry
    from agenthard.flows.evaluation.publish import EvaluationOutcome
    from agenthard.flows.report import ReportOutcome

WIDTH = 80
"""Columns that the demo needs."""
CONTEXT = 20
"""Characters before and after a quote that are shown with it."""
WORST_FIRST = ("drop", "review", "unchecked", "keep")
"""Decisions."""
SUBSET = ("multi_turn_base",)
"""The part of BFCL v3 that is audited without ``--full``: 200 tasks, all of them executed."""


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the demo's benchmarks and runs.")] = Path("demo-run"),
    offline: Annotated[bool, typer.Option("--offline", help="Leave out the public benchmark.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Audit all of BFCL v3, and run the loop of ACE-Bench.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Audit a small benchmark and rooms with planted flaws, report on a leaderboard, then execute part of BFCL v3.

    The first result is there after seconds. `--full` audits all of BFCL v3 (minutes), and generates an ACE-Bench suite,
    makes it wrong in places, lets agents without a model play it, audits it with the runs and cleans it. Needs no key.
    Without a network BFCL is left out, and the command says so.

    Example: `agenthard demo --offline --out demo-run`
    """
    with redirect_stdout(sys.stderr) if as_json else nullcontext():
        result, pages = _run_steps(out, offline, full)
    if as_json:
        print_json(result)
        return
    typer.echo(f"\n{commands(out / 'demo', None)}")
    for page in pages:
        typer.echo(f"page       {page}")


def _run_steps(out: Path, offline: bool, full: bool) -> tuple[dict[str, Any], list[str]]:
    """Run the demo; return what ``--json`` prints, and the pages that were written."""
    steps = 2 + (not offline) + full
    result: dict[str, Any] = {}
    _announce(1, steps, "audit 60 tasks and 14 rooms with planted flaws, 960 simulated runs")
    outcomes = {"demo": _audit_demo(out)}
    _show_planted("demo", out, result, outcomes["demo"])
    _show_gravest(out / "demo")
    outcomes["rooms"] = _audit_rooms(out)
    _show_planted("rooms", out, result, outcomes["rooms"], "rooms")
    _announce(2, steps, "what cleaning does to the leaderboard: about ten seconds")
    pages = [outcomes["demo"].report, _show_report(out / "demo", result)]
    reason = "--offline was given" if offline else _audit_bfcl(out, outcomes, full, f"3 of {steps}")
    if reason is not None:
        _say(f"BFCL was left out: {reason}", err=True)
    else:
        pages.append(outcomes["bfcl"].report)
    if full:
        _announce(steps, steps, "an ACE-Bench suite with planted flaws, played and cleaned: a minute")
        evaluation = result["ace_evaluation"] = _evaluate_ace(out)
        outcomes["ace"] = _audit("ace", out / "ace-benchmark", (Path(evaluation.trajectories),), out / "ace")
        _show_planted("ace", out, result, outcomes["ace"])
        pages += [evaluation.report, outcomes["ace"].report, _show_report(out / "ace", result)]
    return {"outcomes": outcomes, "bfcl_left_out": reason, **result}, pages


def _say(text: str, *, err: bool = False) -> None:
    """Print a paragraph, at most 80 columns wide."""
    for line in text.splitlines() or [""]:
        typer.echo("\n".join(wrap(line, WIDTH, break_long_words=False, break_on_hyphens=False)), err=err)


def _announce(step: int, steps: int, what: str) -> None:
    log.info("[%s of %s] %s", step, steps, what)


def _show_planted(name: str, out: Path, result: dict[str, Any], outcome: "AuditOutcome", tasks: str = "tasks") -> None:
    """Show what was planted into a benchmark, which check found it, and what was decided."""
    from agenthard.flows.demo import score_audit

    scored = score_audit(out / f"{name}-benchmark", out / name)
    missed = [f"{each.entry.check} on {', '.join(each.missed)}" for each in scored if each.missed]
    result[name] = {"seeded_flaws": len(scored), "missed": missed}
    if name == "demo":
        _show_table(out / name, scored)
    decided = ", ".join(f"{word} {count:,}" for word, count in outcome.decisions.items())
    _say(f"{len(scored)} flaws planted, {len(scored) - len(missed)} found; of {outcome.tasks:,} {tasks} {decided}")


def _show_table(run: Path, scored: "Sequence[ScoredEntry]") -> None:
    from agenthard.flows.audited_run import read_decisions, read_report

    action = {decision.task_id: decision.action for decision in read_decisions(run)}
    tickets = {ticket["check"] for ticket in read_report(run)["tickets"]}
    typer.echo(f"{'planted':<44} {'found by':<27} decided")
    for each in scored:
        worst = min((action[task] for task in each.entry.task_ids), key=WORST_FIRST.index)
        decided = "ticket" if worst in ("keep", "unchecked") and each.entry.check in tickets else worst
        typer.echo(f"{each.entry.change:<44} {'(missed)' if each.missed else each.entry.check:<27} {decided}")


def _show_gravest(run: Path) -> None:
    """Show the gravest finding that rests on two quotes: its claim, and both quotes in short."""
    from agenthard.audit.decisions.gravest import gravest_first
    from agenthard.flows.run_findings import RunFindings
    from agenthard.taxonomy.printable import printable_line

    known = RunFindings(run)
    for finding in [each for each in gravest_first(known.findings) if len(each.evidence) == 2][:1]:
        _say(f"One of them, {finding.id}: {finding.claim}")
        for quote in known.listed(finding).quotes:
            before, after = known.around(quote)
            words = f"{before[-CONTEXT:]}{quote.text}{after[:CONTEXT]}"
            typer.echo(shorten(printable_line(f"  {Path(quote.file).name}:{quote.line} … {words}"), WIDTH))


def shorten(text: str, width: int) -> str:
    """Cut a text to a number of characters.

    >>> shorten("abcdef", 4)
    'abc…'
    """
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _show_report(run: Path, result: dict[str, Any]) -> str:
    """Report what cleaning does to the leaderboard; return the page."""
    report = _report(run)
    result[run.name]["report"] = report
    _say(report.sentence)
    return f"{report.folder}/report.html"


def _audit_bfcl(out: Path, outcomes: "dict[str, AuditOutcome]", full: bool, step: str) -> str | None:
    """Audit BFCL v3, or its subset; return why it was left out, or None."""
    from agenthard.audit.sources.fetch import FetchError, fetch
    from agenthard.flows.progress import current, show_progress

    what = "all 4,441 tasks of BFCL v3: minutes" if full else "200 tasks of BFCL v3: half a minute"
    log.info("[%s] %s, executed by its own code", step, what)
    try:
        with show_progress(error_console()):
            current().start("fetching bfcl")
            fetched = fetch("bfcl")
    except FetchError as error:
        return str(error)
    outcomes["bfcl"] = _audit("bfcl", fetched.data, (), out / "bfcl", () if full else SUBSET)
    decided = ", ".join(f"{word} {count:,}" for word, count in outcomes["bfcl"].decisions.items())
    _say(f"BFCL v3: {outcomes['bfcl'].confirmed:,} confirmed defects; of {outcomes['bfcl'].tasks:,} tasks {decided}")
    return None


def _audit_demo(out: Path) -> "AuditOutcome":
    from agenthard.flows.demo import write_demo

    folder = out / "demo-benchmark"
    write_demo(folder)
    return _audit("native", folder, (folder / "runs.jsonl",), out / "demo")


def _audit_rooms(out: Path) -> "AuditOutcome":
    from agenthard.flows.demo import write_room_demo

    folder = out / "rooms-benchmark"
    write_room_demo(folder)
    return _audit("escape", folder, (), out / "rooms")


def _evaluate_ace(out: Path) -> "EvaluationOutcome":
    """Generate the suite, make it wrong in places, and let agents play it."""
    from agenthard.flows.demo import write_ace_demo
    from agenthard.flows.demo.ace_suite import AGENTS, TRIALS
    from agenthard.flows.evaluation.flow import run_evaluation
    from agenthard.flows.evaluation.settings import EvaluationSettings
    from agenthard.flows.progress import show_progress
    from agenthard.taxonomy.system import cpu_count

    folder = out / "ace-benchmark"
    write_ace_demo(folder)
    settings = EvaluationSettings(
        benchmark="ace",
        path=str(folder),
        agents=AGENTS,
        trials=TRIALS,
        out=str(out / "ace-evaluation"),
        workers=cpu_count(),
    )
    with show_progress(error_console()):
        outcome = run_evaluation(settings)
    _say(outcome.sentence)
    return outcome


def _audit(source: str, path: Path, runs: tuple[Path, ...], out: Path, domains: tuple[str, ...] = ()) -> "AuditOutcome":
    from agenthard.flows.audit_flow import run_audit
    from agenthard.flows.audit_plan import AuditInput, AuditSettings
    from agenthard.flows.progress import show_progress
    from agenthard.taxonomy.system import cpu_count

    settings = AuditSettings(
        source=source,
        path=str(path),
        domains=domains,
        runs=tuple(map(str, runs)),
        out=str(out),
        workers=cpu_count(),
        experimental=True,
    )
    with show_progress(error_console()):
        return run_audit(AuditInput(settings))


def _report(run: Path) -> "ReportOutcome":
    from agenthard.flows.report import ReportSettings
    from agenthard.flows.report_flow import run_report

    return run_report(ReportSettings(run=str(run)))
