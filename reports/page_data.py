"""What the script of the HTML report shows, as plain data: findings, filters and decisions."""

from collections import Counter
from typing import Any

from agenthard.audit.decisions.priority import review_order
from agenthard.reports.excerpts import excerpt
from agenthard.reports.places import Places
from agenthard.reports.result import AuditResult
from agenthard.taxonomy.categories import COMPONENT_TITLES
from agenthard.taxonomy.finding import Evidence, Finding, Level, Severity, Tier
from agenthard.taxonomy.pointer import resolve

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


def page_data(result: AuditResult) -> dict[str, Any]:
    """Gather what the page's script needs; tasks are named by their position in ``tasks``."""
    position = {task.id: i for i, task in enumerate(result.tasks)}
    places = Places(result)
    ordered = sorted(result.findings, key=lambda finding: _rank(result, finding))
    return {
        "tasks": [task.id for task in result.tasks],
        "actions": [_ACTIONS.index(decision.action) for decision in result.decisions],
        "categories": {
            c.id: {"name": c.name, "component": c.component, "rule": c.rule} for c in result.taxonomy.categories
        },
        "components": COMPONENT_TITLES,
        "checks": {check.id: check.title for check in result.checks},
        "tiers": TIER_TITLES,
        "severities": SEVERITY_TITLES,
        "levels": LEVEL_TITLES,
        "findings": [_finding(result, places, position, finding) for finding in ordered],
        **_decisions(result, position),
    }


def _rank(result: AuditResult, finding: Finding) -> tuple[Any, ...]:
    categories = [category.id for category in result.taxonomy.categories]
    component = list(COMPONENT_TITLES).index(result.taxonomy[finding.category].component)
    grave = (list(Tier).index(finding.tier), list(Severity).index(finding.severity), -len(finding.task_ids))
    return component, categories.index(finding.category), *grave, finding.id


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
        "evidence": [_quote(result, places, item) for item in finding.evidence[:MOST_QUOTES]],
        "quotes": len(finding.evidence),
        "patch": finding.patch,
        "measures": finding.measures,
    }


def _quote(result: AuditResult, places: Places, item: Evidence) -> dict[str, Any]:
    shown, place = excerpt(result, item), places.of(item)
    return {
        "task": item.task_id,
        "run": _run_name(result, item.trajectory_id),
        "pointer": item.pointer,
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
    task = result.task.get(item.task_id)
    if part not in ("Tool", "User's tool") or len(tokens) < 3 or task is None:
        return part
    try:
        return f"{part} {resolve(task, f'/environment/{tokens[1]}/{tokens[2]}/name')}"
    except LookupError:
        return part


def _decisions(result: AuditResult, position: dict[str, int]) -> dict[str, Any]:
    place = {item.task_id: item.place for item in review_order(list(position), result.findings)}
    reasons: dict[str, int] = {}
    rows = []
    for decision in result.decisions:
        if decision.action == "keep" and not decision.finding_ids:
            continue
        numbers = [reasons.setdefault(reason, len(reasons)) for reason in decision.reasons]
        last = len(place) + 1
        rows.append([position[decision.task_id], numbers, len(decision.finding_ids), place.get(decision.task_id, last)])
    return {"reasons": list(reasons), "decided": rows}
