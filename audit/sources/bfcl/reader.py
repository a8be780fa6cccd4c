"""Streams tasks from question and answer files, category by category."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agenthard.audit.sources.base import Quarantine
from agenthard.audit.sources.bfcl.categories import CLASS_DOCS, Category
from agenthard.audit.sources.bfcl.layout import Layout
from agenthard.audit.sources.bfcl.tasks import build_task
from agenthard.audit.sources.bfcl.tools import BfclEnvironments, tool_key
from agenthard.audit.sources.formats.id_filter import may_have_id
from agenthard.audit.sources.formats.json_records import FileRecord, RawRecord, read_jsonl
from agenthard.audit.sources.formats.json_text import load_document
from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow
from agenthard.taxonomy.task import AgentTask

Pair = tuple[FileRecord, FileRecord | None]
"""A question and its answer; None in categories without answers."""


def read_tasks(
    layout: Layout,
    categories: Sequence[Category],
    code: Path | None,
    quarantine: Quarantine,
    ids: Collection[str] | None = None,
) -> Iterator[AgentTask]:
    """Stream the tasks of some categories in order.

    Args:
        layout: the files.
        categories: what to read.
        code: folder with the source of the classes, when it is available.
        quarantine: collects what is unreadable.
        ids: build the tasks with these ids, and as few others as possible; None = all.
    """
    documented = {} if ids is None else _documented(layout, categories, ids)
    environments = BfclEnvironments(layout, code, quarantine)
    contents, repaired = ContentHashes(layout), repaired_tasks(layout)
    sensitive = _format_sensitive(layout, quarantine)
    for variants, pairs in read_pairs(layout, categories, quarantine):
        repeatable = pairs if len(variants) == 1 else list(pairs)
        for category in variants:
            for question, answer in repeatable:
                record = question.record.value
                if ids is not None and category.task_id(record["id"]) not in ids:
                    # A tool keeps the place where it is documented first, so a task that may be this place is built.
                    if environments.has_tools(_shared(record, category, documented)):
                        continue
                content_hash = contents.hash_of(category, question.record, answer.record if answer else None)
                content_hash = repaired.get(category.task_id(record["id"]), content_hash)
                task = _task(category, question, answer, environments, content_hash, quarantine)
                if task is not None:
                    yield _marked(task) if task.native_id in sensitive else task


def _documented(layout: Layout, categories: Sequence[Category], ids: Collection[str]) -> dict[str, set[str]]:
    """Return the tools that tasks with these ids document, and perhaps some of other tasks: keys by name."""
    in_files = {task_id.replace(c.name, c.stem, 1) for c in categories for task_id in ids}
    parse = may_have_id({*ids, *in_files})
    found: dict[str, set[str]] = {}
    for category in {each.stem: each for each in categories}.values():
        for record in read_jsonl(layout.questions(category.stem), "", Quarantine(), parse=parse):
            for doc in _docs(record.value):
                found.setdefault(_name(doc), set()).add(tool_key(doc, category))
    return found


def _shared(question: Mapping[str, Any], category: Category, documented: Mapping[str, set[str]]) -> set[str]:
    """Return the keys of those tools that a question documents too."""
    docs = (doc for doc in _docs(question) if _name(doc) in documented)
    return {key for doc in docs if (key := tool_key(doc, category)) in documented[_name(doc)]}


def _name(doc: Mapping[str, Any]) -> str:
    return str(doc.get("name"))


def _docs(question: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    docs = question.get("function")
    return (doc for doc in (docs if isinstance(docs, list) else ()) if isinstance(doc, dict))


def content_hashes(layout: Layout) -> Iterator[str]:
    """Yield the content hash of every task of a copy, without building the tasks."""
    contents = ContentHashes(layout)
    for variants, pairs in read_pairs(layout, layout.categories, Quarantine()):
        for question, answer in pairs:
            yield contents.hash_of(variants[0], question.record, answer.record if answer else None)


def read_pairs(
    layout: Layout, categories: Sequence[Category], quarantine: Quarantine
) -> Iterator[tuple[list[Category], Iterator[Pair]]]:
    """Stream the lines of each question file with their answers, and the categories that the file serves.

    A question without an answer, an answer without a question, and an id used before are quarantined.
    """
    seen: dict[str, str] = {}
    for stem, group in groupby(categories, key=lambda category: category.stem):
        variants = list(group)
        yield variants, _pairs(layout, stem, variants[0].has_answers, seen, quarantine)


def _pairs(
    layout: Layout, stem: str, has_answers: bool, seen: dict[str, str], quarantine: Quarantine
) -> Iterator[Pair]:
    answers = _answers(layout, stem, quarantine) if has_answers else {}
    file = layout.name(layout.questions(stem))
    for record in read_jsonl(layout.questions(stem), file, quarantine):
        question = FileRecord(file, record)
        task_id = _id(question, seen, quarantine)
        if task_id is None:
            continue
        answer = answers.pop(task_id, None)
        if has_answers and answer is None:
            reason = f"{layout.name(layout.answers(stem))} has no line for {task_id!r}; add it or remove the question"
            quarantine.add(file, reason, line=record.line, pointer="/id", task_id=task_id)
        else:
            yield question, answer
    for task_id, answer in answers.items():
        reason = f"answers {task_id!r}, but no readable line of {file} has that id; fix or remove one of them"
        quarantine.add(answer.file, reason, line=answer.record.line, pointer="/id", task_id=task_id)


def _answers(layout: Layout, stem: str, quarantine: Quarantine) -> dict[str, FileRecord]:
    path = layout.answers(stem)
    if not path.is_file():
        return {}
    seen: dict[str, str] = {}
    answers = {}
    for record in read_jsonl(path, layout.name(path), quarantine):
        answer = FileRecord(layout.name(path), record)
        task_id = _id(answer, seen, quarantine)
        if task_id is not None:
            answers[task_id] = answer
    return answers


def _id(place: FileRecord, seen: dict[str, str], quarantine: Quarantine) -> str | None:
    task_id = place.record.value.get("id")
    line = place.record.line
    if not isinstance(task_id, str) or not task_id:
        found = "missing" if task_id is None else f"not text: {json.dumps(task_id)[:80]}"
        quarantine.add(place.file, f"the field 'id' is {found}; give the record an id", line=line, pointer="/id")
        return None
    if task_id in seen:
        reason = f"the id {task_id!r} was already used at {seen[task_id]}; the first record counts, rename this one"
        quarantine.add(place.file, reason, line=line, pointer="/id", task_id=task_id)
        return None
    seen[task_id] = f"{place.file}:{line}"
    return task_id


def _task(
    category: Category,
    question: FileRecord,
    answer: FileRecord | None,
    environments: BfclEnvironments,
    content_hash: str,
    quarantine: Quarantine,
) -> AgentTask | None:
    try:
        for part in (question, answer):
            require_shallow(part.record.value if part else {})
        return build_task(category, question, answer, environments, content_hash)
    except MalformedRecordError as error:
        place = answer if answer and error.pointer.startswith("/ground_truth") else question
        pointer, reason = error.pointer, str(error)
    except ValidationError as error:
        place, pointer, reason = question, "", f"the record is not a valid task: {error.errors()[0]['msg']}; fix it"
    task_id = category.task_id(question.record.value["id"])
    quarantine.add(place.file, reason, line=place.record.line, pointer=pointer, task_id=task_id)
    return None


def _marked(task: AgentTask) -> AgentTask:
    return task.model_copy(update={"metadata": {**task.metadata, "format_sensitivity": True}})


def _format_sensitive(layout: Layout, quarantine: Quarantine) -> frozenset[str]:
    path = layout.format_sensitivity
    if not path.is_file():
        return frozenset()
    try:
        lists = load_document(path)
        return frozenset(task_id for ids in lists.values() for task_id in ids)
    except (OSError, ValueError, RecursionError, AttributeError, TypeError) as error:
        quarantine.add(layout.name(path), f"expected an object of lists of task ids: {error}")
        return frozenset()


MANIFEST = "manifest.json"


class ContentHashes:
    """Hashes the tasks of one copy, to tell which release of BFCL a task belongs to.

    A release is its questions, its answers and the documentation of its classes; its classes and its checker are the
    code for exactly these. So a task belongs to a release when its question line, its answer line and the
    documentation of the classes it involves have the same bytes. This holds for each task alone: a part of a release
    that was copied still belongs to it.
    """

    def __init__(self, layout: Layout) -> None:
        """Prepare; files of documentation are read when a task needs them."""
        self._layout = layout
        self._docs: dict[str, bytes] = {}

    def hash_of(self, category: Category, question: RawRecord, answer: RawRecord | None) -> str:
        """Return the version of the data, a colon, and the first 16 hexadecimal digits of a SHA-256.

        Args:
            category: category of the task; the several that read one line give the same hash.
            question: its question.
            answer: its answer, where the category has answers.
        """
        parts = [category.stem.encode(), question.raw.strip(), answer.raw.strip() if answer else b""]
        if category.scoring == "state":
            classes = question.value.get("involved_classes")
            parts += [self._documentation(name) for name in classes] if isinstance(classes, list) else []
        total = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts))
        return f"{self._layout.version}:{total.hexdigest()[:16]}"

    def _documentation(self, name: object) -> bytes:
        if not isinstance(name, str) or name not in CLASS_DOCS:
            return b""
        if name not in self._docs:
            path = self._layout.docs(name)
            self._docs[name] = path.read_bytes().strip() if path.is_file() else b""
        return self._docs[name]


def repaired_tasks(layout: Layout) -> dict[str, str]:
    """Return the hashes that repaired tasks had before the repair, from the manifest of a repaired split.

    Such a task belongs to the release that it was repaired from, although its bytes are in no release.
    """
    try:
        manifest = json.loads((layout.root / MANIFEST).read_text("utf-8"))
        listed = [(task["task_id"], task["content_hash"]) for task in manifest["repaired"]]
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return {}
    return {name: value for name, value in listed if isinstance(name, str) and isinstance(value, str)}
