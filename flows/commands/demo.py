"""``agenthard demo``: the main job on a public benchmark and on two small ones with known flaws."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, console, error_console, print_json

if TYPE_CHECKING:
    from agenthard.flows.audit_outputs import AuditOutcome
    from agenthard.flows.evaluation.publish import EvaluationOutcome
    from agenthard.flows.report import ReportOutcome


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the demo's benchmarks and runs.")] = Path("demo-run"),
    offline: Annotated[bool, typer.Option("--offline", help="Leave out the public benchmark.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Audit BFCL v3, and two small benchmarks with seeded flaws: one written for the demo, and one of ACE-Bench.

    The ACE-Bench suite is generated, made wrong in places, played by agents without a model, audited with their runs
    and cleaned; the leaderboards before and after are reported. Needs no key. Without a network BFCL is left out, and
    the command says so.

    Example: `agenthard demo --offline --out demo-run`
    """
    outcomes: dict[str, AuditOutcome] = {}
    reason = "--offline was given" if offline else _audit_bfcl(out, outcomes)
    if reason is not None:
        error_console().print(f"BFCL was left out: {reason}")
    outcomes["demo"] = _audit_demo(out)
    planted, missed = _answer_key(out / "demo-benchmark", out / "demo")
    evaluation = _evaluate_ace(out)
    outcomes["ace"] = _audit("ace", out / "ace-benchmark", (Path(evaluation.trajectories),), out / "ace")
    ace_planted, ace_missed = _answer_key(out / "ace-benchmark", out / "ace")
    cleaning, ace_cleaning = _report(out / "demo"), _report(out / "ace")
    if as_json:
        print_json(
            {
                "outcomes": outcomes,
                "ace_evaluation": evaluation,
                "bfcl_left_out": reason,
                "seeded_flaws": planted,
                "missed": missed,
                "ace_seeded_flaws": ace_planted,
                "ace_missed": ace_missed,
                "report": cleaning,
                "ace_report": ace_cleaning,
            }
        )
        return
    console().print(f"seeded flaws: {planted}; tasks on which the check that should find one did not: {len(missed)}")
    found = ace_planted - len(ace_missed)
    console().print(f"ACE: {ace_planted} flaws seeded, {found} found")
    for miss in (*missed, *ace_missed):
        console().print(f"  missed: {miss}")
    for report in (cleaning, ace_cleaning):
        console().print(f"\n{report.sentence}", markup=False)
    console().print("\nopen in a browser:")
    audits = (outcome.report for outcome in outcomes.values())
    for page in (*audits, evaluation.report, f"{cleaning.folder}/report.html", f"{ace_cleaning.folder}/report.html"):
        console().print(f"  {page}", markup=False)


def _audit_bfcl(out: Path, outcomes: "dict[str, AuditOutcome]") -> str | None:
    """Audit BFCL v3; return why it was left out, or None."""
    from agenthard.audit.sources.fetch import FetchError, fetch

    error_console().print("fetching BFCL v3 from the package index ...")
    try:
        fetched = fetch("bfcl")
    except FetchError as error:
        return str(error)
    outcomes["bfcl"] = _audit("bfcl", fetched.data, (), out / "bfcl")
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


def _audit(source: str, path: Path, runs: tuple[Path, ...], out: Path) -> "AuditOutcome":
    from agenthard.flows.audit_flow import run_audit
    from agenthard.flows.audit_outputs import new_defects
    from agenthard.flows.audit_plan import AuditInput, AuditSettings
    from agenthard.flows.commands.audit import show_outcome
    from agenthard.flows.progress import show_progress
    from agenthard.taxonomy.system import cpu_count

    settings = AuditSettings(
        source=source,
        path=str(path),
        runs=tuple(map(str, runs)),
        out=str(out),
        workers=cpu_count(),
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


def _answer_key(benchmark: Path, run: Path) -> tuple[int, list[str]]:
    """Compare the findings with the planted flaws: how many there are, and which were missed."""
    from agenthard.flows.audited_run import read_findings, read_quarantined
    from agenthard.flows.demo import ANSWER_KEY, KeyEntry
    from agenthard.flows.demo.ace_flaws import QUARANTINE

    found = {(f.check, task_id) for f in read_findings(run) for task_id in (*f.task_ids, *f.also_in)}
    found |= {(QUARANTINE, item.task_id) for item in read_quarantined(run) if item.task_id is not None}
    lines = (benchmark / ANSWER_KEY).read_text(encoding="utf-8").splitlines()
    key = [KeyEntry.model_validate_json(line) for line in lines]
    missed = [
        f"{entry.check} on {', '.join(absent)}"
        for entry in key
        if (absent := [task_id for task_id in entry.task_ids if (entry.check, task_id) not in found])
    ]
    return len(key), missed
