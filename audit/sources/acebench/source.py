"""The source: ACEBench's files as agent tasks, its splits as files of its own layout."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from agenthard.audit.sources.acebench.layout import Category, data_folder, find_layout, other_languages, question_files
from agenthard.audit.sources.acebench.tasks import AceBenchEnvironments, build_task
from agenthard.audit.sources.base import NotRead, Quarantine, Source, SourceError, Version, hash_files, left_out
from agenthard.audit.sources.formats.files import copy_lines, count_lines
from agenthard.audit.sources.formats.json_records import FileRecord, read_jsonl
from agenthard.audit.sources.formats.malformed import MalformedRecordError, require_shallow
from agenthard.audit.sources.formats.native_files import read_native_runs
from agenthard.taxonomy.task import AgentTask
from agenthard.taxonomy.trajectory import Trajectory


class AceBench(Source):
    """Reader of ACEBench. A domain is a category, named as its file (``normal_atom_bool``)."""

    name = "acebench"
    title = "ACEBench"
    layout = (
        "data_normal_*.json, data_special_*.json, data_agent_*.json (JSON Lines), with possible_answer/ next to them"
    )

    split_use = (
        "Put `native/data_all` in the place of the folder `data_all` of an ACEBench checkout, whose `eval_main.py` and "
        "`generate.py` then read it; code and the classes of the agent tasks come from there. A category without "
        "a task in the split has no file; name the categories that are there with `--category`."
    )

    def __init__(self, root: Path, domains: Sequence[str] = ()) -> None:
        """Open a copy of ACEBench.

        Args:
            root: the folder of one language, or a folder above it such as a checkout; English comes first.
            domains: categories to read; empty means all.

        Raises:
            SourceError: No question files, or a category is unknown.
        """
        super().__init__(root, domains)
        self._files = find_layout(root)
        known = [category.name for category in self._files.categories]
        unknown = sorted(set(domains) - set(known))
        if unknown:
            raise SourceError(f"unknown ACEBench category: {', '.join(unknown)}; this copy has: {', '.join(known)}")
        self._categories = [c for c in self._files.categories if not domains or c.name in domains]

    @classmethod
    def recognises(cls, root: Path) -> bool:
        """Tell whether questions and answers of ACEBench are under ``root``."""
        return data_folder(root) is not None

    def version(self) -> Version:
        """Identify the files of the categories read by their content."""
        names = [category.name for category in self._categories]
        paths = [path(name) for name in names for path in (self._files.questions, self._files.answers)]
        return hash_files(self._files.data, [p for p in paths if p.is_file()], f"ACEBench {self._files.data.name}")

    def tasks(self, quarantine: Quarantine) -> Iterator[AgentTask]:
        """Stream the tasks category by category; question files of unknown categories are reported as not read."""
        environments = AceBenchEnvironments()
        for category, question, answer in self._pairs(quarantine):
            task = _task(category, question, answer, environments, quarantine)
            if task is not None:
                yield task

    def known_files(self) -> Iterator[Path]:
        """Yield the files of all categories."""
        for category in self._files.categories:
            yield from (self._files.questions(category.name), self._files.answers(category.name))

    def not_read(self) -> list[NotRead]:
        """Name the categories that the user did not choose, those that are not known, and other languages."""
        chosen = bool(self.domains)
        opened = {category.name for category in self._categories}
        others = [category.name for category in self._files.categories if category.name not in opened]
        questions = {name: self._files.questions(name) for name in others}
        found = [left_out(self._files.name(path), count_lines(path) or 0, name) for name, path in questions.items()]
        for path in self._files.unknown:
            reason = "a category that this reader does not know"
            count = count_lines(path)
            found.append(NotRead(file=self._files.name(path), tasks=count, reason=reason, left_out=chosen))
        for folder in other_languages(self.root, self._files.data):
            counts = [count_lines(path) or 0 for path in question_files(folder)]
            reason = f"the tasks of another language; audit them by the path of {folder.name}"
            found.append(NotRead(file=self._files.name(folder), tasks=sum(counts), reason=reason, left_out=chosen))
        return found

    def runs(self, path: Path, quarantine: Quarantine) -> Iterator[Trajectory]:
        """Stream runs in the native format; ACEBench's own result files do not hold conversations."""
        return read_native_runs(path, quarantine)

    def split_home(self) -> str:
        """Return the folder of a checkout that ``eval_main.py`` reads for the language."""
        name = self._files.data.resolve().name
        return f"data_all/{name if name.startswith('data_') else 'data_en'}"

    def write_split(self, keep: Sequence[str], out: Path) -> list[Path]:
        """Write the question and answer lines of the tasks in ``keep``, byte-identical, in ACEBench's own layout.

        A category without a kept task gets no file.

        Raises:
            SourceError: when an id is unknown.
        """
        wanted = set(keep)
        lines: dict[Path, set[int]] = {}
        for _, *pair in self._pairs(Quarantine()):
            if pair[0].record.value["id"] in wanted:
                wanted.remove(pair[0].record.value["id"])
                for place in pair:
                    lines.setdefault(self.root / place.file, set()).add(place.record.line)
        if wanted:
            raise SourceError(f"no such task in {self.root}: {', '.join(sorted(wanted)[:5])}")
        written = []
        for source, numbers in lines.items():
            target = out / source.relative_to(self._files.data)
            copy_lines(source, target, numbers)
            written.append(target)
        return written

    def _pairs(self, quarantine: Quarantine) -> Iterator[tuple[Category, FileRecord, FileRecord]]:
        """Stream each question with its answer; one without the other, and an id used before, are quarantined."""
        seen: dict[str, str] = {}
        for category in self._categories:
            path = self._files.answers(category.name)
            answers = dict(_records(path, self._files.name(path), {}, quarantine)) if path.is_file() else {}
            asked = self._files.name(self._files.questions(category.name))
            for task_id, question in _records(self._files.questions(category.name), asked, seen, quarantine):
                answer = answers.pop(task_id, None)
                if answer is not None:
                    yield category, question, answer
                    continue
                reason = f"{self._files.name(path)} has no line for {task_id!r}; add it or remove the question"
                quarantine.add(asked, reason, line=question.record.line, pointer="/id", task_id=task_id)
            for task_id, answer in answers.items():
                reason = f"answers {task_id!r}, but no readable line of {asked} has that id; fix or remove one of them"
                quarantine.add(answer.file, reason, line=answer.record.line, pointer="/id", task_id=task_id)


