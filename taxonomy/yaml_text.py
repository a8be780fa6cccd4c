"""Reading YAML from untrusted files. All YAML files of the project are read here.

PyYAML has no limits of its own: its time grows with the square of the nesting (20,000 opening brackets take minutes),
and aliases of aliases can expand to more values than fit into memory. Here the length of the text, its depth and the
number of values after expansion are limited, so a hostile file is rejected at once with one message.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import read_text, size_text

MAX_CHARACTERS = 1 << 20
"""Most characters of a YAML text. Our own files have fewer than 64 KiB, and PyYAML reads about 100 KiB in a second."""
MAX_DEPTH = 100
"""Most levels of nesting, as in all records."""
MAX_VALUES = 1_000_000
"""Most values of a text after its aliases are replaced."""

Model = TypeVar("Model", bound=BaseModel)


class YamlTextError(AgentHardError, yaml.YAMLError):
    """The text exceeds a limit on length, nesting or aliases; the message says which."""

    code = "AH004"
    remedy = "Shorten the file, or split it: YAML is read up to the limit that the message names."


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader with a limit on nesting, checked while the text is scanned."""

    def fetch_flow_collection_start(self, TokenClass: Any) -> None:
        self._refuse_depth()
        super().fetch_flow_collection_start(TokenClass)

    def add_indent(self, column: int) -> bool:
        self._refuse_depth()
        return bool(super().add_indent(column))

    def _refuse_depth(self) -> None:
        if self.flow_level + len(self.indents) > MAX_DEPTH:
            line = self.get_mark().line + 1
            raise YamlTextError(f"nested more than {MAX_DEPTH} levels deep in line {line}; flatten it")


