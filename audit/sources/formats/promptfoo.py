"""Tests of a promptfoo configuration as rows: variables, the prompt with them, and what the assertions expect.

Of several prompts the first one counts. Assertions that are code are kept as text and never run.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.formats.json_text import load_document
from agenthard.audit.sources.formats.rows import Row, read_rows, row_format
from agenthard.taxonomy.files import read_text
from agenthard.taxonomy.yaml_text import item_lines, load_yaml, read_yaml_text

_KEYS = re.compile(r"^(tests|prompts|providers|targets)\s*:", re.MULTILINE)
_VARIABLE = re.compile(r"\{\{-?\s*([\w.]+)\s*-?\}\}")
_CELL = re.compile(r"(?P<type>[a-z][a-z-]*)(\([^)]*\))?:\s*(?P<value>.*)", re.DOTALL)
_ABOUT = "__"
"""How the names of columns begin that hold no variables, in a CSV file of tests."""
ANSWERS = ("equals",)
OUTPUTS = ("contains", "icontains", "contains-all", "icontains-all")
RUBRIC = ("llm-rubric", "model-graded-closedqa", "g-eval", "factuality", "model-graded-factuality", "grade")
"""Assertions that compare the answer, that require texts, and that a model grades."""
_CSV_LISTS = ("contains-all", "icontains-all", "contains-any", "icontains-any")


def is_promptfoo(path: Path) -> bool:
    """Tell whether a file is a promptfoo configuration: YAML with tests, and with prompts or providers."""
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return False
    try:
        found = set(_KEYS.findall(read_yaml_text(path)))
    except (OSError, UnicodeDecodeError, yaml.YAMLError):
        return False
    return "tests" in found and len(found) > 1


def read_promptfoo(path: Path, folder: Path, quarantine: Quarantine, kind: str = "task") -> Iterator[Row]:
    """Stream the tests of a configuration.

    Args:
        path: the configuration.
        folder: what the names of files are relative to.
        quarantine: collects what is unreadable.
        kind: what the rows hold.

    Yields:
        Rows with ``description``, ``vars``, ``prompt``, ``assert``, ``answers``, ``outputs``, ``rubric`` and ``tools``,
        each at its line of the configuration, or of the file of tests that it names.
    """
    name = path.relative_to(folder).as_posix()
    try:
        text = read_yaml_text(path)
        config = load_yaml(text)
        prompt, tools = _prompt(path, config), _tools(path, config)
        lines = item_lines(text, "tests") or []
    except (OSError, ValueError, SourceError, yaml.YAMLError) as error:
        quarantine.add(name, f"cannot read the promptfoo configuration: {error}", kind=kind)
        return
    tests = config.get("tests")
    default = config.get("defaultTest") if isinstance(config.get("defaultTest"), Mapping) else {}
    for index, test in enumerate(tests if isinstance(tests, list) else [tests]):
        line = lines[index][0] + 1 if index < len(lines) else None
        found: Iterable[Row] = ()
        if isinstance(test, str):
            found = _rows_of(path, folder, test, quarantine, kind, line)
        elif isinstance(test, dict):
            found = [Row(name, index + 1, test, line)]
        else:
            quarantine.add(name, f"tests/{index} is neither a test nor a file of tests", line=line, kind=kind)
        for row in found:
            try:
                yield Row(row.file, row.number, _values(row.values, default, prompt, tools), row.line, row.raw)
            except ValueError as error:
                quarantine.add(row.file, str(error), line=row.line, kind=kind)


def promptfoo_files(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the files that hold tests, the configuration among them, and those that it names for prompts and tools."""
    tests, others = (_there(group) for group in _named(path))
    return [path, *tests], others


def named_files(path: Path) -> list[str]:
    """Return all files that a configuration names, relative to its folder, whether they are there or not."""
    return [file.relative_to(path.parent).as_posix() for group in _named(path) for file in group]


def unread_prompts(path: Path) -> int:
    """Count the prompts of a configuration after the first one, which alone is read."""
    try:
        return max(len(_listed(load_yaml(read_yaml_text(path)).get("prompts"))) - 1, 0)
    except (OSError, ValueError, yaml.YAMLError):
        return 0


