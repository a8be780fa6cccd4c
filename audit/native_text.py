"""The text of evidence as the benchmark's own files write it, found again in the bytes on disk.

A quote is a part of our record of a task. A maintainer needs the words of the file: ``"seats": [1]`` where the record
says ``{"$any_of": [1], "$optional": false}``. The origins of a record say from which file, line and JSON value its
parts come; from there the rest of the pointer is followed, as far as the file has the same structure.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path

from agenthard.audit.judge.verify.quotes import locate
from agenthard.audit.native_spot import NodePath, Spot, descend, find_below, find_in_log
from agenthard.audit.sources.base import Source
from agenthard.audit.sources.formats.file_texts import FileText, FileTexts
from agenthard.audit.sources.formats.json_nodes import JsonNode
from agenthard.taxonomy.files import MAX_BYTES
from agenthard.taxonomy.finding import Evidence, Finding, NativeText
from agenthard.taxonomy.pointer import join, resolve, split
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import AgentTask, ToolSpec
from agenthard.taxonomy.trajectory import Trajectory

TERSE = 200
"""A shorter text means little alone and is shown inside the JSON around it."""
JSON_FILES = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
LARGEST_LOG = 64 << 20
"""Bytes of a log of runs that is one JSON document; of one with a run per line only lines that are quoted are read."""


def origin_of(task: AgentTask, pointer: str) -> Origin | None:
    """Find the origin of the text at ``pointer``, with the rest of the pointer appended to the origin's.

    A tool's own origin counts before those of the task; among these, the longest prefix of ``pointer`` counts.
    """
    found = _origin(task, split(pointer))
    if found is None:
        return None
    origin, rest = found
    return origin.model_copy(update={"pointer": join(origin.pointer, *rest)})


def _origin(task: AgentTask, tokens: Sequence[str]) -> tuple[Origin, Sequence[str]] | None:
    """Return the nearest known origin above a place, and the tokens below it."""
    if len(tokens) > 2 and tokens[0] == "environment" and tokens[1] in ("tools", "user_tools"):
        try:
            tool = resolve(task, join("", *tokens[:3]))
        except LookupError:
            tool = None
        if isinstance(tool, ToolSpec):
            if tokens[3:4] == ["implementation"] and tool.implementation is not None:
                return tool.implementation.origin, ()
            if tool.origin is not None:
                return tool.origin, tokens[3:]
    for length in range(len(tokens), -1, -1):
        origin = task.origins.get(join("", *tokens[:length]))
        if origin is not None:
            return origin, tokens[length:]
    return None


class NativeFiles:
    """The files of a benchmark, in which the native text of evidence is found.

    Of a file with a JSON value per line only the lines that are asked for are read: it may be larger than memory.
    """

    def __init__(self, path_of: Callable[[str], Path], most_bytes: int = MAX_BYTES) -> None:
        """Read nothing yet.

        Args:
            path_of: where the file of an origin is; see ``Source.file_path``.
            most_bytes: a larger file is not read as a whole.
        """
        self._texts = FileTexts(path_of, most_bytes)

    def find(self, task: AgentTask, evidence: Evidence) -> NativeText | None:
        """Find the native text of a quote of a task.

        Returns:
            The text with its place; None when its source does not say which file it is from, or when that file holds
            no text, is gone, or has another structure.
        """
        tokens = split(evidence.pointer)
        found = _origin(task, tokens)
        if found is None:
            return None
        origin, rest = found
        text, node = self._document(origin.file, origin.line)
        if text is not None and node is not None:
            whole = 0 < len(rest) == len(tokens)
            spot = find_below(node, split(origin.pointer), rest, evidence.quote, whole_task=whole)
            return spot and _placed(origin, text, spot)
        text = self._texts.whole(origin.file)
        if text is None:
            return None
        start, end = _words(text, origin.line, evidence.quote)
        return _placed(origin, text, Spot("", start, end, text.text[start:end])) if end > start else None

    def find_in_run(self, run: Trajectory, evidence: Evidence) -> NativeText | None:
        """Find the native text of a quote of a run. A log names its parts otherwise than our record, so it is searched.

        Returns:
            The text with its place; of several the one whose message has the position nearest to that of the record.
            None when the log is not JSON, is gone or too large, or does not have the quote as one text.
        """
        if run.origin is None:
            return None
        text, node = self._document(run.origin.file, run.origin.line)
        path: NodePath = [] if node is None else [(node, "")]
        if text is None or not path or not all(descend(path, token) for token in split(run.origin.pointer)):
            return None
        node, base = path[-1]
        spot = find_in_log(node, base, split(evidence.pointer), evidence.quote)
        return spot and _placed(run.origin, text, spot)

    def hold_lines(self, name: str, lines: Collection[int]) -> None:
        """Prepare lines of a packed file in one pass."""
        self._texts.hold_lines(name, lines)

    def passage(self, task: AgentTask, pointer: str) -> NativeText | None:
        """Return the whole value that a part of a task is in its file.

        Args:
            task: the task.
            pointer: JSON Pointer of the part in the record of the task.

        Returns:
            The value as it is written; None when the file is not JSON, is gone, or has no such value.
        """
        found = _origin(task, split(pointer))
        if found is None:
            return None
        origin, rest = found
        text, node = self._document(origin.file, origin.line)
        path: NodePath = [] if node is None else [(node, "")]
        if text is None or not path or not all(descend(path, token) for token in (*split(origin.pointer), *rest)):
            return None
        node, place = path[-1]
        return _placed(origin, text, Spot(place, node.start, node.end, node.raw))

    def line_of(self, origin: Origin) -> int | None:
        """Return the 1-based line of a place, or of the nearest value above it; None when its file is not JSON."""
        if origin.line is not None:
            return origin.line
        text, node = self._document(origin.file, None)
        if text is None or node is None:
            return None
        path: NodePath = [(node, "")]
        all(descend(path, token) for token in split(origin.pointer))
        return text.place(path[-1][0].start)[0]

    def around(self, native: NativeText) -> tuple[str, str]:
        """Return what stands before and after a native text: in its string, or in the JSON or the text around it."""
        _, node = self._document(native.file, native.document_line)
        path: NodePath = [] if node is None else [(node, "")]
        if not path or not all(descend(path, token) for token in split(native.pointer)):
            whole = self._texts.whole(native.file)
            if whole is None:  # a file outside the benchmark's folder, or one that is gone
                return "", ""
            start = whole.text.find(native.text, whole.starts[native.line - 1])
            return ("", "") if start < 0 else (whole.text[:start], whole.text[start + len(native.text) :])
        node = path[-1][0]
        at = node.text.find(native.text, node.begin, node.end)
        if isinstance(node.value, str) and (at < 0 or len(node.value) >= TERSE):
            before, _, after = node.value.partition(native.text)
            return before, after
        wide = next((one for one, _ in reversed(path) if one.end - one.start >= TERSE), path[0][0])
        return node.text[wide.start : at], node.text[at + len(native.text) : wide.end]

    def _document(self, name: str, line: int | None) -> tuple[FileText | None, JsonNode | None]:
        """Return the JSON document of a file, or the one that begins on a line of it, with the text that it is in."""
        if not name.endswith(JSON_FILES):
            return None, None
        if line is not None:
            text = self._texts.line(name, line)
            node = None if text is None else text.object_on_line(line)
            if node is not None:
                return text, node
        text = self._texts.whole(name)  # a document that goes on behind its line, or a packed file
        if text is None:
            return None, None
        return text, text.node() if line is None else text.object_on_line(line)


def _words(text: FileText, line: int | None, quote: str) -> tuple[int, int]:
    """Find the words of a quote in a text that is not JSON, from a line on; else this line."""
    begin = text.starts[min(line or 1, len(text.starts)) - 1]
    for base in (begin, 0):
        words = locate(quote, text.text[base:])
        if words is not None:
            start = text.text.index(words, base)
            return start, start + len(words)
    if line is None:
        return 0, 0
    end = text.text.find("\n", begin)
    return begin, len(text.text) if end < 0 else end


def _placed(origin: Origin, text: FileText, spot: "Spot") -> NativeText:
    line, byte = text.place(spot.start)
    return NativeText(
        file=origin.file,
        line=line,
        pointer=spot.pointer,
        document_line=origin.line,
        start=byte,
        end=byte + len(text.text[spot.start : spot.end].encode("utf-8")),
        text=spot.words,
    )


def with_native_text(
    findings: Sequence[Finding],
    source: Source,
    tasks: Mapping[str, AgentTask],
    runs: Mapping[str, Trajectory],
    run_paths: Sequence[Path],
) -> list[Finding]:
    """Add to all evidence what the benchmark's files, and the logs of runs, say there.

    Args:
        findings: the findings.
        source: the benchmark; its files are as they were when its tasks were read.
        tasks: the tasks by id.
        runs: the runs that evidence quotes, by id.
        run_paths: files and folders that the runs were read from.
    """
    files, logs = NativeFiles(source.file_path), NativeFiles(run_file(run_paths), LARGEST_LOG)
    lines: dict[str, set[int]] = {}
    for run in runs.values():
        if run.origin is not None and run.origin.line is not None:
            lines.setdefault(run.origin.file, set()).add(run.origin.line)
    for name, wanted in lines.items():
        logs.hold_lines(name, wanted)

    def completed(item: Evidence) -> Evidence:
        if item.trajectory_id is not None:
            run = runs.get(item.trajectory_id)
            return item if run is None else item.model_copy(update={"native": logs.find_in_run(run, item)})
        task = tasks.get(item.task_id)
        return item if task is None else item.model_copy(update={"native": files.find(task, item)})

    return [finding.model_copy(update={"evidence": tuple(map(completed, finding.evidence))}) for finding in findings]


def run_file(paths: Sequence[Path]) -> Callable[[str], Path]:
    """Return what finds the log of a run's origin in the files and folders that the runs were read from."""
    folders = [path if path.is_dir() else path.parent for path in paths]

    def find(name: str) -> Path:
        return next((folder / name for folder in folders if (folder / name).is_file()), Path(name))

    return find
