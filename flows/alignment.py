"""Reading runs, labels, samples and frozen sets for ``agenthard align``."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pyarrow.parquet
import yaml
from pydantic import ValidationError

from agenthard.audit.decisions.policy import Policy
from agenthard.audit.judge.aggregate.panel import PanelVerdict
from agenthard.audit.judge.context.passages import state_passages
from agenthard.audit.judge.verdict import CheckedVerdict
from agenthard.flows.audited_run import read_audited, read_coverage, read_decisions, read_findings
from agenthard.flows.errors import CommandError
from agenthard.reports.alignment.answers import (
    Answers,
    audit_answers,
    lint_answers,
    panel_answers,
    unchecked_answers,
    verdict_answers,
)
from agenthard.reports.alignment.confidence import Claim, claims_of
from agenthard.reports.alignment.drift import Side
from agenthard.reports.alignment.sampling import SampleKey, pass_rates
from agenthard.reports.comparison.audits import task_contents
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import read_yaml

PANELS = Path("judge") / "panels.jsonl"
VERDICTS = Path("judge") / "verdicts.jsonl"
QUESTIONS = Path("judge") / "questions.parquet"
SHEET_PARTS = ("user", "environment", "initial_state", "evaluation", "ground_truth")
"""Columns of the table of tasks that a sheet shows, as JSON."""
SHEET_PLACES = ("subtask", "origin_file", "origin_line")
"""Columns that a sheet shows as they are."""

Row = TypeVar("Row", bound=Record)


class RunAnswers(NamedTuple):
    """All answers about tasks that one run folder holds."""

    task_ids: list[str]
    """All tasks, in the benchmark's order."""
    candidates: list[Answers]
    """Ways to read a flag off the run, the most telling first."""
    judges: list[Answers]
    """The panel, then each judge and repetition by itself; empty without a judge."""
    baselines: list[Answers]
    """The same run without its judge, and each judge without the evidence gate; empty without a judge."""
    claims: list[Claim]
    """Verified flaws with the confidence that judges state; empty without a judge."""


def read_answers(run: Path) -> RunAnswers:
    """Read the answers of a judging run, or of an audit.

    Raises:
        CommandError: when the folder holds no finished run, or a file of it is damaged.
    """
    decisions, findings, coverage = read_decisions(run), read_findings(run), read_coverage(run)
    ids = [decision.task_id for decision in decisions]
    marked = audit_answers("dropped or review", decisions, findings, coverage)
    dropped = audit_answers("dropped", decisions, findings, coverage, ("drop",))
    if not (run / PANELS).is_file():
        return RunAnswers(ids, [marked, dropped], [], [], [])
    panel = panel_answers("judge", _lines(run / PANELS, PanelVerdict))
    candidates = [panel]
    if any(answer.outcome == "undecided" for answer in panel.by_task.values()):
        candidates.append(panel.flags_undecided("judge, undecided flagged"))
    verdicts = list(_lines(run / VERDICTS, CheckedVerdict)) if (run / VERDICTS).is_file() else []
    alone = verdict_answers(verdicts)
    policy = Policy.model_validate(_manifest(run)["policy"])
    lint = lint_answers("lint only: dropped or review", policy, ids, findings, coverage)
    candidates += [answers.named(f"rules and judge: {answers.name}") for answers in (marked, dropped)]
    return RunAnswers(
        ids,
        candidates,
        [panel, *alone] if len(alone) > 1 else [panel],
        [lint, *unchecked_answers(verdicts)],
        claims_of(verdicts),
    )


def read_key(path: Path) -> SampleKey:
    """Read the key of a sample.

    Raises:
        CommandError: when the file is not a key.
    """
    try:
        return SampleKey.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise CommandError(f"{path}: {error.errors()[0]['msg']}; `agenthard align sample` writes a key") from error


def read_mapping(path: Path) -> dict[str, str]:
    """Read which category each word of a label set means (YAML or JSON).

    Raises:
        CommandError: when it does not map words to ids.
    """
    try:
        found = read_yaml(path)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: not valid YAML: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(part, str) for pair in found.items() for part in pair):
        raise CommandError(f"{path}: expected one word of the labels and the id of a category per line")
    return found


def read_pass_rates(run: Path) -> dict[str, float]:
    """Read each task's mean pass rate over models; runs without a verdict do not count."""
    table = pyarrow.parquet.read_table(
        run / "tables" / "trajectories.parquet", columns=["task_id", "model", "passed"]
    ).to_pylist()
    passed: dict[tuple[str, str], list[bool]] = {}
    for row in table:
        if row["passed"] is not None:
            passed.setdefault((row["task_id"], row["model"]), []).append(row["passed"])
    return pass_rates(passed)