def _records(path: Path, name: str, seen: dict[str, str], quarantine: Quarantine) -> Iterator[tuple[str, FileRecord]]:
    for record in read_jsonl(path, name, quarantine):
        task_id = record.value.get("id")
        if not isinstance(task_id, str) or not task_id:
            found = "missing" if task_id is None else f"not text: {json.dumps(task_id)[:80]}"
            reason = f"the field 'id' is {found}; give the record an id"
            quarantine.add(name, reason, line=record.line, pointer="/id")
        elif task_id in seen:
            reason = f"the id {task_id!r} was already used at {seen[task_id]}; the first record counts, rename this one"
            quarantine.add(name, reason, line=record.line, pointer="/id", task_id=task_id)
        else:
            seen[task_id] = f"{name}:{record.line}"
            yield task_id, FileRecord(name, record)


def _task(
    category: Category,
    question: FileRecord,
    answer: FileRecord,
    environments: AceBenchEnvironments,
    quarantine: Quarantine,
) -> AgentTask | None:
    try:
        for place in (question, answer):
            require_shallow(place.record.value)
        return build_task(category, question, answer, environments)
    except MalformedRecordError as error:
        place = answer if error.pointer.startswith(("/ground_truth", "/mile_stone")) else question
        pointer, reason = error.pointer, str(error)
    except ValidationError as error:
        place, pointer, reason = question, "", f"the record is not a valid task: {error.errors()[0]['msg']}; fix it"
    quarantine.add(place.file, reason, line=place.record.line, pointer=pointer, task_id=question.record.value["id"])
    return None