def _named(path: Path) -> tuple[list[Path], list[Path]]:
    """Return the files for tests, and those for prompts and tools, that a configuration names."""
    try:
        config = load_yaml(read_yaml_text(path))
    except (OSError, ValueError, yaml.YAMLError):
        return [], []
    providers = _listed(config.get("providers") or config.get("targets"))
    named = [_listed(config.get("tests")), [*_listed(config.get("prompts")), *map(_tools_of, providers)]]
    tests, others = ([_file(path, item) for item in group if isinstance(item, str)] for group in named)
    return [file for file in tests if file], [file for file in others if file]


def _there(files: Iterable[Path]) -> list[Path]:
    return list(dict.fromkeys(file for file in files if file.is_file()))


def write_promptfoo(path: Path, keep: Iterable[int], target: Path) -> Path:
    """Write a configuration, or a YAML file of tests, with some of its tests; every other line stays as it is.

    Args:
        path: the configuration or the file of tests.
        keep: 1-based numbers of the tests; entries that name files stay.
        target: the file to write.

    Raises:
        SourceError: its tests are not written one below the other.
    """
    text, kept = read_yaml_text(path), set(keep)
    document = load_yaml(text)
    key = "" if isinstance(document, list) else "tests"
    tests, lines = document.get(key) if key else document, item_lines(text, key)
    if not isinstance(tests, list):
        target.write_text(text, encoding="utf-8")
        return target
    if lines is None:
        raise SourceError(f"{path}: a split needs the tests one below the other, each after a dash")
    left_out = {
        line
        for number, (test, (first, end)) in enumerate(zip(tests, lines, strict=True), start=1)
        if number not in kept and not isinstance(test, str)
        for line in range(first, end)
    }
    every = text.splitlines(keepends=True)
    target.write_text("".join(line for n, line in enumerate(every) if n not in left_out), encoding="utf-8")
    return target


def _rows_of(
    config: Path, folder: Path, named: str, quarantine: Quarantine, kind: str, line: int | None
) -> Iterator[Row]:
    """Stream the tests of a file that a configuration names."""
    file = _file(config, named)
    if file is None or not file.is_file():
        reason = f"tests: {named!r} names no file here; give one below the folder, such as tests.csv"
        quarantine.add(config.relative_to(folder).as_posix(), reason, line=line, kind=kind)
        return
    name = file.relative_to(folder).as_posix()
    if file.suffix in (".yaml", ".yml"):
        text = read_text(file)
        lines = item_lines(text, "") or []
        listed = load_yaml(text)
        for index, test in enumerate(listed if isinstance(listed, list) else []):
            begin = lines[index][0] + 1 if index < len(lines) else None
            if isinstance(test, dict):
                yield Row(name, index + 1, test, begin)
            else:
                quarantine.add(name, f"expected a test, found {type(test).__name__}", line=begin, kind=kind)
    elif row_format(file):
        for row in read_rows(file, name, quarantine, kind):
            values = row.values if "vars" in row.values else _from_cells(row.values)
            yield Row(name, row.number, values, row.line, row.raw)
    else:
        quarantine.add(name, "tests are read from CSV, JSON Lines, JSON and YAML files", kind=kind)


