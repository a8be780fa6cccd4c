"""Builds the record of a task from its question line and its answer line."""

from collections.abc import Mapping
from typing import Any

from agenthard.audit.sources.bfcl.categories import Category
from agenthard.audit.sources.bfcl.tools import BfclEnvironments
from agenthard.audit.sources.formats.accepted_values import answer_calls
from agenthard.audit.sources.formats.calls import parse_call
from agenthard.audit.sources.formats.json_records import FileRecord
from agenthard.audit.sources.formats.malformed import MalformedRecordError, expect, member
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import (
    AgentTask,
    Check,
    EnvironmentSpec,
    EvaluationSpec,
    GroundTruth,
    Message,
    ToolCall,
    UserSpec,
)

BENCHMARK = "bfcl"

CALLS_NOTE = (
    "numbers, booleans and the documented type are compared; strings without regard to case, blanks and the "
    "characters , . / - _ * ^"
)
ANY_CALL_NOTE = "any call suffices: neither the function nor its arguments are looked at"
STATE_NOTE = (
    "after this turn the public attributes of every class must equal those after the gold calls, and what each gold "
    "call returns must be among all that the run's calls have returned so far; further calls are free"
)
ANSWER_NOTE = (
    "one of the texts must stand, as whole words, in the last message that is not a call, regardless of case and "
    "the characters , . / - _ * ^ ( )"
)

_READ_FIELDS = frozenset({"id", "question", "function", "initial_config", "involved_classes", "missed_function"})


def build_task(
    category: Category,
    question: FileRecord,
    answer: FileRecord | None,
    environments: BfclEnvironments,
    content_hash: str | None = None,
) -> AgentTask:
    """Build a task.

    Args:
        category: its category.
        question: its line in the question file.
        answer: its line in the answer file, where the category has answers.
        environments: builds the environment.
        content_hash: hash of the bytes that make it a task of a release.

    Raises:
        MalformedRecordError: when a field is missing or of the wrong type.
    """
    record = question.record.value
    native_id = member(record, "id", str)
    metadata = {key: value for key, value in record.items() if key not in _READ_FIELDS}
    origins = {"": question.origin(), "/user/turns": question.origin("/question")}
    if category.scoring in ("state", "answer"):
        environment = _class_environment(category, record, environments)
        origins["/environment/tools"] = question.origin("/involved_classes")
    else:
        environment = environments.documented(member(record, "function", list), category, question.origin("/function"))
        origins["/environment/tools"] = question.origin("/function")
    if "initial_config" in record or category.scoring == "state":
        origins["/initial_state"] = question.origin("/initial_config")
    if "missed_function" in record:
        origins["/hidden_tools"] = question.origin("/missed_function")
    ground_truth = _ground_truth(category, answer, environment, metadata, origins)
    return AgentTask(
        id=category.task_id(native_id),
        native_id=native_id,
        benchmark=BENCHMARK,
        subtask=category.name,
        user=UserSpec(kind="scripted", turns=_turns(member(record, "question", list))),
        environment=environment,
        initial_state=_initial_state(category, record),
        hidden_tools=_hidden_tools(record),
        evaluation=EvaluationSpec(checks=tuple(_checks(category, ground_truth))),
        ground_truth=ground_truth,
        traits=category.traits,
        cluster=category.cluster(native_id),
        metadata=metadata,
        origins=origins,
        content_hash=content_hash,
    )


def _turns(question: list[Any]) -> tuple[tuple[Message, ...], ...]:
    return tuple(
        tuple(_message(message, join("/question", i, j)) for j, message in enumerate(_items(turn, "/question", i)))
        for i, turn in enumerate(question)
    )


def _message(message: Any, pointer: str) -> Message:
    fields = expect(message, dict, pointer)
    role = member(fields, "role", str, pointer)
    if role not in ("system", "user", "assistant", "tool"):
        raise MalformedRecordError(f"unknown role {role!r}", join(pointer, "role"))
    return Message(role=role, content=member(fields, "content", str, pointer))


def _items(value: Any, pointer: str, *parts: str | int) -> list[Any]:
    return expect(value, list, join(pointer, *parts))


