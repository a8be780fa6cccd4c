"""What a judging leaves: a run folder like an audit's with the judges' findings, and ``judge/`` with what they said.

``judge/panels.jsonl`` has the panel's word on each task, ``judge/verdicts.jsonl`` each verdict after the evidence gate,
``judge/questions.parquet`` one row per question: outcome, error, prompt version, tokens, cost.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from agenthard.audit.detectors.base import Detector
from agenthard.audit.judge.aggregate.findings import JudgeCheck, judge_results
from agenthard.audit.judge.aggregate.panel import PanelVerdict
from agenthard.audit.shards import ShardResult
from agenthard.flows.audit_outputs import Addition, AuditOutcome, publish
from agenthard.flows.audit_plan import AuditInput
from agenthard.flows.audited_run import read_findings
from agenthard.flows.judging.defending import defended
from agenthard.flows.judging.inputs import AuditInputs
from agenthard.flows.judging.panels import Sitting, sittings
from agenthard.flows.judging.settings import JudgingSettings
from agenthard.flows.judging.store import Answer, AnswerStore
from agenthard.flows.run_folder import write_json, write_jsonl
from agenthard.models.ledger import Ledger, Total
from agenthard.reports.judge_evidence import evidence_tables, judge_evidence
from agenthard.taxonomy.files import replacing, write_atomically
from agenthard.taxonomy.finding import Status, Tier
from agenthard.taxonomy.printable import printable
from agenthard.taxonomy.record import Record

_QUESTIONS = pa.schema(
    [
        *((name, pa.string()) for name in ("task_id", "judge")),
        ("sample", pa.int64()),
        *((name, pa.string()) for name in ("prompt_version", "digest", "outcome", "error", "message")),
        *((name, pa.int64()) for name in ("attempts", "issues", "standing", "lookups", "omitted_tokens")),
        *((name, pa.int64()) for name in ("prompt_tokens", "completion_tokens", "cached_tokens", "reasoning_tokens")),
        ("cost", pa.float64()),
    ]
)


class JudgingOutcome(Record):
    """The result of a judging in figures, and where its files are."""

    tasks: int
    """Tasks that were to be judged."""
    panels: dict[str, int]
    """Those of them by the panel's word; ``not asked`` where no question was answered."""
    questions: int
    """Questions that these tasks call for."""
    answered: int
    """Those of them that a verdict answers."""
    errors: dict[str, int]
    """Those that ended in an error, by kind."""
    not_asked: int
    """Those that nobody was asked, or nobody has answered yet."""
    findings: dict[str, int]
    """Findings of the judges by tier."""
    stopped: str
    """Why the judging ended early; empty when it did not."""
    costs: tuple[Total, ...]
    """What models took, by model; empty when none was asked here."""
    audit: AuditOutcome
    """The audit with the judges' findings in it."""

    @property
    def complete(self) -> bool:
        """Whether every question has a verdict."""
        return self.answered == self.questions


