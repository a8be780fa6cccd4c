"""Builds the record of a task from a row."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agenthard.audit.sources.formats.malformed import MalformedRecordError
from agenthard.audit.sources.mapping.calls import CallTurns, accepted_answers, candidates, read_calls
from agenthard.audit.sources.mapping.checks import checks
from agenthard.audit.sources.mapping.conversation import read_turns
from agenthard.audit.sources.mapping.data import MappedRow, look_up, read_value_file, value_files
from agenthard.audit.sources.mapping.mapping import MappingFile, ValuePath
from agenthard.audit.sources.mapping.paths import PathSyntaxError, as_text, compile_path, structured, text_list
from agenthard.audit.sources.mapping.tools import read_tools
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, EnvironmentSpec, EvaluationSpec, GroundTruth, ToolSpec, UserSpec

_PARTS = {
    "user.turns": "/user/turns",
    "user.instruction": "/user/instruction",
    "environment.policy": "/environment/policy",
    "environment.tools": "/environment/tools",
    "environment.user_tools": "/environment/user_tools",
    "environment.state": "/environment/state",
    "initial_state": "/initial_state",
    "ground_truth.calls": "/ground_truth/turns",
    "ground_truth.outputs": "/ground_truth/outputs",
    "ground_truth.answers": "/ground_truth/answers",
}
"""Parts of the record by the key that maps them."""


class Builder:
    """Builds tasks. Equal tools, policies and states give the same environment object."""

    def __init__(self, mapping: MappingFile, folder: Path) -> None:
        """Prepare to build.

        Raises:
            SourceError: when a file that the mapping names for a value cannot be read.
        """
        self._mapping = mapping
        self._folder = folder
        places = mapping.places()
        self._files = {p.file: read_value_file(folder, p.file) for p in places.values() if p.file is not None}
        self._places = {key: p for key, p in places.items() if p.path is not None}
        self._environments: dict[str, EnvironmentSpec] = {}

    def build(self, row: MappedRow) -> AgentTask:
        """Build the task of a row.

        Raises:
            MalformedRecordError: when a field is missing or has another shape; its pointer is one inside the row.
        """
        m = self._mapping
        native_id = self._id(row)
        environment = self._environment(row)
        truth = self._truth(row, environment)
        traits = frozenset(text_list(self._value(row, m.traits)))
        metadata = {name: self._value(row, place) for name, place in m.metadata.items()}
        if m.ground_truth.choices is not None:
            metadata |= self._choices(row)
        cluster = self._value(row, m.cluster)
        return AgentTask(
            id=native_id,
            native_id=native_id,
            benchmark=m.benchmark,
            subtask=self._text(row, m.subtask),
            user=self._user(row),
            environment=environment,
            initial_state=structured(self._value(row, m.initial_state)),
            evaluation=EvaluationSpec(
                checks=checks(m.evaluation, truth, traits, lambda place: structured(self._value(row, place)))
            ),
            ground_truth=truth,
            traits=traits,
            cluster=None if cluster is None else as_text(cluster),
            metadata={key: value for key, value in metadata.items() if value is not None},
            origins=self._origins(row, truth),
        )

    def _value(self, row: MappedRow, place: ValuePath | None) -> Any:
        if place is None:
            return None
        if place.file is not None:
            return self._files[place.file]
        try:
            return look_up(place, row.values)
        except PathSyntaxError as error:
            raise MalformedRecordError(str(error), _pointer(place)) from error

    def _needed(self, row: MappedRow, place: ValuePath, key: str) -> Any:
        value = self._value(row, place)
        if value is None and "default" not in place.model_fields_set:
            reason = f"{key}: the path {place.path or place.file!r} leads to nothing here"
            raise MalformedRecordError(reason, "", "fix the record, or give the path a default in the mapping")
        return value

    def _text(self, row: MappedRow, place: ValuePath | None) -> str:
        value = self._value(row, place)
        return "" if value is None else as_text(value)

    def _id(self, row: MappedRow) -> str:
        if self._mapping.id is None:
            return row.file if self._mapping.rows == "" else f"{row.file}:{row.number}"
        value = self._needed(row, self._mapping.id, "id")
        if isinstance(value, (dict, list, bool)) or as_text(value) == "":
            raise MalformedRecordError(
                f"expected an id, found {as_text(value)[:60] or 'nothing'}", _pointer(self._mapping.id)
            )
        return as_text(value)

    def _user(self, row: MappedRow) -> UserSpec:
        user = self._mapping.user
        if user.turns is not None:
            said = self._needed(row, user.turns, "user.turns")
            turns = read_turns(said, _pointer(user.turns), user.roles, per_user_message=user.turn_per_user_message)
            return UserSpec(kind="scripted", turns=turns)
        assert user.instruction is not None
        told = "\n".join(text_list(self._needed(row, user.instruction, "user.instruction")))
        if not told.strip():
            raise MalformedRecordError("the instruction of the simulated user is empty", _pointer(user.instruction))
        context = {name: "\n".join(text_list(self._value(row, place))) for name, place in user.context.items()}
        return UserSpec(kind="simulated", instruction=told, context={k: v for k, v in context.items() if v})

    def _environment(self, row: MappedRow) -> EnvironmentSpec:
        spec = self._mapping.environment
        places = (spec.tools, spec.user_tools, spec.policy, spec.state)
        values = [self._value(row, place) for place in places]
        key = json.dumps([v if p and p.path else None for p, v in zip(places, values, strict=True)], ensure_ascii=False)
        if key not in self._environments:
            tools, user_tools, policy, state = values
            self._environments[key] = EnvironmentSpec(
                tools=self._tools(row, spec.tools, tools),
                user_tools=self._tools(row, spec.user_tools, user_tools),
                policy="\n".join(text_list(policy)),
                state=structured(state),
                state_name=spec.state.file if spec.state else None,
            )
        return self._environments[key]

    def _tools(self, row: MappedRow, place: ValuePath | None, value: Any) -> tuple[ToolSpec, ...]:
        if place is None or value is None:
            return ()
        if place.file is None or "*" not in place.file:
            return read_tools(value, _origin(row, place))
        names = value_files(self._folder, place.file)
        return tuple(
            tool for name in names for tool in read_tools(read_value_file(self._folder, name), Origin(file=name))
        )

    def _truth(self, row: MappedRow, environment: EnvironmentSpec) -> GroundTruth:
        spec = self._mapping.ground_truth
        turns: CallTurns = ()
        if spec.calls is not None:
            turns = read_calls(
                self._needed(row, spec.calls, "ground_truth.calls"),
                _pointer(spec.calls),
                (*environment.tools, *environment.user_tools),
                per_turn=spec.per_turn,
                lists=spec.accepted == "values",
            )
        answers: tuple[str, ...] = ()
        if spec.answers is not None:
            given = self._needed(row, spec.answers, "ground_truth.answers")
            answers = accepted_answers(given, structured(self._value(row, spec.choices)), spec.first_choice)
        return GroundTruth(
            semantics="none" if spec.calls is None else spec.semantics,
            turns=turns,
            outputs=tuple(text_list(self._value(row, spec.outputs))),
            answers=answers,
            call_matching="none" if spec.calls is None else spec.matching,
        )

    def _choices(self, row: MappedRow) -> dict[str, Any]:
        spec = self._mapping.ground_truth
        choices = structured(self._value(row, spec.choices))
        return {
            "choices": choices,
            "candidates": candidates(self._value(row, spec.answers), choices, spec.first_choice),
        }

    def _origins(self, row: MappedRow, truth: GroundTruth) -> dict[str, Origin]:
        found = {"": row.origin()}
        for key, place in self._places.items():
            part = _PARTS.get(key) or (f"/{key.replace('.', '/', 2)}" if key.startswith("user.context.") else None)
            if part is not None:
                found[part] = row.origin(_pointer(place))
        calls = self._mapping.ground_truth.calls
        if calls is not None and calls.path is not None and len(truth.turns) == 1:
            found["/ground_truth/turns/0"] = row.origin(_pointer(calls))
            found |= _joined_calls(row, _pointer(calls), len(truth.turns[0]))
        return found


def _joined_calls(row: MappedRow, pointer: str, count: int) -> dict[str, Origin]:
    """Return where each call is, when each is a joined row of its own."""
    column = pointer.split("/")[-1]
    partners = row.joined[column] if column in row.lists and column in row.joined else ()
    if len(partners) != count:
        return {}
    return {f"/ground_truth/turns/0/{number}": each.origin() for number, each in enumerate(partners)}


def _pointer(place: ValuePath) -> str:
    return "" if place.path is None else compile_path(place.path).pointer


def _origin(row: MappedRow, place: ValuePath | None) -> Origin:
    if place is not None and place.file is not None:
        return Origin(file=place.file)
    return row.origin(_pointer(place) if place else "")


def absent_paths(places: Mapping[str, ValuePath], rows: Any) -> dict[str, tuple[str, list[str]]]:
    """Return the paths that are in none of the rows, with the first absent step and the names that are there instead.

    Rows are read only until every path was found; a place with a default may be absent.
    """
    open_ = {k: p.path for k, p in places.items() if p.path is not None and "default" not in p.model_fields_set}
    missing: dict[str, tuple[str, list[str]]] = {}
    for row in rows:
        for key, path in list(open_.items()):
            absent = compile_path(path).absent(row.values)
            if absent is None:
                open_.pop(key)
                missing.pop(key, None)
            else:
                missing.setdefault(key, absent)
        if not open_:
            break
    return missing
