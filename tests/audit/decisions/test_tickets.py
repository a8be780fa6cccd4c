from typing import Any

from agenthard.audit.decisions.policy import load_policy
from agenthard.audit.decisions.tickets import tickets
from agenthard.audit.detectors.support.sharing import ANSWERS, ANSWERS_WRONG, RUNS, RUNS_DECIDED
from agenthard.taxonomy import Evidence, Finding, Level, Severity, Tier


def shared(identity: str, tasks: int, measures: dict[str, float], **more: Any) -> Finding:
    ids = tuple(f"t{i}" for i in range(tasks))
    values: dict[str, Any] = {
        "id": identity,
        "check": "wrong-answer-accepted",
        "check_version": "2",
        "category": "too-lenient",
        "severity": Severity.MAY_AFFECT_SCORE,
        "tier": Tier.CONFIRMED,
        "level": Level.EVALUATOR,
        "claim": f"claim {identity}",
        "task_ids": ids,
        "evidence": tuple(Evidence(task_id=f"t{i}", pointer="/id", quote=f"t{i}") for i in range(5)),
        "measures": measures,
        "command": f"agenthard replay bench PATH {identity}",
    }
    return Finding(**{**values, **more})


def test_tickets_are_ranked_by_tasks_times_effect() -> None:
    findings = [
        shared("all answers, few tasks", 2, {ANSWERS: 10, ANSWERS_WRONG: 10}),
        shared("half of the answers", 10, {ANSWERS: 10, ANSWERS_WRONG: 5}),
        shared("no run", 90, {RUNS: 10, RUNS_DECIDED: 0, ANSWERS: 10, ANSWERS_WRONG: 10}),
        shared("not measured", 50, {}),
        shared("not measured, suspected", 60, {}, tier=Tier.SUSPECTED),
        shared("runs beat answers", 10, {RUNS: 10, RUNS_DECIDED: 1, ANSWERS: 10, ANSWERS_WRONG: 10}),
        shared("a task's own", 99, {ANSWERS: 1, ANSWERS_WRONG: 1}, level=Level.TASK),
        shared("cosmetic", 99, {}, severity=Severity.COSMETIC),
    ]
    found = tickets(load_policy(), findings)
    assert [(ticket.finding_id, ticket.weight) for ticket in found] == [
        ("half of the answers", 5.0),
        ("all answers, few tasks", 2.0),
        ("runs beat answers", 1.0),
        ("not measured", 0.0),
        ("not measured, suspected", 0.0),
        ("no run", 0.0),
    ]
    assert [ticket.place for ticket in found] == [1, 2, 3, 4, 5, 6]
    words = [ticket.effect_words for ticket in found]
    assert words[1:4] == ["100.0 % of constructed answers", "10.0 % of recorded runs", "not measured"]
    assert len(found[0].examples) == 3 and found[0].command.endswith("half of the answers")
