"""Chooses the column for each part of a task: first by its values, then by its name."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from agenthard.audit.sources.mapping.data import MappedRow
from agenthard.audit.sources.mapping.infer.columns import (
    Column,
    is_answer,
    is_calls,
    is_choices,
    is_messages,
    is_object,
    is_prose,
    is_scalar,
    is_texts,
    is_tools,
)
from agenthard.audit.sources.mapping.paths import structured

_SCORING = ("ground_truth", "evaluation")
_FITS = 0.8
"""Share of a column's values that must look like the part. The rest may be the benchmark's flaws."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_FEW = 0.5
"""A category has at most this share of different values."""


@dataclass(frozen=True)
class Role:
    """A part of a task and how to recognise it."""

    key: str
    """Its key in the mapping."""
    names: tuple[str, ...]
    """Usual names of its column, in lower case with underscores."""
    content: str
    """A description of its values."""
    must_be_named: bool
    """Whether its name has to fit too."""
    asked: str
    """What a person is asked for."""


@dataclass(frozen=True)
class Choice:
    """The column chosen for a part."""

    role: Role
    """The part."""
    column: Column
    """The column."""
    named: float
    """How well the name fits: 1 = a usual name, 0 = not at all."""
    others: tuple[Column, ...]
    """Columns that could be it too, the best first."""


ROLES = (
    Role("environment.tools", ("tools", "functions", "function", "apis", "available_tools", "api_list"),
         "documentation of tools", False, "the documentation of the tools"),
    Role("ground_truth.calls", (
        "ground_truth", "calls", "tool_calls", "function_calls", "actions", "expected_calls", "gold_calls", "answers",
        "gold", "expected", "mile_stone", "milestones", "answer", "api_calls", "target", "reference", "label",
        "trajectory", "solution", "gold_actions", "expected_actions"), "calls of tools", False, "the expected calls"),
    Role("user.turns", (
        "question", "questions", "query", "prompt", "instruction", "instructions", "task_instructions", "user",
        "messages", "conversations", "conversation", "dialogue", "dialog", "turns", "input", "problem", "task",
        "request", "utterance", "goal", "user_query", "user_prompt", "scenario", "subtask#", "task#", "turn#", "step#",
        "query#", "question#", "problem_statement", "user_message", "ticket", "text", "message"),
         "what the user says", False, "what the user says"),
    Role("ground_truth.choices", ("choices", "options", "candidates", "alternatives"), "choices", True,
         "the choices of a question"),
    Role("ground_truth.outputs", ("outputs", "communicate_info", "required_outputs", "must_include", "keywords"),
         "texts to say", True, "texts that the agent has to say"),
    Role("evaluation.rubric", ("rubric", "rubrics", "criteria", "nl_assertions", "grading", "checklist"),
         "criteria as text", True, "criteria by which a run is graded"),
    Role("ground_truth.answers", (
        "answer", "answers", "final_answer", "gold_answer", "expected_answer", "correct_answer", "answer_key", "target",
        "label", "solution", "expected_output", "expected", "gold", "reference", "ground_truth", "output", "correct",
        "reference_answer", "response", "ideal"), "a final answer", True, "the accepted answer"),
    Role("environment.policy", ("policy", "system", "system_prompt", "guidelines", "rules", "wiki", "system_message"),
         "a text", True, "the system prompt or policy"),
    Role("initial_state", ("initial_state", "initial_config", "initial_configuration", "state", "env_state", "database",
                           "db", "environment_state", "setup"), "an object", True, "the initial state of the task"),
    Role("subtask", ("category", "subtask", "domain", "type", "task_type", "subject", "topic", "split", "level",
                     "difficulty", "question_type", "config", "kind"), "few different values", True,
         "the category of the task"),
    Role("cluster", ("cluster", "group", "group_id", "template_id", "template", "parent_id", "base_id", "family",
                     "scenario_id", "persona_id"), "values that repeat", True,
         "what variants of one task share"),
)  # fmt: skip
"""The parts, in the order in which columns are given to them."""


