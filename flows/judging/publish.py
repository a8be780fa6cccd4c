"""Write the result of a judging: a run folder like an audit's with the judges' findings, and their verdicts.

``judge/panels.jsonl`` has the aggregate verdict on each task, ``judge/verdicts.jsonl`` each verdict after the evidence
gate, ``judge/questions.parquet`` one row per question: outcome, error, prompt version, tokens, cost.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from agenthard.audit.coverage import CoverageTable
from agenthard.audit.detectors.base import Detector
from agenthard.audit.judge.aggregate.findings import JudgeCheck, is_below, judge_results
from agenthard.audit.judge.aggregate.panel import PanelVerdict
from agenthard.audit.shards import ShardResult
from agenthard.flows.audit_outputs import Addition, AuditOutcome, publish
from agenthard.flows.audit_plan import AuditInput
from agenthard.flows.audited_run import read_findings
from agenthard.flows.judging.agreement import agreement_table, reader_agreement
from agenthard.flows.judging.cascade import Cascade, StageRow, account, account_table, rules_of
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.panel import PanelResult, apply_defences, panel_results
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.flows.judging.store import Answer, AnswerStore
from agenthard.flows.run_folder import AUDIT_FOLDER, write_json, write_jsonl
from agenthard.models.ledger import Ledger, Total
from agenthard.reports.judge_evidence import evidence_tables, judge_evidence
from agenthard.reports.kit.parquet import write_parquet
from agenthard.taxonomy.files import write_atomically
from agenthard.taxonomy.finding import Status, Tier
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.record import Record

_QUESTIONS = pa.schema(
    [
        *((name, pa.string()) for name in ("task_id", "judge")),
        ("sample", pa.int64()),
        *((name, pa.string()) for name in ("prompt_version", "prompt", "digest", "outcome", "error", "message")),
        *((name, pa.int64()) for name in ("attempts", "issues", "standing", "lookups", "omitted_tokens")),
        *((name, pa.int64()) for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")),
        ("cost", pa.float64()),
    ]
)


class JudgingOutcome(Record):
    """The result of a judging in figures, and the paths of its files."""

    tasks: int
    """Tasks that were to be judged."""
    panels: dict[str, int]
    """Tasks by aggregate verdict; ``not asked`` where no question was answered."""
    questions: int
    """Questions about these tasks."""
    answered: int
    """Questions with a verdict."""
    errors: dict[str, int]
    """Questions that ended in an error, by kind."""
    not_asked: int
    """Questions that were not asked, or have no answer yet."""
    findings: dict[str, int]
    """Findings of the judges by tier."""
    stopped: str
    """Why the judging ended early; empty when it did not."""
    costs: tuple[Total, ...]
    """Tokens and costs by model; empty when no model was asked."""
    stages: tuple[StageRow, ...]
    """What each stage decided and cost."""
    below_threshold: int
    """Flaws that are not reported because they are less probable than the threshold."""
    threshold: float
    """Probability from which the policy reports a flaw."""
    audit: AuditOutcome
    """The audit with the judges' findings in it."""

    @property
    def complete(self) -> bool:
        """Whether every question has a verdict."""
        return self.answered == self.questions


def publish_judging(
    settings: JudgingSettings, inputs: AuditInputs, store: AnswerStore, task_ids: Sequence[str], stopped: str = ""
) -> JudgingOutcome:
    """Aggregate all answers in the folder and write every file of the result.

    Args:
        settings: The run.
        inputs: The audit.
        store: The answers.
        task_ids: The tasks that were to be judged now; the folder may hold answers about others.
        stopped: Why the judging ended early.
    """
    folder = settings.folder
    cascade, reporting = Cascade.of(settings.judges, inputs), rules_of(inputs).reporting
    found = list(panel_results(cascade, store, inputs.plan.task_ids))
    panels = {each.task_id: _panel(each, store, inputs) for each in found if each.panel is not None}
    write_jsonl(folder.judge / "panels.jsonl", panels.values())
    write_jsonl(folder.judge / "verdicts.jsonl", (answer.checked for each in found for answer in each.answers))
    evidence = judge_evidence(answer.checked for each in found for answer in each.answers)
    write_json(folder.judge / "evidence.json", evidence.model_dump(mode="json"))
    write_atomically(folder.judge / "evidence.md", printable(f"{evidence_tables(evidence)}\n").encode())
    tier_of = {judge.name: judge.tier for judge in settings.judges.judges}
    read = [answer for each in found for answer in each.answers]
    agreement = reader_agreement(read, tier_of, settings.judges.seed)
    write_json(folder.judge / "agreement.json", agreement.model_dump(mode="json"))
    write_atomically(folder.judge / "agreement.md", printable(agreement_table(agreement)).encode())
    answers = map(_row, read)
    write_parquet(folder.judge / "questions.parquet", _QUESTIONS, answers)
    chosen = set(task_ids)
    now = [each for each in found if each.task_id in chosen]
    costs = _costs(folder.ledger)
    stages = account(cascade, panels, costs)
    write_json(folder.judge / "cascade.json", stages.model_dump(mode="json"))
    write_atomically(folder.judge / "cascade.md", printable(account_table(stages)).encode())
    below = sum(is_below(issue, reporting) for panel in panels.values() for issue in panel.issues)
    counts = _counts(now)
    audited = inputs.audited.settings.model_copy(update={"out": settings.out})
    write_atomically(folder.root / "work" / "settings.json", audited.model_dump_json().encode("utf-8"))
    write_atomically(folder.root / "work" / "key", f"judged {inputs.key()}".encode())
    write_json(folder.root / "work" / AUDIT_FOLDER, {"audit": relative_to(inputs.folder.root, folder.root)})
    checks: list[Detector] = [JudgeCheck()]
    result = judge_results([inputs.tasks[task_id] for task_id in inputs.plan.task_ids], panels, reporting)
    more = Addition(
        audit=inputs.folder.root,
        checks=checks,
        results=[_unfinished(result, found)],
        manifest={
            "judge": _manifest(settings, inputs, counts, stopped, costs)
            | {"cascade": stages.model_dump(mode="json"), "reporting": reporting.model_dump(mode="json")}
            | {"prompts": agreement.prompts}
        },
        settings={
            "judges": ", ".join(f"{j.name}: {j.samples} x {j.model.name}" for j in settings.judges.judges),
            "decided by": ", ".join(f"{row.stage} {row.tasks}" for row in stages.stages if row.tasks),
        },
    )
    outcome = publish(AuditInput(audited, inputs.source), inputs.plan, more)
    tiers = Counter(f.tier for f in read_findings(folder.root) if f.check == JudgeCheck.id)
    return JudgingOutcome(
        tasks=len(now),
        panels=_panel_counts(now, panels),
        **counts,
        findings={tier.value: tiers[tier] for tier in Tier},
        stopped=stopped,
        costs=costs,
        stages=stages.stages,
        below_threshold=below,
        threshold=reporting.threshold,
        audit=outcome,
    )


