"""The mapping file: which column of a row is which part of a task, as YAML with checked keys."""

import typing
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError, model_validator

from agenthard.audit.sources.base import SourceError
from agenthard.audit.sources.formats.remote import is_url
from agenthard.audit.sources.mapping.fetched import fetched_folder
from agenthard.audit.sources.mapping.paths import compile_path
from agenthard.taxonomy.record import Record
from agenthard.taxonomy.yaml_text import load_record


class ValuePath(Record):
    """Where a value comes from. In YAML, a plain text is the path."""

    path: str | None = None
    """JMESPath expression into the row, or a JSON Pointer when it starts with a slash."""
    value: Any = None
    """A constant, the same for every row."""
    file: str | None = None
    """A file below the folder of the data: JSON or YAML is parsed, anything else is a text."""
    default: Any = None
    """The value when the path is absent; with a default, the path may be absent from all rows."""

    @model_validator(mode="after")
    def _one_origin(self) -> "ValuePath":
        stated = [name for name in ("path", "value", "file") if name in self.model_fields_set]
        if len(stated) != 1:
            raise ValueError("give exactly one of path, value and file")
        if self.path is not None:
            compile_path(self.path)
        if self.file is not None:
            _below(self.file)
        return self


def _below(name: str) -> str:
    if Path(name).is_absolute() or ".." in Path(name).parts:
        raise ValueError(f"{name!r} leaves the folder of the data: set folder to one above all files")
    return name


def _spelled_out(written: Any) -> Any:
    return {"path": written} if isinstance(written, str) else written


def _listed(written: Any) -> Any:
    return [written] if isinstance(written, (str, dict)) else written


At = Annotated[ValuePath, BeforeValidator(_spelled_out)]
Several = Annotated[tuple[Annotated[str, AfterValidator(_below)], ...], BeforeValidator(_listed)]


class Join(Record):
    """Rows of other files that belong to the rows, found by a common key."""

    name: str
    """Column under which the joined row is put."""
    files: Several
    """File or files, relative to the folder; ``*`` and ``**`` work."""
    rows: str | None = None
    """As above, for these files."""
    key: At
    """The key in a joined row."""
    on: At | None = None
    """The key in the row; default: the same path as ``key``."""
    required: bool = True
    """Whether a row without a partner is quarantined."""
    many: bool = False
    """Whether several rows belong to one row: the column then holds their list, in order and without the key."""


class UserMap(Record):
    """The user: what is asked, or which user is simulated."""

    turns: At | None = None
    """A text, a conversation as text (``user: ... assistant: ...``), a list of texts, messages, or turns of them."""
    instruction: At | None = None
    """The text for a simulated user."""
    context: dict[str, At] = Field(default_factory=dict)
    """Further texts given to the simulated user, by name."""
    roles: dict[str, Literal["system", "user", "assistant", "tool"]] = Field(default_factory=dict)
    """Roles or labels that the benchmark spells in its own way."""
    turn_per_user_message: bool = False
    """Whether in a flat list of messages every message of the user begins a turn."""


class EnvironmentMap(Record):
    """Where the agent acts."""

    policy: At | None = None
    """System prompt or policy; several texts are put below one another."""
    tools: At | None = None
    """Documentation of the agent's tools."""
    user_tools: At | None = None
    """Documentation of the simulated user's tools."""
    state: At | None = None
    """Initial state that all tasks share, usually a file."""


class TruthMap(Record):
    """What a correct run does."""

    calls: At | None = None
    """Expected calls, flat or per turn."""
    per_turn: bool | None = None
    """Whether the outer list of calls is one of turns; default: when all its elements are lists."""
    accepted: Literal["value", "values"] = "value"
    """values: each argument holds a list of accepted values, in which an empty text means that it may be left out."""
    semantics: Literal["required", "reference_path", "milestones"] = "required"
    """required: these calls; reference_path: one way to the right state; milestones: points to pass."""
    matching: Literal["exact", "any_order", "state", "none"] = "exact"
    """How calls are scored: in order, in any order, only through the state they leave, or not at all."""
    outputs: At | None = None
    """Texts that the agent's replies have to contain."""
    answers: At | None = None
    """Accepted final answer, or a list of them."""
    choices: At | None = None
    """Choices of a multiple-choice question; an answer may then be an index or a letter."""
    first_choice: Literal[0, 1] = 0
    """Number of the first choice, where answers are numbers."""


class ScoringMap(Record):
    """How a run becomes a score."""

    answer: Literal["exact", "contains", "whole_words", "judge", "none"] = "exact"
    """How the final answer is compared; none: it is not scored."""
    outputs: Literal["contains", "whole_words", "none"] = "contains"
    """How required texts are looked for; none: they are not scored."""
    rubric: At | None = None
    """A rubric, or a list of criteria."""
    rubric_scored: bool = True
    """Whether the rubric counts."""
    assertions: At | None = None
    """Assertions on the final state."""
    final_state: At | None = None
    """The final state that the environment must have."""
    note: str = ""
    """Convention of the comparison that a reader needs, such as 'case and blanks apart'."""


class RunMap(Record):
    """Which part of a run is where in the rows of run files."""

    rows: str | None = None
    """JSON Pointer of the list of rows in a JSON document; default: JSON Lines, or an array."""
    task_id: At
    """Id of the task."""
    model: At
    """Name of the model."""
    trial: At | None = None
    """0-based repetition; default 0."""
    score: At | None = None
    """Score as logged."""
    passed: At | None = None
    """Pass or fail; default: whether the score reaches ``pass_score``."""
    pass_score: float = 1.0
    """Lowest score that is a pass."""
    error: At | None = None
    """What went wrong outside the model; anything but null, false and '' makes the run an infrastructure error."""
    messages: At | None = None
    """The conversation."""


