"""From an entry of a description to the record of a task."""

from collections.abc import Mapping
from typing import Any

from agenthard.audit.sources.agencybench.description import Description, describe
from agenthard.audit.sources.agencybench.layout import Scenario
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, Check, EnvironmentSpec, EvaluationSpec, GroundTruth, Message, UserSpec

BENCHMARK = "agencybench"
WORKSPACE = EnvironmentSpec()
"""The agent works in a folder with the tools of its harness, which the benchmark's files do not describe."""

CRITERION_NOTE = "a criterion of the task's text; how it is scored is decided by the scenario's script or by a judge"
DELIVERABLE_NOTE = "a deliverable of the task's text"
UNSTATED_NOTE = "the text states no criteria; the scenario's script or a judge decides by the whole of it"


def build_task(scenario: Scenario, file: str, number: int, value: Any, extras: Mapping[str, Any]) -> AgentTask:
    """Build a task.

    Args:
        scenario: where the task belongs.
        file: the description's path relative to the root.
        number: the N of ``subtaskN``.
        value: the entry.
        extras: members of the description that are no tasks.

    Raises:
        Malformed: when the entry cannot be read; its pointer is relative to the entry.
    """
    name = f"subtask{number}"
    parts = describe(value)
    pointers = {f"/user/turns/0/{i}/content": pointer for i, (pointer, _) in enumerate(parts.said)}
    if isinstance(value, Mapping):
        pointers |= {f"/metadata/{key}": f"/{key}" for key in ("query", "deliverables", "rubric") if key in value}
        pointers |= {"/metadata/criteria": "/rubric"} if "rubric" in value else {}
    return AgentTask(
        id=f"{scenario.id}/{name}",
        native_id=f"{scenario.id}/{name}",
        benchmark=BENCHMARK,
        subtask=scenario.capability,
        user=UserSpec(kind="scripted", turns=(tuple(Message(role="user", content=text) for _, text in parts.said),)),
        environment=WORKSPACE,
        evaluation=EvaluationSpec(checks=_checks(parts)),
        ground_truth=GroundTruth(semantics="none", call_matching="none"),
        traits=_traits(number, value, parts),
        cluster=scenario.id,
        metadata={
            "scenario": scenario.id,
            "number": number,
            "query": parts.query,
            "deliverables": list(parts.deliverables),
            "rubric": parts.rubric,
            "criteria": list(parts.criteria),
            "criteria_heading": parts.heading if parts.criteria else "",
            **{key: text for key, text in extras.items() if key != "subtask_count"},
        },
        origins={
            "": Origin(file=file, pointer=join("", name)),
            **{ours: Origin(file=file, pointer=f"/{name}{theirs}") for ours, theirs in sorted(pointers.items())},
        },
    )


def _checks(parts: Description) -> tuple[Check, ...]:
    listed = (("criteria", parts.criteria, CRITERION_NOTE), ("deliverables", parts.deliverables, DELIVERABLE_NOTE))
    checks = [
        Check(kind="rubric", scored=True, expected=text, pointer=f"/metadata/{name}/{i}", note=note)
        for name, texts, note in listed
        for i, text in enumerate(texts)
    ]
    if not parts.criteria:
        whole = Check(kind="judge", scored=True, expected=parts.query, pointer="/metadata/query", note=UNSTATED_NOTE)
        checks.insert(0, whole)
    return tuple(checks)


def _traits(number: int, value: Any, parts: Description) -> frozenset[str]:
    traits = set()
    if parts.criteria:
        traits.add("rubric_in_prompt" if isinstance(value, str) else "rubric_maybe_in_prompt")
    if number > 1:
        traits.add("continues_previous")
    return frozenset(traits)