def relative_to(path: Path, start: Path) -> str:
    """Return the way from one folder to another, so that both can be moved together."""
    try:
        return Path(os.path.relpath(path, start)).as_posix()
    except ValueError:  # on another drive
        return str(path.resolve())


def _panel(found: PanelResult, store: AnswerStore, inputs: AuditInputs) -> PanelVerdict:
    """Return the aggregate verdict after all defences, with the number of planned questions, open ones included."""
    assert found.panel is not None
    panel = apply_defences(found.panel, store.defences(found.task_id), inputs.tasks[found.task_id])
    return panel.model_copy(update={"asked": found.planned})


def _unfinished(result: ShardResult, found: Sequence[PanelResult]) -> ShardResult:
    """Mark tasks with open questions as not checked where the answers so far would make them clean."""
    open_ = {each.task_id: each for each in found if each.answers and not each.complete}
    rows = []
    for row in result.coverage:
        if row.task_id in open_ and row.status is Status.CLEAN:
            each = open_[row.task_id]
            reason = f"only {len(each.answers)} of {each.planned} questions were asked"
            row = row.model_copy(update={"status": Status.NOT_CHECKED, "reason": reason})
        rows.append(row)
    return replace(result, coverage=CoverageTable.of(rows))


def _panel_counts(now: Sequence[PanelResult], panels: Mapping[str, PanelVerdict]) -> dict[str, int]:
    outcomes = Counter(panels[each.task_id].outcome if each.task_id in panels else "not asked" for each in now)
    return {name: outcomes[name] for name in ("flawed", "not_flawed", "uncertain", "error", "not asked")}


def _counts(now: Sequence[PanelResult]) -> dict[str, Any]:
    answers = [answer for each in now for answer in each.answers]
    errors = Counter(answer.error[0] for answer in answers if answer.error[0])
    planned = sum(each.planned for each in now)
    return {
        "questions": planned,
        "answered": len(answers) - errors.total(),
        "errors": dict(sorted(errors.items())),
        "not_asked": planned - len(answers),
    }


def _costs(ledger: Path) -> tuple[Total, ...]:
    if not ledger.is_file():
        return ()
    opened = Ledger(ledger)
    try:
        return tuple(opened.totals())
    finally:
        opened.close()


def _manifest(
    settings: JudgingSettings, inputs: AuditInputs, counts: dict[str, Any], stopped: str, costs: Sequence[Total]
) -> dict[str, Any]:
    return {
        "audit": inputs.plan.key,
        "settings": settings.judges.model_dump(mode="json"),
        "runs_shown": settings.runs,
        **counts,
        "stopped": stopped,
        "costs": [total.model_dump(mode="json") for total in costs],
    }


def _row(answer: Answer) -> dict[str, Any]:
    judged, (kind, message) = answer.judged, answer.error
    return {
        **dict(zip(("task_id", "judge", "sample"), answer.question, strict=False)),
        "prompt_version": judged.prompt_version,
        "prompt": answer.prompt or None,
        "digest": answer.digest,
        "outcome": answer.checked.outcome,
        "error": kind or None,
        "message": message or None,
        "attempts": answer.attempts,
        "issues": len(answer.checked.issues),
        "standing": len(answer.checked.standing),
        "lookups": len(judged.lookups),
        "omitted_tokens": sum(each.tokens for each in answer.omitted),
        **judged.usage.model_dump(),
        "cost": judged.cost,
    }
