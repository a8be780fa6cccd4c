"""The split in the benchmark's own format, arranged so that its own harness reads it; and the release's own terms."""

import json
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from agenthard.audit.sources.base import Quarantine, Source, SourceError
from agenthard.flows.errors import CommandError
from agenthard.flows.publishing.chosen import ChosenSplit, sha256_of
from agenthard.flows.publishing.records import Licence
from agenthard.taxonomy.files import read_text

NATIVE, SOURCE = "native", "source"
_LICENCE = ("license*", "licence*", "copying*", "notice*")
_CITATION = ("citation*", "*.bib")
_LONGEST = 1 << 20
_LISTS = ("split_tasks.json", "ids.json")
"""Files that list ids of tasks: they change with the tasks that are in the split."""
_TERMS = (
    ("apache-2.0", ("apache license", "version 2.0")),
    ("mit", ("permission is hereby granted, free of charge", 'the software is provided "as is"')),
    ("bsd-3-clause", ("redistribution and use in source and binary forms", "neither the name")),
    ("bsd-2-clause", ("redistribution and use in source and binary forms",)),
    ("cc-by-nc-4.0", ("attribution-noncommercial 4.0 international",)),
    ("cc-by-sa-4.0", ("attribution-sharealike 4.0 international",)),
    ("cc-by-4.0", ("attribution 4.0 international",)),
    ("cc0-1.0", ("cc0 1.0 universal",)),
    ("agpl-3.0", ("gnu affero general public license", "version 3")),
    ("lgpl-3.0", ("gnu lesser general public license", "version 3")),
    ("gpl-3.0", ("gnu general public license", "version 3")),
)
"""Identifiers of the Hugging Face Hub, with phrases that are all in the text of the licence."""
_BIBTEX = re.compile(r"^@\w+\{[^@]*?^\s*\}", re.MULTILINE)


class NativeCopy(NamedTuple):
    """What was written into ``native/``."""

    shared: dict[str, str]
    """SHA-256 of each file that holds no task and no list of them, by path."""
    native_only: tuple[str, ...]
    """Tasks that the benchmark's own reader finds there and that the split does not have."""
    renumbered: bool
    """Whether tasks have other ids there than in the benchmark, since an id is a position."""


def write_native(chosen: ChosenSplit, out: Path, task_files: Iterable[str]) -> NativeCopy:
    """Write ``native/`` and read it back.

    Args:
        chosen: the split.
        out: folder of the publication.
        task_files: files of the benchmark that tasks are read from, as their origins name them.

    Raises:
        CommandError: the benchmark's own reader does not find the tasks of the split in it.
    """
    native = out / NATIVE
    home = native / chosen.source.split_home()
    for file in chosen.manifest.files:
        target = home / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(chosen.folder / file.path, target)
    chosen.source.complete_split(chosen.manifest.kept_ids, home)
    names = {Path(name).name for name in task_files} | set(_LISTS)
    shared = {
        path.relative_to(out).as_posix(): sha256_of(path)
        for path in sorted(native.rglob("*"))
        if path.is_file() and path.name not in names
    }
    return NativeCopy(shared, *_read_back(chosen, home))


def _read_back(chosen: ChosenSplit, home: Path) -> tuple[tuple[str, ...], bool]:
    """Return the tasks that are there beyond those of the split, and whether tasks have other ids there."""
    kept = chosen.manifest.kept_ids
    if not kept:
        return (), False
    found = [task.id for task in _open_split(chosen.source, home).tasks(Quarantine())]
    ids = original_ids(home)
    read = {ids.get(each, each) for each in found}
    missing = [each for each in kept if each not in read]
    if missing and len(found) == len(kept):  # ids that are positions of rows
        return (), True
    if missing:
        raise CommandError(
            f"{home}: {len(missing):,} tasks of the split cannot be read back ({', '.join(missing[:3])}); audit again, "
            "and report this if it happens with a new run folder"
        )
    return tuple(sorted(read - set(kept))), bool(ids)


def _open_split(source: Source, home: Path) -> Source:
    """Open the split as the benchmark was opened: a folder, or the one file that the user named."""
    openers: tuple[Callable[[], Source], ...] = (
        lambda: type(source)(home, source.domains),
        lambda: type(source)(home),  # a domain without a task in the split is not there
        lambda: source.open_copy(home),
    )
    reason = ""
    for opener in openers:
        try:
            return opener()
        except SourceError as error:
            reason = reason or str(error)
    raise CommandError(f"{home}: the split cannot be read back as {source.name}: {reason}")


def original_ids(home: Path) -> dict[str, str]:
    """Return the id in the benchmark of each task whose id is a position, as ``ids.json`` has them."""
    file = home / "ids.json"
    found: dict[str, str] = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return found


def carry_terms(source: Source, home: str, out: Path) -> Licence:
    """Copy the licence and citation files of a release into ``source/``, and recognise the licence.

    Args:
        source: the benchmark.
        home: folder of the harness into which a split belongs; folders above the audited one are part of the release
            only as far as their names say so.
        out: folder of the publication.
    """
    folders = list(_release_folders(source.folder or source.root.parent, home))
    licences, citations = _found(folders, _LICENCE), _found(folders, _CITATION)
    for path in (*licences, *citations):
        (out / SOURCE).mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, out / SOURCE / path.name)
    return Licence(
        id=_recognise([_text(path) for path in licences]) if licences else "unknown",
        files=tuple(f"{SOURCE}/{path.name}" for path in licences),
        citation_files=tuple(f"{SOURCE}/{path.name}" for path in citations),
        citation=_citation(citations, folders),
    )


def _release_folders(root: Path, home: str) -> Iterator[Path]:
    folder = root.resolve()
    yield folder
    parts = home.split("/") if home else []
    for length in range(len(parts), 0, -1):
        if folder.parts[-length:] == tuple(parts[:length]):
            yield from list(folder.parents)[:length]
            above = list(folder.parents)[length - 1]
            yield from sorted(above.glob(f"{parts[0]}-*.dist-info"))
            yield from sorted(above.glob(f"{parts[0]}-*.dist-info/licenses"))
            return


def _found(folders: Sequence[Path], patterns: Sequence[str]) -> list[Path]:
    for folder in folders:
        paths = [path for path in sorted(folder.iterdir()) if path.is_file()]
        wanted = [path for path in paths if any(Path(path.name.lower()).match(pattern) for pattern in patterns)]
        if wanted := [path for path in wanted if path.stat().st_size <= _LONGEST and path.suffix != ".py"]:
            return wanted
    return []


def _recognise(texts: Sequence[str]) -> str:
    for text in texts:
        flat = " ".join(text.lower().replace("“", '"').replace("”", '"').split())
        for identity, phrases in _TERMS:
            if all(phrase in flat for phrase in phrases):
                return identity
    return "other"


def _citation(files: Sequence[Path], folders: Sequence[Path]) -> str:
    if files:
        return _text(files[0]).strip()
    for folder in folders:
        for name in ("README.md", "readme.md"):
            if (folder / name).is_file() and (found := _BIBTEX.findall(_text(folder / name))):
                return str(found[0]).strip()
    return ""


def _text(path: Path) -> str:
    try:
        return read_text(path, _LONGEST)
    except (OSError, ValueError):
        return ""
