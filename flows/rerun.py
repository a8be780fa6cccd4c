"""Repeating the audit of a run folder from what the folder records, and comparing all bytes that a reader gets.

Verdicts of people are decided with again, and the report on cleaning is written again where the run has one. What asks
models is not repeated: their replies are not a function of the input.
"""

import json
from collections.abc import Iterator
from importlib.metadata import version as package_version
from pathlib import Path
from typing import Literal

from agenthard.audit.decisions.policy import Policy, load_policy
from agenthard.flows.audit_flow import run_audit
from agenthard.flows.audit_plan import AuditInput
from agenthard.flows.audited_run import Audited, read_audited
from agenthard.flows.checksums import (
    FILE,
    WORK,
    FileSum,
    UnreadableChecksumsError,
    checksum,
    listed_files,
    read_checksums,
)
from agenthard.flows.errors import CommandError
from agenthard.flows.report import SETTINGS, ReportSettings, held, make_report
from agenthard.flows.review.decide import DecideSettings, decide_run, run_name
from agenthard.flows.review.store import FILE as EVENTS
from agenthard.flows.run_status import kind_of
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.system import cpu_count

_NOT_REPEATED = {
    "judging": "holds a judging, and replies of models are not repeatable: repeat the audit that it is about",
    "evaluation": "holds an evaluation, and replies of models are not repeatable: run `agenthard evaluate` again",
    "repair": "holds repairs: run `agenthard repair` again",
}
"""Why a run of a kind is refused."""


class Difference(Record):
    """A file that is not the same in both folders."""

    file: str
    """Path relative to the run folder."""
    what: Literal["differs", "only before", "only now"]
    """Whether its bytes differ, or only one folder has it."""


class RerunOutcome(Record):
    """The result of repeating an audit."""

    run: str
    """Run folder that was repeated."""
    out: str
    """Run folder of the repetition."""
    equal: int
    """Files that are equal byte for byte."""
    differences: tuple[Difference, ...]
    """Files that are not."""
    reasons: tuple[str, ...]
    """What is other now than it was: version, checks, benchmark, policy; what could explain a difference."""
    not_compared: tuple[str, ...]
    """What was not compared, with the reason."""


def rerun(run: Path, out: Path, benchmark: Path | None = None, workers: int | None = None) -> RerunOutcome:
    """Repeat an audit into another folder, and compare.

    Args:
        run: Run folder of the audit.
        out: New run folder; a rerun that was interrupted there is continued.
        benchmark: Where the benchmark is now; None = where it was audited.
        workers: Processes; None = one per core. They have no influence on the result.

    Raises:
        CommandError: The run cannot be repeated; the message says why.
        RunFolderError: The new folder holds something else.
    """
    audited = _repeatable(run, out, benchmark)
    settings = audited.settings.model_copy(update={"out": str(out), "workers": workers or cpu_count()})
    given = AuditInput(settings)
    reasons = list(_changes(run, audited, given))
    run_audit(given)
    if (run / EVENTS).is_file():
        store = f"sqlite:///{(run / EVENTS).resolve()}"
        decide_run(DecideSettings(run=str(out), verdicts=store, reviewed=run_name(run), benchmark=settings.path))
    _report_again(run, out, benchmark)
    equal, differences = _compare(run, out)
    return RerunOutcome(
        run=str(run),
        out=str(out),
        equal=equal,
        differences=tuple(differences),
        reasons=tuple(reasons),
        not_compared=tuple(_not_compared(run)),
    )


def _repeatable(run: Path, out: Path, benchmark: Path | None) -> Audited:
    kind = kind_of(run)
    if kind in _NOT_REPEATED:
        raise CommandError(f"{run}: {_NOT_REPEATED[kind]}")
    audited = read_audited(run, str(benchmark) if benchmark else None)
    if out.resolve() == run.resolve() or run.resolve() in out.resolve().parents:
        raise CommandError(f"{out}: lies in the run that is repeated; give another folder with --out")
    for path, what in ((audited.settings.path, "the benchmark"), *((each, "runs") for each in audited.settings.runs)):
        if not Path(path).exists():
            advice = "; name its folder with --benchmark" if what == "the benchmark" else ""
            raise CommandError(f"{path}: {what} of the audit cannot be found from this folder{advice}")
    if audited.settings.policy and not Path(audited.settings.policy).is_file():
        raise CommandError(f"{audited.settings.policy}: the policy of the audit cannot be found from this folder")
    return audited


def _changes(run: Path, audited: Audited, given: AuditInput) -> Iterator[str]:
    """Say what is other now than when the run was made."""
    manifest = json.loads((run / "manifest.json").read_bytes())
    now = package_version("agenthard")
    if manifest["agenthard"] != now:
        yield f"AgentHard {now} instead of {manifest['agenthard']}"
    versions = {check.id: check.version for check in given.settings.checks()}
    for check in sorted({*versions, *audited.checks}):
        before, after = audited.checks.get(check, "absent"), versions.get(check, "absent")
        if before != after:
            yield f"check {check}: version {after} instead of {before}"
    content = given.version.content_hash
    if content != audited.version.content_hash:
        yield f"the benchmark has changed: content {content} instead of {audited.version.content_hash}"
    policy = load_policy(Path(given.settings.policy) if given.settings.policy else None)
    if Policy.model_validate(policy.model_dump(mode="json")) != audited.policy:
        yield "the decision policy has changed"
    if given.key != manifest["key"] and content == audited.version.content_hash:
        yield "the runs, the installed code of the benchmark, or the code of the checks or of the source has changed"
    if given.settings.suppressions:
        yield "the run has suppressions, which count until a day: the day of the repetition is another one"


def _report_again(run: Path, out: Path, benchmark: Path | None) -> None:
    if not (run / "report" / "analysis.json").is_file():
        return
    known = run / WORK / SETTINGS
    default = ReportSettings(run=str(out))
    settings = ReportSettings.model_validate_json(known.read_bytes()) if known.is_file() else default
    update = {"run": str(out), **({"benchmark": str(benchmark)} if benchmark else {})}
    settings = settings.model_copy(update=update)
    with held(settings):
        make_report(settings)


def _compare(run: Path, out: Path) -> tuple[int, list[Difference]]:
    before, now = set(listed_files(run, run)) - {EVENTS}, set(listed_files(out, out))
    differences = [Difference(file=name, what="only before") for name in before - now]
    differences += [Difference(file=name, what="only now") for name in now - before]
    both = before & now
    other = {name for name in both if checksum(run / name) != checksum(out / name)}
    differences += [Difference(file=name, what="differs") for name in other]
    return len(both) - len(other), sorted(differences, key=lambda item: item.file)


def _not_compared(run: Path) -> Iterator[str]:
    yield "work/: it holds times, and paths of this machine"
    try:
        known = read_checksums(run)
    except UnreadableChecksumsError as error:
        yield f"whether the run itself is as it was written: {FILE} is damaged ({error})"
        return
    if known is None:
        yield f"whether the run itself is as it was written: it has no {FILE}"
        return
    changed = [name for name, each in sorted(known.files.items()) if _is_other(run / name, each)]
    if changed:
        yield f"files of the run that are not as they were written, so a difference may be theirs: {', '.join(changed)}"


def _is_other(path: Path, expected: FileSum) -> bool:
    return not path.is_file() or checksum(path) != expected


def default_out(run: Path) -> Path:
    """Return the folder that a run is repeated into where the user names none: the run's own with ``-rerun``."""
    name = run.resolve().name
    return run.resolve().with_name(f"{name}-rerun") if run.is_absolute() else Path(f"{run}-rerun")