def _from_cells(cells: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of a CSV file of tests as a test."""
    expected = [value for key, value in cells.items() if key.startswith("__expected") and str(value).strip()]
    return {
        "description": cells.get("__description", ""),
        "vars": {key: value for key, value in cells.items() if not key.startswith(_ABOUT)},
        "assert": [_assertion(str(text)) for text in expected],
        "options": {"prefix": cells.get("__prefix", ""), "suffix": cells.get("__suffix", "")},
    }


def _assertion(text: str) -> dict[str, Any]:
    """Read what a cell expects.

    >>> _assertion("contains-all: a, b"), _assertion("Oslo")
    ({'type': 'contains-all', 'value': ['a', 'b']}, {'type': 'equals', 'value': 'Oslo'})
    """
    found = _CELL.fullmatch(text.strip())
    if found is None:
        return {"type": "equals", "value": text}
    kind, value = found["type"], found["value"]
    cells = next(csv.reader(io.StringIO(value), skipinitialspace=True), []) if kind in _CSV_LISTS else None
    return {"type": kind, "value": value if cells is None else [cell.strip() for cell in cells]}


def _values(test: Mapping[str, Any], default: Mapping[str, Any], prompt: Any, tools: Any) -> dict[str, Any]:
    variables = {**_object(default.get("vars")), **_object(test.get("vars"))}
    several = [key for key, value in variables.items() if isinstance(value, list)]
    if several:
        raise ValueError(f"vars.{several[0]} is a list, of which promptfoo makes several tests; write each as a test")
    asserted = list(_flat([*_listed(default.get("assert")), *_listed(test.get("assert"))]))
    options = _object(test.get("options"))
    said = _rendered(prompt, variables)
    if isinstance(said, str):
        said = f"{options.get('prefix') or ''}{said}{options.get('suffix') or ''}"
    found = {
        "description": test.get("description"),
        "vars": variables,
        "prompt": said,
        "assert": asserted,
        "answers": _expected(asserted, ANSWERS),
        "outputs": _expected(asserted, OUTPUTS),
        "rubric": _expected(asserted, RUBRIC),
        "tools": tools,
        "metadata": test.get("metadata"),
    }
    return {key: value for key, value in found.items() if value not in (None, "", [], {})}


def _expected(asserted: Sequence[Mapping[str, Any]], kinds: Sequence[str]) -> list[str]:
    values = [value for each in asserted if each.get("type") in kinds for value in _listed(each.get("value"))]
    return [str(value) for value in values if value not in (None, "")]


def _flat(asserted: Iterable[Any]) -> Iterator[Mapping[str, Any]]:
    for each in asserted:
        if isinstance(each, Mapping):
            yield from _flat(_listed(each.get("assert"))) if each.get("type") == "assert-set" else [each]


def _prompt(path: Path, config: Any) -> Any:
    """Return the first prompt: a text, or messages."""
    if not isinstance(config, Mapping):
        raise ValueError("expected a YAML object")
    first = next(iter(_listed(config.get("prompts"))), "{{prompt}}")
    if isinstance(first, Mapping):
        first = first.get("raw") or first.get("id") or ""
    file = _file(path, first) if isinstance(first, str) and first.startswith("file://") else None
    text = read_text(file) if file is not None else str(first)
    if file is not None and file.suffix == ".txt":
        text = text.split("\n---\n")[0]
    return load_yaml(text) if text.lstrip().startswith(("[{", "[\n", "- role")) else text.strip()


def _tools(path: Path, config: Mapping[str, Any]) -> Any:
    """Return the tools of the first provider that has some."""
    found = [_tools_of(provider) for provider in _listed(config.get("providers") or config.get("targets"))]
    tools = next((each for each in found if each), None)
    file = _file(path, tools) if isinstance(tools, str) else None
    if file is None:
        return tools if isinstance(tools, list) else None
    return load_document(file) if file.suffix == ".json" else load_yaml(read_text(file))


def _tools_of(provider: Any) -> Any:
    return _object(_object(provider).get("config")).get("tools")


def _rendered(prompt: Any, variables: Mapping[str, Any]) -> Any:
    """Put the variables into a prompt; what is not a plain variable stays as it is."""
    if isinstance(prompt, list):
        return [_rendered(item, variables) for item in prompt]
    if isinstance(prompt, Mapping):
        return {key: _rendered(value, variables) for key, value in prompt.items()}
    if not isinstance(prompt, str):
        return prompt
    return _VARIABLE.sub(lambda found: str(variables.get(found[1], found[0])), prompt)


def _file(config: Path, named: str) -> Path | None:
    """Return the file below the folder of the configuration that a text names; None for any other text."""
    name = named.removeprefix("file://")
    if name == named and ("\n" in name or not re.fullmatch(r"[\w./ -]+\.(csv|tsv|jsonl|json|ya?ml|txt)", name)):
        return None
    file = config.parent / name
    return file if file.resolve().is_relative_to(config.parent.resolve()) else None


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]
