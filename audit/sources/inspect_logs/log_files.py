"""Opening Inspect's logs. Its package is imported here only, and only when a log is read."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from zipfile import ZIP_DEFLATED, ZipFile

from agenthard.audit.sources.base import NotRead, Quarantine, SourceError
from agenthard.audit.sources.formats.files import UNPACKED_BYTES, UNPACKED_RATIO, open_binary
from agenthard.taxonomy.files import MAX_BYTES, UnreadableFileError, open_regular, size_text
from agenthard.taxonomy.pointer import join
from agenthard.taxonomy.record import Origin
from agenthard.taxonomy.task import Message, ToolCall

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

_T = TypeVar("_T")
SUFFIX = ".eval"
DEPTH = 3
"""Levels of folders that are searched for logs."""
_MOST_DEFLATED = 1032
"""Deflate unpacks a byte to no more than this many."""
UNREAD = frozenset({"store", "timelines"})
"""Large fields of a sample that are not needed."""


@dataclass(frozen=True)
class Logged:
    """One sample with its place."""

    file: str
    """Name of the log relative to the folder."""
    log: "EvalLog"
    """The log's header: task, model, scorers."""
    sample: "EvalSample"
    """The sample."""

    def origin(self, pointer: str = "") -> Origin:
        """Origin of a part of the sample; the pointer starts with the sample's name inside the log."""
        return Origin(file=self.file, pointer=place(self.sample.id, self.sample.epoch) + pointer)

    @property
    def task_id(self) -> str:
        """Id of the task: the name of the evaluation and of the sample."""
        return f"{self.log.eval.task}/{self.sample.id}"


def place(sample_id: object, epoch: int) -> str:
    """JSON Pointer that names a sample inside a log."""
    return join("/samples", f"{sample_id}_epoch_{epoch}")


def log_files(root: Path) -> list[Path]:
    """List the logs at a path, which is one or a folder of them, in order of name."""
    if root.is_file():
        return [root] if root.suffix == SUFFIX else []
    patterns = ("/".join(["*"] * level + [f"*{SUFFIX}"]) for level in range(DEPTH))
    return sorted(path for pattern in patterns for path in root.glob(pattern) if path.is_file())


def unread_logs(root: Path) -> Iterator[NotRead]:
    """Name the logs below a folder that :func:`log_files` skips: those deeper down, and those in JSON."""
    if root.is_file():
        return
    read = set(log_files(root))
    for path in sorted(root.rglob(f"*{SUFFIX}")):
        if path not in read and path.is_file():
            reason = f"a log more than {DEPTH - 1} folders down; give the folder that holds it"
            yield NotRead(file=path.relative_to(root).as_posix(), reason=reason)
    for path in sorted(root.rglob("*.json")):
        if path.is_file() and _is_json_log(path):
            reason = "a log in JSON; `inspect log convert --to eval` makes an .eval file of it"
            yield NotRead(file=path.relative_to(root).as_posix(), reason=reason)


def _is_json_log(path: Path) -> bool:
    """Tell by the first kilobytes whether a file is a log of Inspect in JSON."""
    try:
        with open_binary(path) as stream:
            start = stream.read(1 << 14)
    except (OSError, EOFError):
        return False
    return start.lstrip()[:1] == b"{" and all(key in start for key in (b'"version"', b'"status"', b'"eval"'))


def require_inspect() -> None:
    """Check that Inspect is installed.

    Raises:
        SourceError: when it is not; the message names the command.
    """
    try:
        import inspect_ai.log  # noqa: F401
    except ModuleNotFoundError as error:
        raise SourceError("Inspect logs need Inspect; next: pip install 'agenthard[inspect]'") from error


