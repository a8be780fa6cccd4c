"""Loading YAML of unknown origin. Every YAML file of the project is read here.

PyYAML alone has no limits: its time grows with the square of the nesting (20,000 opening brackets take minutes), and
aliases of aliases stand for more values than any memory holds. Here the length of the text, the depth, and the number
of values after aliases are bounded, so that a hostile file gets its one message at once.
"""

from pathlib import Path
from typing import Any

import yaml

from agenthard.taxonomy.errors import AgentHardError
from agenthard.taxonomy.files import read_text, size_text

MAX_CHARACTERS = 1 << 20
"""Characters of a YAML text; all of ours are shorter than 64 KiB, and PyYAML reads about 100 KiB in a second."""
MAX_DEPTH = 100
"""Levels of nesting, as in all records."""
MAX_VALUES = 1_000_000
"""Values that a text may stand for once its aliases are replaced."""


class YamlTextError(AgentHardError, yaml.YAMLError):
    """The text is valid YAML, as far as it was read, and larger than anything that is read here."""

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


def read_yaml(path: Path) -> Any:
    """Load a YAML file.

    Raises:
        OSError: when it cannot be read, is no regular file or too long.
        UnicodeDecodeError: when it is not UTF-8.
        yaml.YAMLError: when it is not valid YAML, or larger, deeper or more repetitive than is read here.
    """
    return load_yaml(read_yaml_text(path))


def read_yaml_text(path: Path) -> str:
    """Read the text of a YAML file.

    Raises:
        OSError: when it cannot be read, is no regular file or too long.
        UnicodeDecodeError: when it is not UTF-8.
    """
    return read_text(path, MAX_CHARACTERS)


def _refuse_expansion(root: yaml.Node) -> None:
    """Refuse a document whose aliases stand for too many values, or for a value that contains itself."""
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
                raise YamlTextError(f"its aliases stand for more than {MAX_VALUES:,} values; write fewer of them")


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []
