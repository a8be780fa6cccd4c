"""Builds the record of a task from a question and its answer."""

import json
import re
from collections.abc import Mapping
from typing import Any

from agenthard.audit.sources.acebench.answers import answer_calls, milestones, required_texts
from agenthard.audit.sources.acebench.layout import Category
from agenthard.audit.sources.formats.json_records import FileRecord
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member
from agenthard.audit.sources.formats.tool_docs import translate
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolSpec,
    UserSpec,
)

BENCHMARK = "acebench"

CALLS_NOTE = "strings match when one contains the other, blanks and case apart; other values are compared by type"
TEXT_NOTE = "must stand in the agent's reply, word for word"
STATE_NOTE = (
    "the final state of each class must equal the one listed; the milestones only measure how far an attempt came"
)

_READ = frozenset({"id", "question", "function", "time", "profile", "initial_config"})


class AceBenchEnvironments:
    """Builds environments. Equal documentation gives the same object."""

    def __init__(self) -> None:
        self._environments: dict[str, EnvironmentSpec] = {}

    def environment(self, question: FileRecord) -> EnvironmentSpec:
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


def build_task(
    category: Category, question: FileRecord, answer: FileRecord, environments: AceBenchEnvironments
) -> AgentTask:
    """Build a task.

    Raises:
        MalformedRecordError: A field is missing or of a wrong type; pointers below ``/ground_truth`` or ``/mile_stone``
            is one into the answer.
    """
    record = question.record.value
    native_id = member(record, "id", str)
    environment = environments.environment(question)
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


NATIVE_FORMAT = "x-format"
"""Keyword that keeps a format whose meaning in JSON Schema the answers do not follow."""

LOCAL_FORMATS = ("date-time", "time")
"""JSON Schema requires a time zone in these. ACEBench's users and most answers give none, and nothing reads it."""


def tool(doc: Any, origin: Origin) -> ToolSpec:
    """Build the record of one documented function.

    Args:
        doc: the documentation, with its schema under ``parameters`` or under ``arguments``.
        origin: where it is.

    Raises:
        MalformedRecordError: when a field is missing or of the wrong type.
    """
    fields = expect(doc, dict, origin.pointer)
    written = "arguments" if "arguments" in fields and "parameters" not in fields else "parameters"
    parameters = _schema(member(fields, written, dict, origin.pointer), join(origin.pointer, written))
    parameters.setdefault("properties", {})
    results = fields.get("results")
    return ToolSpec(
        name=member(fields, "name", str, origin.pointer),
        description=member(fields, "description", str, origin.pointer) if "description" in fields else "",
        parameters=parameters,
        returns=None if results is None else _schema(results, join(origin.pointer, "results")),
        origin=origin,
    )


def _schema(written: Any, pointer: str) -> dict[str, Any]:
    schema = translate(written, pointer)
    _keep_formats(schema)
    return schema


def _keep_formats(schema: dict[str, Any]) -> None:
    if schema.get("format") in LOCAL_FORMATS:
        schema[NATIVE_FORMAT] = schema.pop("format")
    below = [*schema.get("properties", {}).values(), schema.get("items"), *schema.get("prefixItems", ())]
    for inner in below:
        if isinstance(inner, dict):
            _keep_formats(inner)


_LABEL = re.compile(r"^[ \t]*(user|system)[ \t]*[:\uff1a]", re.MULTILINE)


def messages(question: str) -> tuple[Message, ...]:
    r"""Split a conversation at its labels; "system" is the assistant. A text without labels is the user's.

    >>> [(m.role, m.content) for m in messages("user: Hi\nsystem: Yes?\nuser: Pay.\n")]
    [('user', 'Hi'), ('assistant', 'Yes?'), ('user', 'Pay.')]
    """
    head, *parts = _LABEL.split(question)
    said = [Message(role="user", content=head.strip())] if head.strip() else []
    for label, text in zip(parts[::2], parts[1::2], strict=True):
        said.append(Message(role="user" if label == "user" else "assistant", content=text.strip()))
    return tuple(said)