def _class_environment(
    category: Category, record: Mapping[str, Any], environments: BfclEnvironments
) -> EnvironmentSpec:
    if category.class_name:
        return environments.of_classes([category.class_name], member(record, "scenario", str))
    names = member(record, "involved_classes", list)
    return environments.of_classes([expect(name, str, join("/involved_classes", i)) for i, name in enumerate(names)])


def _initial_state(category: Category, record: Mapping[str, Any]) -> Any:
    if category.stem == "web_search":
        return {"WebSearchAPI": {"show_snippet": category.name != "web_search_no_snippet"}}
    if category.scoring == "state":
        return member(record, "initial_config", dict)
    return None


def _hidden_tools(record: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    hidden = expect(record.get("missed_function", {}), dict, "/missed_function")
    return {
        turn: tuple(
            expect(name, str, join("/missed_function", turn, i))
            for i, name in enumerate(_items(names, "/missed_function", turn))
        )
        for turn, names in hidden.items()
    }


def _ground_truth(
    category: Category,
    answer: FileRecord | None,
    environment: EnvironmentSpec,
    metadata: dict[str, Any],
    origins: dict[str, Origin],
) -> GroundTruth:
    if category.scoring == "no_call":
        return GroundTruth(semantics="required", turns=((),))
    if answer is None:
        return GroundTruth(semantics="none", call_matching="none")
    gold = member(answer.record.value, "ground_truth", list)
    extra = {key: value for key, value in answer.record.value.items() if key not in ("id", "ground_truth")}
    if extra:
        metadata["answer"] = extra
    origins["/ground_truth"] = answer.origin()
    if category.scoring == "state":
        origins["/ground_truth/turns"] = answer.origin("/ground_truth")
        return GroundTruth(semantics="reference_path", turns=_gold_turns(gold, environment), call_matching="state")
    if category.scoring == "answer":
        origins["/ground_truth/answers"] = answer.origin("/ground_truth")
        texts = tuple(expect(text, str, join("/ground_truth", i)) for i, text in enumerate(gold))
        return GroundTruth(semantics="none", answers=texts, call_matching="none")
    calls, unlisted = answer_calls(gold, environment.tools, one_function=category.one_function)
    if unlisted:
        metadata["unlisted_values"] = unlisted
    origins["/ground_truth/turns/0"] = answer.origin("/ground_truth")
    for index, (call, item) in enumerate(zip(calls, gold, strict=True)):
        [written] = item
        origins[f"/ground_truth/turns/0/{index}/arguments"] = answer.origin(join("/ground_truth", index, written))
        if written != call.name:
            metadata["answer_function"] = written
    matching = "any_order" if category.any_order else "exact"
    return GroundTruth(semantics="required", turns=(calls,), call_matching=matching)


def _gold_turns(gold: list[Any], environment: EnvironmentSpec) -> tuple[tuple[ToolCall, ...], ...]:
    parameters = {tool.name: list(tool.parameters["properties"]) for tool in environment.tools}
    return tuple(
        tuple(
            parse_call(expect(text, str, join("/ground_truth", i, j)), parameters)
            for j, text in enumerate(_items(turn, "/ground_truth", i))
        )
        for i, turn in enumerate(gold)
    )


def _checks(category: Category, ground_truth: GroundTruth) -> list[Check]:
    if category.scoring == "no_call":
        return [Check(kind="no_call", scored=True)]
    if category.scoring == "any_call":
        return [Check(kind="tool_calls", scored=True, note=ANY_CALL_NOTE)]
    if category.scoring == "calls":
        return [Check(kind="tool_calls", scored=True, pointer="/ground_truth/turns/0", note=CALLS_NOTE)]
    if category.scoring == "answer":
        pointer, texts = "/ground_truth/answers", list(ground_truth.answers)
        return [Check(kind="output_substring", scored=True, expected=texts, pointer=pointer, note=ANSWER_NOTE)]
    return [
        Check(kind="final_state", scored=True, pointer=f"/ground_truth/turns/{i}", note=STATE_NOTE)
        for i, turn in enumerate(ground_truth.turns)
        if turn
    ]
