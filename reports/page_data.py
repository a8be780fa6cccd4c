"""What the script of the audit page needs, as plain data: findings, tasks and decisions."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

from agenthard.audit.decisions.policy import Decision
from agenthard.audit.decisions.priority import review_order
from agenthard.reports.look_first import urgency
from agenthard.reports.places import Places
from agenthard.reports.proof_text import proof_view
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.finding import Evidence, Finding, Level, Severity, Tier
from agenthard.taxonomy.pointer import resolve

MOST_FINDINGS = 5000
"""Findings on the page; findings.json and the table hold all."""
MOST_DECIDED = 5000
"""Decisions listed on the page."""
MOST_TASKS = 20_000
"""Of a larger benchmark, the page names only tasks that its findings and its list of decisions name."""
MOST_INSTANCES = 5000
"""Tasks that can be opened: those with findings first, then others on the list of decisions."""
MOST_TICKETS = 50
"""Tickets listed on the page."""
MOST_QUOTES = 12
"""Quotes shown per finding; findings.json holds all."""
TIER_TITLES = {Tier.CONFIRMED: "Confirmed", Tier.SUSPECTED: "Suspected", Tier.SIGNAL: "Signal"}
SEVERITY_TITLES = {
    Severity.AFFECTS_SCORE: "Affects score",
    Severity.MAY_AFFECT_SCORE: "May affect score",
    Severity.COSMETIC: "Cosmetic",
}
LEVEL_TITLES = {
    Level.TASK: "Task",
    Level.ENVIRONMENT: "Environment",
    Level.EVALUATOR: "Evaluator",
    Level.SUITE: "Suite",
}
_ACTIONS = ("drop", "review", "keep", "unchecked")


def page_data(result: AuditResult, places: Places, files: Mapping[str, int]) -> dict[str, Any]:
    """Collect what the page's script needs; tasks are named by their position in ``tasks``.

    Args:
        result: the audit.
        places: finds quotes in the benchmark's files.
        files: number of the file of each task that can be opened.
    """
    findings, decisions, place = most_urgent(result), *_first_decisions(result)
    named = _named(result, findings, decisions)
    position = {decision.task_id: i for i, decision in enumerate(named)}
    ordered = sorted(findings, key=lambda finding: _rank(result, finding))
    # Tasks and decisions lie in blocks on the disk: they are read in their own order.
    views = {finding.id: _finding(result, places, position, finding) for finding in _by_task(result, ordered)}
    return {
        "tasks": list(position),
        "actions": [_ACTIONS.index(decision.action) for decision in named],
        "files": [files.get(decision.task_id, 0) for decision in named],
        "categories": {
            c.id: {"name": c.name, "component": c.component, "rule": c.rule} for c in result.taxonomy.categories
        },
        "components": COMPONENT_TITLES,
        "checks": {check.id: check.title for check in result.checks},
        "tiers": TIER_TITLES,
        "severities": SEVERITY_TITLES,
        "levels": LEVEL_TITLES,
        "findings": [views[finding.id] for finding in ordered],
        **_decisions(decisions, position, place),
    }


def opened(result: AuditResult) -> list[str]:
    """List the tasks that can be opened: those of the findings on the page, then others to drop or review."""
    findings = sorted(most_urgent(result), key=urgency)
    ids = dict.fromkeys(item.task_id for finding in findings for item in finding.evidence)
    ids |= dict.fromkeys(task_id for finding in findings for task_id in finding.task_ids)
    ids |= dict.fromkeys(d.task_id for d in _first_decisions(result)[0] if d.action in ("drop", "review"))
    return sorted(islice(ids, MOST_INSTANCES), key=result.position.__getitem__)


def most_urgent(result: AuditResult) -> Sequence[Finding]:
    """Choose the findings on the page: those of the tickets on it, then the surest and gravest."""
    if len(result.findings) <= MOST_FINDINGS:
        return result.findings
    linked = {ticket.finding_id for ticket in result.tickets[:MOST_TICKETS]}
    return sorted(result.findings, key=lambda finding: (finding.id not in linked, *urgency(finding)))[:MOST_FINDINGS]


def is_listed(decision: Decision) -> bool:
    """Tell whether a decision is on the list: every one but keeping a task without findings."""
    return decision.action != "keep" or bool(decision.finding_ids)


def _first_decisions(result: AuditResult) -> tuple[Sequence[Decision], dict[str, int]]:
    """Choose the decisions on the page, and return them with the places in the review queue."""
    place = {item.task_id: item.place for item in review_order(result.task_ids, result.findings)}
    listed = [decision for decision in result.decisions if is_listed(decision)]
    if len(listed) > MOST_DECIDED:
        last = len(place) + 1
        listed = sorted(listed, key=lambda decision: place.get(decision.task_id, last))[:MOST_DECIDED]
    return listed, place


def _named(result: AuditResult, findings: Iterable[Finding], decisions: Iterable[Decision]) -> Sequence[Decision]:
    """Return the decisions on the tasks that the page names, in the order of the benchmark."""
    if len(result.decisions) <= MOST_TASKS:
        return result.decisions
    ids = {task_id for finding in findings for task_id in (*finding.task_ids, *finding.also_in)}
    ids.update(decision.task_id for decision in decisions)
    return [decision for decision in result.decisions if decision.task_id in ids]


def _rank(result: AuditResult, finding: Finding) -> tuple[Any, ...]:
    categories = [category.id for category in result.taxonomy.categories]
    component = list(COMPONENT_TITLES).index(result.taxonomy[finding.category].component)
    grave = (list(Tier).index(finding.tier), list(Severity).index(finding.severity), -len(finding.task_ids))
    return component, categories.index(finding.category), *grave, finding.id


def _by_task(result: AuditResult, findings: Iterable[Finding]) -> list[Finding]:
    def first(finding: Finding) -> int:
        return min((result.position[task_id] for task_id in finding.task_ids), default=-1)

    return sorted(findings, key=first)


def _finding(result: AuditResult, places: Places, position: dict[str, int], finding: Finding) -> dict[str, Any]:
    actions = Counter(
        result.decision[task_id].action
        for task_id in finding.task_ids
        if finding.id in result.decision[task_id].finding_ids
    )
    return {
        "id": finding.id,
        "check": finding.check,
        "version": finding.check_version,
        "category": finding.category,
        "component": result.taxonomy[finding.category].component,
        "severity": finding.severity,
        "tier": finding.tier,
        "level": finding.level,
        "decides": [position[task_id] for task_id in finding.decides],
        "command": finding.command,
        "claim": finding.claim,
        "why": finding.why,
        "fix": finding.fix,
        "tasks": [position[task_id] for task_id in finding.task_ids],
        "also": [position[task_id] for task_id in finding.also_in],
        "drops": actions["drop"],
        "evidence": [quote_view(result, places, item) for item in finding.evidence[:MOST_QUOTES]],
        "quotes": len(finding.evidence),
        "proof": proof_view(finding),
        "patch": _sorted(finding.patch),
        "measures": _sorted(finding.measures),
    }


def _sorted(value: Any) -> Any:
    """Return JSON with sorted keys, so that a page made from findings.json is that of the audit."""
    return json.loads(json.dumps(value, sort_keys=True))


def quote_view(result: AuditResult, places: Places, item: Evidence) -> dict[str, Any]:
    """Describe one quote in its surroundings."""
    shown, place = places.excerpt(item), None if places.scoring(item) else places.of(item)
    return {
        "task": item.task_id,
        "run": _run_name(result, item.trajectory_id),
        "pointer": item.native.pointer if item.native else item.pointer,
        "subject": _subject(result, item),
        "place": str(place) if place else "",
        "note": item.note,
        "before": shown.before,
        "quote": shown.quote,
        "after": shown.after,
    }


def _run_name(result: AuditResult, run_id: str | None) -> str:
    run = result.cited_runs.get(run_id) if run_id is not None else None
    return f"{run.model}, trial {run.trial + 1}" if run else run_id or ""


_PARTS = {
    "user": "User",
    "environment/policy": "Policy",
    "environment/tools": "Tool",
    "environment/user_tools": "User's tool",
    "environment/state": "State",
    "initial_state": "State",
    "hidden_tools": "Withheld tools",
    "evaluation": "Evaluation",
    "ground_truth": "Ground truth",
}


def _subject(result: AuditResult, item: Evidence) -> str:
    """Name the part of the task or run that a pointer enters, with the tool's name when it enters one."""
    if item.trajectory_id is not None:
        return "Run"
    tokens = item.pointer.split("/")[1:]
    part = _PARTS.get("/".join(tokens[:2])) or _PARTS.get(tokens[0] if tokens else "", "Task")
    if part not in ("Tool", "User's tool") or len(tokens) < 3 or item.task_id not in result.task:
        return part
    task = result.task[item.task_id]
    try:
        return f"{part} {resolve(task, f'/environment/{tokens[1]}/{tokens[2]}/name')}"
    except LookupError:
        return part


def _decisions(decisions: Iterable[Decision], position: Mapping[str, int], place: Mapping[str, int]) -> dict[str, Any]:
    reasons: dict[str, int] = {}
    rows = []
    for decision in decisions:
        numbers = [reasons.setdefault(reason, len(reasons)) for reason in decision.reasons]
        last = len(place) + 1
        rows.append([position[decision.task_id], numbers, len(decision.finding_ids), place.get(decision.task_id, last)])
    return {"reasons": list(reasons), "decided": rows}