def sheet_lines(run: Path, task_ids: Sequence[str]) -> list[dict[str, Any]]:
    """Make the lines of a sheet: all that a person needs of each task, and fields to fill in; nothing of any finding.

    The task is that which the audit read, with the policy and the schemas of all tools. Of its state, the records to
    which something in the task leads are shown; where the benchmark is gone, ``state`` is null.
    """
    columns = ["id", "cluster", *SHEET_PLACES, *SHEET_PARTS]
    tasks = pyarrow.parquet.read_table(run / "tables" / "tasks.parquet", columns=columns).to_pylist()
    by_id = {task["id"]: task for task in tasks if task["id"] in set(task_ids)}
    contents, states = task_contents(run), _states(run, task_ids)
    blank = {"annotator": None, "flawed": None, "category": None, "severity": None, "note": ""}
    lines = []
    for task_id in task_ids:
        task = by_id[task_id]
        shown = {name: task[name] for name in SHEET_PLACES} | {name: json.loads(task[name]) for name in SHEET_PARTS}
        shown["state"] = states.get(task_id)
        about = {"task_id": task_id, "content_hash": contents[task_id], "cluster": task["cluster"]}
        lines.append({**about, **blank, "task": shown})
    return lines


def _states(run: Path, task_ids: Sequence[str]) -> dict[str, list[dict[str, str]]]:
    """Read what tasks have of their state, by task; empty where the benchmark is gone or has changed."""
    try:
        source = read_audited(run, None).open_unchanged()
    except CommandError:
        return {}
    found = source.find_tasks(task_ids)
    return {
        task_id: [
            {"title": each.title, "pointer": each.pointer or each.label, "text": each.text}
            for each in state_passages(task)
        ]
        for task_id, task in found.items()
    }


def benchmark_of(run: Path) -> dict[str, str]:
    """Read label and content hash of the benchmark that was audited."""
    stated = _manifest(run).get("benchmark") or {}
    return {name: str(stated[name]) for name in ("label", "content_hash") if stated.get(name) is not None}


def read_frozen(path: Path) -> list[str]:
    """Read the ids of a frozen set: JSON Lines with ``task_id`` (a label file will do), or one id per line.

    Raises:
        CommandError: when there is none, or a line has no id.
    """
    ids = []
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), start=1):
        text = line.strip()
        if not text:
            continue
        try:
            row = json.loads(text) if text.startswith(("{", '"')) else text
            identity = str(row["task_id"] if isinstance(row, dict) else row)
        except (ValueError, KeyError) as error:
            raise CommandError(f"{path.name}, line {number}: no id here ({error!r}); give task_id") from error
        domain = row.get("domain") if isinstance(row, dict) else None
        ids.append(f"{domain}/{identity}" if domain and not identity.startswith(f"{domain}/") else identity)
    if not ids:
        raise CommandError(f"{path}: no task id in it")
    return ids


def read_side(run: Path) -> Side:
    """Read one run for a drift check.

    Raises:
        CommandError: when the folder holds no finished run.
    """
    answers = read_answers(run).candidates[0]
    return Side(answers=answers, contents=task_contents(run), versions=_versions(run, answers))


def _versions(run: Path, answers: Answers) -> dict[str, str]:
    if answers.kind == "judge":
        return _prompts(run / QUESTIONS) if (run / QUESTIONS).is_file() else {}
    manifest = _manifest(run)
    asked = json.dumps({name: manifest.get(name) for name in ("checks", "policy", "taxonomy")}, sort_keys=True)
    return dict.fromkeys(answers.by_task, asked)


def _prompts(questions: Path) -> dict[str, str]:
    """Read the versions of the prompts that each task was judged with."""
    table = pyarrow.parquet.read_table(questions, columns=["task_id", "prompt_version"]).to_pylist()
    found: dict[str, set[str]] = {}
    for row in table:
        found.setdefault(row["task_id"], set()).add(row["prompt_version"] or "")
    return {task_id: " ".join(sorted(versions)) for task_id, versions in found.items()}


def _manifest(run: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((run / "manifest.json").read_text(encoding="utf-8"))
    return found


def _lines(path: Path, record: type[Row]) -> Iterable[Row]:
    with path.open("rb") as stream:
        for number, line in enumerate(stream, start=1):
            try:
                yield record.model_validate_json(line)
            except ValidationError as error:
                first = error.errors()[0]
                place = "/".join(map(str, first["loc"])) or "top level"
                raise CommandError(f"{path}, line {number}: at {place}: {first['msg']}; judge again") from error