def read_logs(root: Path, quarantine: Quarantine, kind: str) -> Iterator[Logged]:
    """Stream the samples of all logs at a path.

    A log that cannot be opened and a sample that cannot be read are quarantined, and reading continues.

    Args:
        root: a log, or a folder of them.
        quarantine: collects what is unreadable.
        kind: what the samples are read as: task or run.
    """
    folder = root.parent if root.is_file() else root
    for path in log_files(root):
        name = path.relative_to(folder).as_posix()
        opened = _tried(partial(_open, path))
        if isinstance(opened, str):
            quarantine.add(name, f"cannot read the log: {opened}; run the evaluation again or remove it", kind=kind)
            continue
        log, samples = opened
        if not samples:
            quarantine.add(name, f"the log holds no samples (its status is {log.status}); remove it", kind=kind)
        for sample_id, epoch in samples:
            sample = _tried(partial(_read_sample, str(path), sample_id, epoch))
            if isinstance(sample, str):
                reason = f"cannot read the sample: {sample}; remove it from the log"
                quarantine.add(name, reason, pointer=place(sample_id, epoch), kind=kind)
            else:
                yield Logged(name, log, sample)


def _refuse_bomb(path: Path) -> None:
    """Refuse an archive whose members unpack to more than a log holds; Inspect reads each member as a whole.

    The sizes that the archive states are not trusted: a member that could be larger is unpacked once, in blocks.

    Raises:
        UnreadableFileError: when it does.
        BadZipFile: when it is not an archive, or a member has another length than the archive says.
    """
    with open_regular(path) as stream, ZipFile(stream) as archive:
        members = archive.infolist()
        most = UNPACKED_BYTES + UNPACKED_RATIO * os.fstat(stream.fileno()).st_size
        if sum(member.file_size for member in members) > most:
            raise UnreadableFileError(path, f"it unpacks to more than {UNPACKED_RATIO} times its size, as no log does")
        for member in members:
            if member.file_size > MAX_BYTES:
                reason = f"{member.filename!r} unpacks to more than {size_text(MAX_BYTES)}"
                raise UnreadableFileError(path, reason)
            if member.compress_type == ZIP_DEFLATED and member.compress_size * _MOST_DEFLATED > MAX_BYTES:
                with archive.open(member) as content:
                    while content.read(1 << 20):
                        pass


def _open(path: Path) -> tuple["EvalLog", list[tuple[int | str, int]]]:
    """Return the header of a log, and the id and epoch of its samples in the order of the data set."""
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    _refuse_bomb(path)
    log = read_eval_log(str(path), header_only=True)
    samples = [(summary.id, summary.epoch) for summary in read_eval_log_sample_summaries(str(path))]
    return log, sorted(samples, key=lambda item: (item[1], _order(log, item[0])))


def _read_sample(path: str, sample_id: int | str, epoch: int) -> "EvalSample":
    from inspect_ai.log import read_eval_log_sample

    return read_eval_log_sample(path, sample_id, epoch, resolve_attachments=True, exclude_fields=set(UNREAD))


def _order(log: "EvalLog", sample_id: object) -> tuple[int, str]:
    """Position of a sample in its data set; those that it does not list come last, by id."""
    ids: list[Any] = list(log.eval.dataset.sample_ids or [])
    return ids.index(sample_id) if sample_id in ids else len(ids), str(sample_id)


def _tried(read: Callable[[], _T]) -> _T | str:
    """Return what ``read`` returns, or in one line why it failed: a damaged archive raises almost anything."""
    try:
        return read()
    except Exception as error:
        lines = str(error).splitlines()
        return f"{type(error).__name__}: {lines[0][:200] if lines else 'no message'}"


if TYPE_CHECKING:
    from inspect_ai.model import ChatMessage


def to_messages(messages: Sequence["ChatMessage"]) -> tuple[Message, ...]:
    """Translate messages. Reasoning is left out; images and other parts without text are named by their type."""
    return tuple(_message(message) for message in messages)


def _message(message: "ChatMessage") -> Message:
    content = _text(message)
    if message.role == "tool":
        if message.error is not None and not content:
            content = f"{message.error.type}: {message.error.message}"
        return Message(role="tool", content=content, tool_call_id=message.tool_call_id, tool_name=message.function)
    if message.role == "assistant":
        calls = tuple(
            ToolCall(name=call.function, arguments=call.arguments, id=call.id) for call in message.tool_calls or ()
        )
        return Message(role="assistant", content=content, tool_calls=calls)
    return Message(role=message.role, content=content)


def _text(message: "ChatMessage") -> str:
    if isinstance(message.content, str):
        return message.content
    parts = []
    for part in message.content:
        if part.type == "text":
            parts.append(part.text)
        elif part.type != "reasoning":
            parts.append(f"[{part.type}]")
    return "\n".join(parts)
