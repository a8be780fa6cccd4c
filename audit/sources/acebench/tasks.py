"""From a question and its answer to the record of a task."""

import json
from collections.abc import Mapping
from typing import Any

from agenthard.audit.sources.acebench.answers import answer_calls, milestones, required_texts
from agenthard.audit.sources.acebench.categories import Category
from agenthard.audit.sources.acebench.conversation import messages
from agenthard.audit.sources.acebench.documentation import tool
from agenthard.audit.sources.bfcl.tasks import Place
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    UserSpec,
)

BENCHMARK = "acebench"

CALLS_NOTE = "strings match when one contains the other, blanks and case apart; other values are compared by type"
TEXT_NOTE = "must stand in the agent's reply, word for word"
STATE_NOTE = (
    "the final state of each class must equal the one listed; the milestones only measure how far an attempt came"
)

_READ = frozenset({"id", "question", "function", "time", "profile", "initial_config"})


class Toolbox:
    """Builds environments. Equal documentation gives the same object."""

    def __init__(self) -> None:
        self._environments: dict[str, EnvironmentSpec] = {}

    def environment(self, question: Place) -> EnvironmentSpec:
        """Return the environment that the ``function`` field of a question documents.

        Raises:
            MalformedRecordError: when a documentation breaks the format.
        """
        docs = member(question.record.value, "function", list)
        key = json.dumps(docs)
        if key not in self._environments:
            tools = tuple(tool(doc, question.origin(join("/function", index))) for index, doc in enumerate(docs))
            self._environments[key] = EnvironmentSpec(tools=tools)
        return self._environments[key]


def build_task(category: Category, question: Place, answer: Place, toolbox: Toolbox) -> AgentTask:
    """Build a task.

    Raises:
        MalformedRecordError: A field is missing or of a wrong type; pointers below ``/ground_truth`` or ``/mile_stone``
            is one into the answer.
    """
    record = question.record.value
    native_id = member(record, "id", str)
    environment = toolbox.environment(question)
    metadata = {key: value for key, value in record.items() if key not in _READ}
    truth, checks = _expected(category, answer.record.value, environment, metadata)
    origins = {
        "": question.origin(),
        "/user": question.origin("/question"),
        "/environment/tools": question.origin("/function"),
        "/ground_truth": answer.origin("/ground_truth"),
    }
    if category.scoring == "state":
        origins["/ground_truth/turns"] = answer.origin("/mile_stone")
        origins["/evaluation"] = answer.origin("/ground_truth")
        origins["/initial_state"] = question.origin("/initial_config")
    return AgentTask(
        id=native_id,
        native_id=native_id,
        benchmark=BENCHMARK,
        subtask=category.name,
        user=_user(category, record),
        environment=environment,
        initial_state=expect(record.get("initial_config", {}), dict, "/initial_config") or None,
        evaluation=EvaluationSpec(checks=checks),
        ground_truth=truth,
        traits=category.traits,
        cluster=category.cluster(native_id),
        metadata=metadata,
        origins=origins,
    )


def _user(category: Category, record: Mapping[str, Any]) -> UserSpec:
    question = member(record, "question", str)
    if category.simulated:
        return UserSpec(kind="simulated", instruction=question)
    told = (record.get(name) for name in ("time", "profile"))
    context = [Message(role="system", content=text) for text in told if isinstance(text, str) and text.strip()]
    said = [Message(role="user", content=question)] if category.scoring == "state" else messages(question)
    return UserSpec(kind="scripted", turns=((*context, *said),))


def _expected(
    category: Category, answer: Mapping[str, Any], environment: EnvironmentSpec, metadata: dict[str, Any]
) -> tuple[GroundTruth, tuple[Check, ...]]:
    if "ground_truth" not in answer:
        raise MalformedRecordError("the answer lacks the field 'ground_truth'", "/ground_truth")
    gold = answer["ground_truth"]
    if category.scoring == "calls":
        calls, others = answer_calls(gold, [tool.name for tool in environment.tools])
        metadata.update({"alternatives": others} if others else {})
        truth = GroundTruth(semantics="required", turns=(calls,), call_matching="any_order")
        return truth, (Check(kind="tool_calls", scored=True, pointer="/ground_truth/turns/0", note=CALLS_NOTE),)
    if category.scoring == "state":
        names = {tool.name: list(tool.parameters["properties"]) for tool in environment.tools}
        path, others = milestones(answer.get("mile_stone", []), names)
        metadata.update({"alternatives": others} if others else {})
        truth = GroundTruth(semantics="milestones", turns=(path,), call_matching="state")
        states = expect(gold, list, "/ground_truth")
        return truth, (Check(kind="final_state", scored=True, expected=states, note=STATE_NOTE),)
    if category.scoring == "irrelevant":
        sentence = expect(gold, str, "/ground_truth")
        return _nothing(()), (Check(kind="no_call", scored=True, expected=sentence),)
    texts = [text for text, _ in required_texts(gold)]
    metadata["about"] = list(gold)
    required = [
        Check(kind="output_substring", scored=True, expected=text, pointer=f"/ground_truth/outputs/{i}", note=TEXT_NOTE)
        for i, text in enumerate(texts)
    ]
    return _nothing(tuple(texts)), (Check(kind="no_call", scored=True), *required)


def _nothing(outputs: tuple[str, ...]) -> GroundTruth:
    return GroundTruth(semantics="required", turns=((),), outputs=outputs)
