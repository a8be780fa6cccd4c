"""Check: near-clones, with the same words and a tool that fits in both, whose ground truths exclude each other."""

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from agenthard.audit.detectors.base import Conclusion, Hit, Observation, SuiteDetector, Undecided
from agenthard.audit.detectors.support.conflicts import conflict, named
from agenthard.audit.detectors.support.same_task import COMPARED, contradicts, group_cause, same_task_key
from agenthard.audit.detectors.support.schema import violations
from agenthard.audit.detectors.support.text import squash
from agenthard.audit.evidence import quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory

_SHORTEST_REQUEST = 5


class ConflictingRequest(SuiteDetector):
    """The same request is not answered by a call in one task and by none, or by another one, in its near-clone.

    Near-clones have the same words of the user, without regard to case and punctuation, and tools that are alike and
    not equal. Two of them contradict each other when

    * one wants no call, and every gold call of the other fits the schema of a tool of the same name in the first; or
    * both want calls that exclude each other, and the tools that either calls take the same arguments in both, so that
      both sets of calls can be made in both.

    Flagged: "Version?", with ``get_version`` described in two ways: one gold calls it, the other wants no call.
    Not flagged: a task that wants no call because the tool is absent or lacks the parameter; golds that follow a
    difference of the documentation (another date format, another type); equal tasks, which conflicting-gold compares.

    Wrong where two descriptions of a tool with one name make it fit in one task and not in the other.
    """

    id = "conflicting-request"
    title = "Near-clones with incompatible ground truths"
    version = "1"
    category = "duplicate-or-conflicting-task"
    severity = Severity.AFFECTS_SCORE
    tier = Tier.SUSPECTED
    why = "The call that is right in one task can be made in the other and is scored as wrong there."

    def not_applicable(self, task: AgentTask) -> str | None:
        """Only tasks that score calls, and hold no state, can be compared by their words and tools."""
        if next(task.user_texts(), None) is None:
            return "the user says nothing"
        if task.initial_state is not None or task.environment.state is not None:
            return "the state decides as well what is right"
        wanted = any(task.ground_truth.turns) and task.ground_truth.semantics == "required"
        return None if wanted or "expects_no_call" in task.traits else "no particular call is wanted"

    def observe(self, task: AgentTask, runs: Iterator[Trajectory]) -> Iterator[Observation]:
        """Note the words, the tools and the gold."""
        texts = list(task.user_texts())
        said = "\n".join(squash(text) for _, text in texts)
        if len(said) < _SHORTEST_REQUEST or task.ground_truth.answers or task.ground_truth.outputs:
            return
        yield Observation(
            task_id=task.id,
            key=hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest(),
            value={
                "same": same_task_key(task),
                "cluster": task.cluster,
                "traits": sorted(task.traits),
                "tools": {tool.name: tool.parameters for tool in task.environment.tools},
                "ground_truth": task.ground_truth.model_dump(mode="json"),
            },
            evidence=(quote(task, texts[-1][0], note="the request"), quote(task, "/ground_truth")),
        )

    def shared_keys(self, observation: Observation) -> tuple[str, ...]:
        """Only tasks with the same request are compared."""
        return (observation.key,)

    def conclude(self, observations: Sequence[Observation]) -> Iterator[Conclusion | Undecided]:
        """Yield one hit per request that near-clones answer differently."""
        groups: dict[str, list[Observation]] = {}
        for observation in observations:
            groups.setdefault(observation.key, []).append(observation)
        for members in groups.values():
            found = conflict(members, _conflict, *COMPARED, "cluster", "same", "tools")
            if found is not None:
                kept, first, second, why = found
                ids = [member.task_id for member in kept]
                yield Conclusion(
                    task_ids=tuple(ids),
                    hit=Hit(
                        claim=f"{named(ids)} make the same request, with tools for the same calls, but {why}.",
                        evidence=(*first.evidence, *second.evidence),
                        fix="Decide which ground truth is right, or make the tools differ in what decides it.",
                        cause=group_cause("same request", kept),
                    ),
                )


def _conflict(a: Observation, b: Observation) -> str | None:
    variants = a.value["cluster"] is not None and a.value["cluster"] == b.value["cluster"]
    if variants or a.value["same"] == b.value["same"]:
        return None
    why = contradicts(a, b)
    if why is None:
        return None
    quiet = ["expects_no_call" in item.value["traits"] for item in (a, b)]
    if quiet == [True, False] or quiet == [False, True]:
        caller, other = (b, a) if quiet[0] else (a, b)
        return why if all(_fits(call, other.value["tools"]) for call in _calls(caller)) else None
    tools = a.value["tools"], b.value["tools"]
    called = {call["name"] for item in (a, b) for call in _calls(item)}
    return why if all(name in tools[0] and tools[0][name] == tools[1].get(name) for name in called) else None


def _calls(item: Observation) -> list[dict[str, Any]]:
    return [call for turn in item.value["ground_truth"]["turns"] for call in turn]


def _fits(call: dict[str, Any], tools: dict[str, Any]) -> bool:
    try:
        return call["name"] in tools and not violations(call["arguments"], tools[call["name"]], lambda *_: False)
    except ValueError:
        return False