def choose(
    columns: Sequence[Column],
    answers: str | None = None,
    shared_tools: Collection[str] = (),
    given: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Choice]:
    """Choose a column for each part that has one; a column inside or around a chosen one is not chosen again.

    Args:
        columns: the columns.
        answers: column of joined rows, which are for the ground truth and the evaluation alone.
        shared_tools: names of tools that all rows share, from a file next to theirs.
        given: path of the column by part, as a person said; None: the part has none. Other keys are not used.
    """
    known = {column.path: column for column in columns}
    said = [role.key for role in ROLES if role.key in given]
    taken = [known[given[key]] for key in said if given[key] in known]
    chosen: dict[str, Choice] = {}
    tools = [set(shared_tools)] * len(columns[0].values) if columns else []
    for role in ROLES:
        if role.key in said:
            if given[role.key] in known:
                chosen[role.key] = Choice(role, known[given[role.key]], 1.0, ())
            if role.key in chosen and role.key == "environment.tools":
                tools = [tool_names(value) for value in chosen[role.key].column.values]
            continue
        found = [
            (named, looks, -index, column)
            for index, column in enumerate(columns)
            if column.present and not any(column.overlaps(other) for other in taken)
            if role.key.startswith(_SCORING) or column.keys[0] != answers
            for named in (name_fit(column, role.names),)
            for looks in (_look(role, column, tools),)
            if role.key != "user.turns" or not _of_the_agent(column)
            if looks >= _FITS and (named > 0 or not role.must_be_named) and not _too_varied(role, column)
        ]
        found.sort(key=lambda item: (-(item[0] + item[1] * _weight(role, item[3]) + item[3].share / 2), -item[2]))
        if not found:
            continue
        best = found[0][3]
        others = tuple(item[3] for item in found[1:4] if item[3].path not in best.path)
        chosen[role.key] = Choice(role, best, found[0][0], others)
        taken.append(best)
        if role.key == "environment.tools":
            tools = [tool_names(value) for value in best.values]
    return chosen


def name_fit(column: Column, names: Collection[str]) -> float:
    """Rate how well a column's name fits: 1 for a usual name, less for one that contains or lies below one."""
    words = ["_".join(part.lower() for part in _WORD.findall(key)) for key in column.keys]
    last = words[-1] + ("#" if column.keys[-1].endswith("#") else "")
    if last in names:
        return 1.0 - 0.01 * list(names).index(last) - 0.05 * (len(words) - 1)
    plain = {name.rstrip("s") for name in names if "_" not in name and "#" not in name}
    if any(part.rstrip("s") in plain for part in last.split("_")):
        return 0.5
    return 0.3 if any(word in names for word in words[:-1]) else 0.0


def _weight(role: Role, column: Column) -> float:
    """Weigh a column's values: messages and long texts are more likely to be what a user says than a word or two."""
    if role.key != "user.turns":
        return 1.0
    if _is_same(column):
        return -1.0
    first = column.present[0]
    if is_messages(first):
        return 0.7
    return 0.3 + min(len(str(first)), 200) / 1000


def _look(role: Role, column: Column, tools: Sequence[set[str]]) -> float:
    if role.key == "ground_truth.calls":
        fits = [is_calls(v, n) for v, n in zip(column.values, tools, strict=True) if v not in (None, "", [], {})]
    else:
        fits = [_LOOKS[role.key](value) for value in column.present]
    return sum(fits) / len(fits) if fits else 0.0


def tool_names(value: Any) -> set[str]:
    """Return the names of documented tools; none when the value is not a documentation of tools."""
    from agenthard.audit.sources.formats.malformed import MalformedRecordError
    from agenthard.audit.sources.mapping.tools import read_tools
    from agenthard.taxonomy.record import Origin

    try:
        return {tool.name for tool in read_tools(value, Origin(file=""))} if value is not None else set()
    except MalformedRecordError:
        return set()


_AGENT_WORDS = {"system", "sys", "policy", "policies", "guidelines", "rules", "wiki"}


def _of_the_agent(column: Column) -> bool:
    """Tell whether a column holds what the agent is told, by its name."""
    return bool({part.lower() for part in _WORD.findall(column.keys[-1])} & _AGENT_WORDS)


def _is_same(column: Column) -> bool:
    return len(column.present) > 2 and len({str(value) for value in column.present}) == 1


def _too_varied(role: Role, column: Column) -> bool:
    if role.key not in ("subtask", "cluster"):
        return False
    different = len({str(value) for value in column.present})
    return different > max(2, _FEW * len(column.present)) or (role.key == "subtask" and different > 100)


def _said(value: Any) -> bool:
    return is_prose(value) or is_messages(value) or (is_texts(value) and any(is_prose(text) for text in value))


