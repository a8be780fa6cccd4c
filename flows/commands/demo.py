"""``agenthard demo``: the main job on a small benchmark with known flaws, then on public ones."""

import sys
from contextlib import nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agenthard.flows.commands.output import JsonOption, console, error_console, print_json

if TYPE_CHECKING:
    from agenthard.flows.audit_outputs import AuditOutcome
    from agenthard.flows.evaluation.publish import EvaluationOutcome
    from agenthard.flows.report import ReportOutcome

SUBSET = ("multi_turn_base",)
"""The part of BFCL v3 that is audited without ``--full``: 200 tasks, all of them executed."""


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the demo's benchmarks and runs.")] = Path("demo-run"),
    offline: Annotated[bool, typer.Option("--offline", help="Leave out the public benchmark.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Audit all of BFCL v3, and run the loop of ACE-Bench.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Audit a small benchmark with planted flaws, report on its leaderboard, then execute part of BFCL v3.

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
    console().print("\nopen in a browser:")
    for page in pages:
        console().print(f"  {page}", markup=False)


def _run_steps(out: Path, offline: bool, full: bool) -> tuple[dict[str, Any], list[str]]:
    """Run the demo; return what ``--json`` prints, and the pages that were written."""
    steps = 2 + (not offline) + full
    result: dict[str, Any] = {}
    _announce(1, steps, "a benchmark of 60 tasks with planted flaws, and 960 runs of 8 simulated models: a few seconds")
    outcomes = {"demo": _audit_demo(out)}
    _show_seeded("demo", out, result)
    _show_first_finding(out / "demo")
    _announce(2, steps, "what cleaning does to its leaderboard: about ten seconds")
    pages = [outcomes["demo"].report, _show_report(out / "demo", result)]
    reason = "--offline was given" if offline else _audit_bfcl(out, outcomes, full, f"3 of {steps}")
    if reason is not None:
        error_console().print(f"BFCL was left out: {reason}")
    else:
        pages.append(outcomes["bfcl"].report)
    if full:
        _announce(steps, steps, "an ACE-Bench suite, generated, made wrong in places, played and cleaned: a minute")
        evaluation = result["ace_evaluation"] = _evaluate_ace(out)
        outcomes["ace"] = _audit("ace", out / "ace-benchmark", (Path(evaluation.trajectories),), out / "ace")
        _show_seeded("ace", out, result)
        pages += [evaluation.report, outcomes["ace"].report, _show_report(out / "ace", result)]
    return {"outcomes": outcomes, "bfcl_left_out": reason, **result}, pages


def _announce(step: int, steps: int, what: str) -> None:
    error_console().print(f"[{step} of {steps}] {what}", markup=False)


def _show_seeded(name: str, out: Path, result: dict[str, Any]) -> None:
    """Compare an audit with the answer key of its benchmark."""
    from agenthard.flows.demo import score_audit

    planted, missed = score_audit(out / f"{name}-benchmark", out / name)
    result[name] = {"seeded_flaws": planted, "missed": missed}
    console().print(f"{name}: {planted} flaws seeded, {planted - len(missed)} found")
    for miss in missed:
        console().print(f"  missed: {miss}", markup=False)


def _show_first_finding(run: Path) -> None:
    """Print one finding as ``agenthard explain`` does: a confirmed one that affects the score, with short quotes."""
    from agenthard.audit.decisions.policy import is_confirmed_defect
    from agenthard.flows.audited_run import read_findings
    from agenthard.flows.commands.explain import explain_finding
    from agenthard.taxonomy.finding import Finding, Severity

    def rank(finding: Finding) -> tuple[bool, int]:
        return finding.severity is not Severity.AFFECTS_SCORE, sum(len(item.quote) for item in finding.evidence)

    first = min(filter(is_confirmed_defect, read_findings(run)), key=rank, default=None)
    if first is not None:
        console().print(f"\none of the findings (agenthard explain {first.id}):\n", markup=False)
        explain_finding(first.id, run, as_json=False)
        console().print("")


def _show_report(run: Path, result: dict[str, Any]) -> str:
    """Report what cleaning does to the leaderboard; return the page."""
    report = _report(run)
    result[run.name]["report"] = report
    console().print(report.sentence, markup=False)
    return f"{report.folder}/report.html"


def _audit_bfcl(out: Path, outcomes: "dict[str, AuditOutcome]", full: bool, step: str) -> str | None:
    """Audit BFCL v3, or its subset; return why it was left out, or None."""
    from agenthard.audit.sources.fetch import FetchError, fetch

    what = "all 4,441 tasks of BFCL v3: some minutes" if full else "200 multi-turn tasks of BFCL v3: half a minute"
    error_console().print(f"[{step}] {what}, executed by its own code, which is fetched first", markup=False)
    try:
        fetched = fetch("bfcl")
    except FetchError as error:
        return str(error)
    outcomes["bfcl"] = _audit("bfcl", fetched.data, (), out / "bfcl", () if full else SUBSET)
    return None


def _audit_demo(out: Path) -> "AuditOutcome":
    from agenthard.flows.demo import write_demo

    folder = out / "demo-benchmark"
    write_demo(folder)
    return _audit("native", folder, (folder / "runs.jsonl",), out / "demo")


def _evaluate_ace(out: Path) -> "EvaluationOutcome":
    """Generate the suite, make it wrong in places, and let agents play it."""
    from agenthard.flows.commands.evaluate import show_outcome
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
    show_outcome(outcome)
    console().print("")
    return outcome


def _audit(source: str, path: Path, runs: tuple[Path, ...], out: Path, domains: tuple[str, ...] = ()) -> "AuditOutcome":
    from agenthard.flows.audit_flow import run_audit
    from agenthard.flows.audit_outputs import new_defects
    from agenthard.flows.audit_plan import AuditInput, AuditSettings
    from agenthard.flows.commands.audit import show_outcome
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
        outcome = run_audit(AuditInput(settings))
    show_outcome(outcome, settings, new_defects(out, None), None)
    console().print("")
    return outcome


def _report(run: Path) -> "ReportOutcome":
    from agenthard.flows.report import ReportSettings
    from agenthard.flows.report_flow import run_report

    return run_report(ReportSettings(run=str(run)))