def publish_judging(
    settings: JudgingSettings, inputs: AuditInputs, store: AnswerStore, task_ids: Sequence[str], stopped: str = ""
) -> JudgingOutcome:
    """Conclude from all answers in the folder and write everything that a reader gets.

    Args:
        settings: The run.
        inputs: The audit.
        store: The answers.
        task_ids: The tasks that were to be judged now; the folder may hold answers on others.
        stopped: Why the judging ended early.
    """
    folder = settings.folder
    found = list(sittings(settings.judges, store, inputs.plan.task_ids))
    panels = {each.task_id: _panel(each, store, inputs) for each in found if each.panel is not None}
    write_jsonl(folder.judge / "panels.jsonl", panels.values())
    write_jsonl(folder.judge / "verdicts.jsonl", (answer.checked for each in found for answer in each.answers))
    evidence = judge_evidence(answer.checked for each in found for answer in each.answers)
    write_json(folder.judge / "evidence.json", evidence.model_dump(mode="json"))
    write_atomically(folder.judge / "evidence.md", printable(f"{evidence_tables(evidence)}\n").encode())
    _write_questions(folder.judge / "questions.parquet", [answer for each in found for answer in each.answers])
    chosen = set(task_ids)
    now = [each for each in found if each.task_id in chosen]
    costs = _costs(folder.ledger)
    counts = _counts(now)
    audited = inputs.audited.settings.model_copy(update={"out": settings.out})
    write_atomically(folder.root / "work" / "settings.json", audited.model_dump_json().encode("utf-8"))
    write_atomically(folder.root / "work" / "key", f"judged {inputs.key()}".encode())
    checks: list[Detector] = [JudgeCheck()]
    result = judge_results([inputs.tasks[task_id] for task_id in inputs.plan.task_ids], panels)
    more = Addition(
        audit=inputs.folder.root,
        checks=checks,
        results=[_unfinished(result, found)],
        manifest={"judge": _manifest(settings, inputs, counts, stopped, costs)},
        settings={"judges": ", ".join(f"{j.name}: {j.samples} x {j.model.name}" for j in settings.judges.judges)},
    )
    outcome = publish(AuditInput(audited, inputs.source), inputs.plan, more)
    tiers = Counter(f.tier for f in read_findings(folder.root) if f.check == JudgeCheck.id)
    return JudgingOutcome(
        tasks=len(now),
        panels=_panels(now, panels),
        **counts,
        findings={tier.value: tiers[tier] for tier in Tier},
        stopped=stopped,
        costs=costs,
        audit=outcome,
    )


def _panel(sitting: Sitting, store: AnswerStore, inputs: AuditInputs) -> PanelVerdict:
    """The panel's word after all defences, with the number of questions that the task calls for, open ones included."""
    assert sitting.panel is not None
    panel = defended(sitting.panel, store.defences(sitting.task_id), inputs.tasks[sitting.task_id])
    return panel.model_copy(update={"asked": sitting.planned})


def _unfinished(result: ShardResult, found: Sequence[Sitting]) -> ShardResult:
    """A task on which questions are open is not clean, whatever the others said."""
    open_ = {each.task_id: each for each in found if each.answers and not each.complete}
    rows = []
    for row in result.coverage:
        if row.task_id in open_ and row.status is Status.CLEAN:
            each = open_[row.task_id]
            reason = f"only {len(each.answers)} of {each.planned} questions were asked"
            row = row.model_copy(update={"status": Status.NOT_CHECKED, "reason": reason})
        rows.append(row)
    return result.model_copy(update={"coverage": tuple(rows)})


def _panels(now: Sequence[Sitting], panels: Mapping[str, PanelVerdict]) -> dict[str, int]:
    words = Counter(panels[each.task_id].outcome if each.task_id in panels else "not asked" for each in now)
    return {name: words[name] for name in ("flawed", "not_flawed", "uncertain", "error", "not asked")}


def _counts(now: Sequence[Sitting]) -> dict[str, Any]:
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
    books = Ledger(ledger)
    try:
        return tuple(books.totals())
    finally:
        books.close()


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


def _write_questions(path: Path, answers: Sequence[Answer]) -> None:
    table = pa.Table.from_pylist([_row(answer) for answer in answers], _QUESTIONS)
    with replacing(path) as partial:
        pq.write_table(table, partial, compression="zstd")


def _row(answer: Answer) -> dict[str, Any]:
    judged, (kind, words) = answer.judged, answer.error
    return {
        **dict(zip(("task_id", "judge", "sample"), answer.question, strict=False)),
        "prompt_version": judged.prompt_version,
        "digest": answer.digest,
        "outcome": answer.checked.outcome,
        "error": kind or None,
        "message": words or None,
        "attempts": answer.attempts,
        "issues": len(answer.checked.issues),
        "standing": len(answer.checked.standing),
        "lookups": len(judged.lookups),
        "omitted_tokens": sum(each.tokens for each in answer.omitted),
        **judged.usage.model_dump(),
        "cost": judged.cost,
    }