_LOOKS: dict[str, Callable[[Any], bool]] = {
    "environment.tools": is_tools,
    "user.turns": _said,
    "ground_truth.choices": is_choices,
    "ground_truth.outputs": is_texts,
    "evaluation.rubric": lambda value: is_prose(value) or is_texts(value),
    "ground_truth.answers": is_answer,
    "environment.policy": is_prose,
    "initial_state": is_object,
    "subtask": lambda value: isinstance(value, str),
    "cluster": is_scalar,
}


_INSTRUCTION_NAMES = ("instruction", "instructions", "scenario", "persona", "task_instructions", "reason_for_call")
_YOU = re.compile(r"\byou(r|'re)?\b", re.IGNORECASE)
_YOU_FIRST = re.compile(r"\s*(you are|you're|you want|you would|you need|your)\b", re.IGNORECASE)
_AN_AGENT = re.compile(r"\byou are an? (\w+ )?(ai|assistant|expert|agent|chatbot)\b", re.IGNORECASE)
_USER_FIRST = re.compile(r"\s*user\s*[:\uff1a]", re.IGNORECASE)
_SYSTEM_ANSWERS = re.compile(r"^\s*system\s*[:\uff1a]", re.MULTILINE | re.IGNORECASE)
_MOST = 0.6


def is_simulated(column: Column, texts: Sequence[str]) -> bool:
    """Tell whether texts are for a model that plays the user.

    They are when most begin with "you" or "your", or say "you" under a name such as instruction, unless they say
    that "you" are an assistant.

    Args:
        column: the column that was chosen as what the user says.
        texts: its texts, and those of related columns.
    """
    if not texts or _share(texts, _AN_AGENT) > 1 - _MOST:
        return False
    named = name_fit(column, _INSTRUCTION_NAMES) >= 0.5
    begin = sum(bool(_YOU_FIRST.match(text)) for text in texts) / len(texts)
    return begin > _MOST or (named and _share(texts, _YOU) > _MOST)


def system_answers(texts: Sequence[str]) -> bool:
    """Tell whether texts are conversations in which "system:" answers "user:"."""
    begin = sum(bool(_USER_FIRST.match(text)) for text in texts)
    return begin > len(texts) / 2 and _share(texts, _SYSTEM_ANSWERS) > 0


def is_related(column: Column, instruction: Column) -> bool:
    """Tell whether a column of texts is in the same object as the instruction of a simulated user."""
    related = len(instruction.keys) > 1 and column.keys[0] == instruction.keys[0] and not column.overlaps(instruction)
    return related and all(isinstance(structured(value), str) for value in column.present)


def _share(texts: Sequence[str], pattern: re.Pattern[str]) -> float:
    return sum(bool(pattern.search(text)) for text in texts) / len(texts)


_ID_NAMES = (
    "id", "task_id", "question_id", "example_id", "uuid", "uid", "instance_id", "idx", "index", "qid", "key", "name",
    "number", "no", "nr", "ref", "code",
)  # fmt: skip
_LONGEST = 64


def named_id(columns: Sequence[Column], rows: Sequence[MappedRow]) -> str | None:
    """Return the path of a unique column with a usual name of an id, prefixed with the folder or the file if needed.

    Args:
        columns: the columns.
        rows: all rows, without what is joined to them.
    """
    called = [column for column in _full(columns) if name_fit(column, _ID_NAMES) > 0]
    for column in sorted(called, key=lambda item: -name_fit(item, _ID_NAMES)):
        for above in ("", "_folder", "_stem"):
            if _unique(rows, column.keys, above):
                return f"join('/', [{above}, to_string({column.path})])" if above else column.path
    return None


def unnamed_id(columns: Sequence[Column], rows: Sequence[MappedRow]) -> str | None:
    """Return the path of a column of words or numbers that is unique in all rows."""
    words = [column for column in _full(columns) if all(_is_word(value) for value in column.values)]
    return next((column.path for column in words if _unique(rows, column.keys, "")), None)


def _full(columns: Sequence[Column]) -> list[Column]:
    return [c for c in columns if "[]" not in c.keys and c.share == 1 and all(is_scalar(value) for value in c.values)]


def _is_word(value: Any) -> bool:
    if isinstance(value, (bool, float)) or len(str(value)) > _LONGEST:
        return False
    return len(str(value).split()) == 1


def _unique(rows: Sequence[MappedRow], keys: Sequence[str], above: str) -> bool:
    return len({(str(_at(row.values, keys)), row.values.get(above)) for row in rows}) == len(rows)


def _at(values: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        values = structured(values)
        values = values.get(key) if isinstance(values, Mapping) else None
    return values