def load_yaml(text: str) -> Any:
    """Load one YAML document into plain values.

    Raises:
        yaml.YAMLError: when it is not valid YAML, or larger, deeper or more repetitive than is read here.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlTextError(f"longer than {size_text(MAX_CHARACTERS)}; long data belongs into a JSON file")
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _refuse_expansion(node)
        return loader.construct_document(node)
    except (ValueError, RecursionError) as error:
        raise YamlTextError(f"a value in it cannot be read: {error}") from error
    finally:
        loader.dispose()


def load_own_yaml(text: str) -> Any:
    """Load a YAML text that ships with AgentHard: without the limits, and by libyaml, ten times as fast."""
    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # both are safe; some builds have no libyaml


def read_yaml(path: Path) -> Any:
    """Load a YAML file.

    Raises:
        OSError: when it cannot be read, is not a regular file or is too long.
        UnicodeDecodeError: when it is not UTF-8.
        yaml.YAMLError: when it is not valid YAML, or larger, deeper or more repetitive than is read here.
    """
    return load_yaml(read_yaml_text(path))


def load_record(
    path: Path,
    record: type[Model],
    *,
    error: Callable[[str], Exception],
    what: str = "",
    docs: str = "",
    explain: Callable[[ValidationError], str] | None = None,
) -> Model:
    """Read a YAML file into a record.

    Args:
        path: the file.
        record: class of the record.
        error: makes the exception to raise; its message names the file and the fault.
        what: what the file is, put before its name (``policy``).
        docs: page that documents the fields, named when a field is wrong.
        explain: says what is wrong with the fields; None = the first fault and its place.

    Raises:
        Exception: what ``error`` makes: the file cannot be read, is not valid YAML, or a field is wrong.
    """
    name = f"{what} {path}".strip()
    try:
        text = read_yaml_text(path)
    except (OSError, UnicodeDecodeError) as fault:
        raise error(f"{name}: cannot be read: {getattr(fault, 'strerror', None) or fault}") from fault
    return parse_record(text, record, error=error, name=name, docs=docs, explain=explain)


def parse_record(
    text: str,
    record: type[Model],
    *,
    error: Callable[[str], Exception],
    name: str,
    docs: str = "",
    explain: Callable[[ValidationError], str] | None = None,
    prepare: Callable[[Any], Any] | None = None,
    load: Callable[[str], Any] = load_yaml,
) -> Model:
    """Parse a YAML text into a record; see :func:`load_record`.

    Args:
        text: the YAML text.
        record: class of the record.
        error: makes the exception to raise.
        name: what messages call the text.
        docs: page that documents the fields.
        explain: says what is wrong with the fields.
        prepare: changes the parsed data before it is validated.
        load: reads the text; for one that ships with AgentHard ``load_own_yaml``.

    Raises:
        Exception: what ``error`` makes: the text is not valid YAML, or a field is wrong.
    """
    try:
        data = load(text)
        return record.model_validate(data if prepare is None else prepare(data))
    except yaml.YAMLError as fault:
        raise error(f"{name}: not valid YAML: {fault}") from fault
    except ValidationError as fault:
        place = (explain or first_fault)(fault)
        raise error(f"{name}: {place}{f'; see {docs} for the fields' if docs else ''}") from fault


def first_fault(error: ValidationError) -> str:
    """Describe where the first fault of a record is and what it is."""
    first = error.errors()[0]
    place = "/".join(str(part) for part in first["loc"]) or "top level"
    return f"at {place}: {first['msg']}"


def read_yaml_text(path: Path) -> str:
    """Read the text of a YAML file.

    Raises:
        OSError: when it cannot be read, is not a regular file or is too long.
        UnicodeDecodeError: when it is not UTF-8.
    """
    return read_text(path, MAX_CHARACTERS)


def _refuse_expansion(root: yaml.Node) -> None:
    """Refuse a document whose aliases expand to too many values, or for a value that contains itself."""
    sizes: dict[int, int] = {}
    open_nodes: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting[-1]
        key = id(node)
        children = [] if key in sizes else _children(node)
        if key not in sizes and key not in open_nodes:
            open_nodes.add(key)
            if any(id(child) in open_nodes for child in children):
                raise YamlTextError("an alias in it refers to a value that contains the alias; write the value out")
            waiting += [child for child in children if id(child) not in sizes]
            continue
        waiting.pop()
        if key not in sizes:
            open_nodes.discard(key)
            sizes[key] = 1 + sum(sizes[id(child)] for child in children)
            if sizes[key] > MAX_VALUES:
                raise YamlTextError(f"its aliases expand to more than {MAX_VALUES:,} values; write fewer of them")


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def item_lines(text: str, key: str) -> list[tuple[int, int]] | None:
    r"""Return where the items of a list are, when it is written one item below the other.

    Args:
        text: a YAML document.
        key: key of the list at the top level; empty when the document is the list.

    Returns:
        For each item its first line and the line after its last one, both from 0; None for any other list.

    Raises:
        yaml.YAMLError: when the text is not valid YAML, or exceeds a limit.

    >>> item_lines("a: 1\ntests:\n  - x\n  - y: 1\n    z: 2\nb: 2\n", "tests")
    [(2, 3), (3, 5)]
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlTextError(f"longer than {size_text(MAX_CHARACTERS)}; long data belongs into a JSON file")
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
    finally:
        loader.dispose()
    if key and isinstance(node, yaml.MappingNode):
        node = next((value for name, value in node.value if name.value == key), None)
    if not isinstance(node, yaml.SequenceNode) or node.flow_style:
        return None
    lines, begins = text.splitlines(), [item.start_mark.line for item in node.value]
    for number, line in enumerate(begins):
        while not lines[line].lstrip().startswith("-"):  # the value of an item may begin below its dash
            line -= 1
        begins[number] = line
    end = node.end_mark.line if node.end_mark.line > begins[-1] else len(lines)
    while end > begins[-1] + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
        end -= 1
    return list(zip(begins, [*begins[1:], end], strict=True)) if len(set(begins)) == len(begins) else None