class MappingFile(Record):
    """A whole mapping file."""

    benchmark: str
    """Name of the benchmark."""
    folder: str = "."
    """Folder of the data, relative to the mapping file, or its URL, which fsspec reads."""
    files: Several
    """File or files with one task per row, relative to the folder; ``*`` and ``**`` work."""
    rows: str | None = None
    """JSON Pointer of the list of rows in a JSON document ('' = each document is one row); default: JSON Lines or an
    array. In a SQLite file the table, or a SELECT; default: the only table."""
    json_columns: tuple[str, ...] = ()
    """Columns that hold JSON (or a Python literal) as text and that paths lead into."""
    join: tuple[Join, ...] = ()
    """Rows of other files to join."""
    id: At | None = None
    """Id of the task; default: file and number of the row."""
    subtask: At | None = None
    """Category or domain, for ``--domain``."""
    user: UserMap
    """The user."""
    environment: EnvironmentMap = EnvironmentMap()
    """The environment."""
    initial_state: At | None = None
    """State of this task alone."""
    ground_truth: TruthMap = TruthMap()
    """The ground truth."""
    evaluation: ScoringMap = ScoringMap()
    """The evaluation."""
    traits: At | None = None
    """Conventions that checks respect, such as expects_no_call: a text or a list."""
    cluster: At | None = None
    """Tasks with the same value are variants of one."""
    metadata: dict[str, At] = Field(default_factory=dict)
    """Anything else to keep, by name."""
    verified: bool = False
    """Whether a person compared tasks with rows: what hits most tasks is then a flaw of the benchmark."""
    runs: RunMap | None = None
    """How run files are read; default: native runs and score tables."""

    @model_validator(mode="after")
    def _require_turns(self) -> "MappingFile":
        if (self.user.turns is None) == (self.user.instruction is None):
            raise ValueError("user: give turns (what is asked) or instruction (a simulated user), one of them")
        return self

    def places(self) -> dict[str, ValuePath]:
        """Return all paths that are looked up in a row of a task, by their key in the YAML."""
        return _places(self, ("runs", "join"))


def data_folder(file: Path, mapping: MappingFile) -> Path:
    """Return the folder of the data of a mapping; of one behind a URL a copy with the files that the mapping names.

    Raises:
        SourceError: the URL cannot be read.
    """
    if not is_url(mapping.folder):
        return (file.parent / mapping.folder).resolve()
    values = [place.file for place in mapping.places().values() if place.file is not None]
    joined = [name for join in mapping.join for name in join.files]
    return fetched_folder(mapping.folder, tuple(dict.fromkeys([*mapping.files, *joined, *values])))


def _places(record: Record, left_out: tuple[str, ...], prefix: str = "") -> dict[str, ValuePath]:
    found: dict[str, ValuePath] = {}
    for name in type(record).model_fields:
        value = getattr(record, name)
        if name in left_out:
            continue
        if isinstance(value, ValuePath):
            found[prefix + name] = value
        elif isinstance(value, Record):
            found |= _places(value, left_out, f"{prefix}{name}.")
        elif isinstance(value, dict):
            found |= {f"{prefix}{name}.{key}": item for key, item in value.items() if isinstance(item, ValuePath)}
    return found


FILE_NAME = "mapping.yaml"
"""Name under which a mapping is found when a folder is given."""


def load_mapping(path: Path) -> MappingFile:
    """Read and check a mapping file.

    Raises:
        SourceError: when it is not valid YAML, or a key is unknown, missing or of the wrong type; the message names the
            key, and for an unknown key the most similar known one.
    """
    return load_record(path, MappingFile, error=SourceError, docs="docs/sources/mapping.md", explain=_explain)


def _explain(error: ValidationError) -> str:
    faults = error.errors()
    if faults[0]["type"] in ("model_type", "model_attributes_type"):
        return f"a mapping is a YAML object with the keys {', '.join(MappingFile.model_fields)}"
    return "; ".join(_explained(fault["loc"], fault["type"], fault["msg"]) for fault in faults)


def _explained(loc: tuple[int | str, ...], kind: str, message: str) -> str:
    place = ".".join(str(part) for part in loc)
    if kind == "extra_forbidden":
        known = unknown_key(MappingFile, loc)
        return f"unknown key {place!r}{nearest(str(loc[-1]), known)}"
    if kind == "missing":
        return f"the key {place!r} is missing"
    return f"{place or 'mapping'}: {message.removeprefix('Value error, ')}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Suggest the known name that is most similar, or list all of them.

    >>> nearest("qustion", ["question", "id"])
    "; did you mean 'question'?"
    >>> nearest("x", ["question", "id"])
    '; there are: id, question'
    """
    names = sorted(set(known))
    close = get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there are: {', '.join(names[:20])}" if names else ""


def unknown_key(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """List the keys that are known where ``loc`` names one that is not."""
    current: type[BaseModel] = model
    for part in loc[:-1]:
        if isinstance(part, str) and part in current.model_fields:
            current = _record(current.model_fields[part].annotation) or current
    return list(current.model_fields)


def _record(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in typing.get_args(annotation) if (found := _record(inner))), None)
