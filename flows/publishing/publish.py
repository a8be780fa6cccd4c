"""Publishing a split: everything is written next to its place, compared with the last publication, and put there."""

import json
import shutil
from collections import Counter
from importlib.metadata import version as package_version
from pathlib import Path
from typing import NamedTuple

from agenthard.audit.sources.base import count_not_read
from agenthard.flows.errors import RunFolderError
from agenthard.flows.publishing.card import CardInput, card_markdown
from agenthard.flows.publishing.chosen import ChosenSplit, choose_split, sha256_of
from agenthard.flows.publishing.croissant import croissant_json
from agenthard.flows.publishing.hub_tables import HubFile, HubTables, write_removal_tables, write_tasks_tables
from agenthard.flows.publishing.inspect_file import inspect_file, why_none_played
from agenthard.flows.publishing.native_copy import NATIVE, carry_terms, write_native
from agenthard.flows.publishing.push import push_folder, require_token
from agenthard.flows.publishing.records import (
    MANIFEST,
    Publication,
    Published,
    PublishedFile,
    PublishSettings,
    Release,
)
from agenthard.flows.publishing.removals import Removal, removals_of
from agenthard.flows.publishing.signature import load_private_key, sign_manifest
from agenthard.flows.publishing.versions import (
    DOCUMENTATION,
    Change,
    change_between,
    changelog_markdown,
    choose_version,
    incomparable,
    parse_version,
    read_publication,
    require_same_split,
)
from agenthard.flows.run_folder import RunFolder
from agenthard.taxonomy.files import write_text

_DOCUMENTS = ("README.md", "CHANGELOG.md", "croissant.json")
LEADERBOARD = "leaderboard"
"""Folder of a publication with the leaderboard of the stored runs."""


class _Built(NamedTuple):
    """What does not depend on the version."""

    chosen: ChosenSplit
    tables: HubTables
    files: tuple[HubFile, ...]
    removals: tuple[Removal, ...]
    draft: Publication
    inspect: str


def publish(settings: PublishSettings) -> Published:
    """Publish a split of a finished audit.

    Raises:
        CommandError: the run is damaged, the benchmark has changed, or the settings do not fit; the message says why.
        RunFolderError: another process writes into the run folder, or ``out`` holds something else.
        SourceError: the benchmark cannot be read.
        MissingExtraError: signing or uploading needs the extra ``publish``.
        InfrastructureError: the hub cannot be reached; the folder is written.
    """
    out = Path(settings.out or Path(settings.run) / "publication" / settings.split)
    if settings.version:
        parse_version(settings.version)
    if settings.sign:
        load_private_key(Path(settings.sign))  # before anything is written
    token = require_token() if settings.push else ""
    _put_back(out)
    previous = _previous(settings, out)
    partial = out.with_name(f".{out.name}.partial")
    with RunFolder(Path(settings.run)).read():
        chosen = choose_split(settings)
        name = settings.name or f"{chosen.manifest.source}-{settings.split}"
        if previous:
            require_same_split(previous, name if settings.name else None, settings.split, chosen.manifest.source)
            name = previous.name
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        try:
            built = _build(chosen, name, partial)
            _write_leaderboard(settings, partial)
            made, change = _versioned(built, previous, partial, settings.version)
            key_id = sign_manifest(partial, Path(settings.sign)) if settings.sign else None
            _put(partial, out)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    address = push_folder(out, settings.push, made, token) if settings.push else None
    return Published(
        folder=str(out),
        name=made.name,
        split=made.split,
        version=made.version,
        changed=change is not None,
        level=change.level if change else None,
        changes=change.lines if change else (),
        do_not_compare_with=made.do_not_compare_with,
        counts={
            "total": made.total,
            "kept": made.kept,
            "removed": made.removed,
            "under_review": made.under_review,
            "unchecked": made.unchecked,
            "unreadable": made.unreadable,
            "not_read": made.not_read,
        },
        licence=made.licence.id,
        files=len(made.files) + 1,
        inspect=built.inspect,
        key_id=key_id,
        pushed=address,
    )


def _write_leaderboard(settings: PublishSettings, out: Path) -> None:
    """Write the leaderboard of the stored runs, on the original and on the published split, where there are runs."""
    run = Path(settings.run)
    if not json.loads((run / "manifest.json").read_bytes())["outcome"]["runs"]:
        return
    from agenthard.flows.rescoring import rescored_runs
    from agenthard.reports.leaderboard.page import write_leaderboard_page

    repairs = [Path(settings.repair or run / "repair")] if settings.split == "repaired" else []
    repaired = rescored_runs([run], repairs, Path(settings.benchmark) if settings.benchmark else None)
    write_leaderboard_page(out / LEADERBOARD, [run], ("original", settings.split), repaired=repaired)


def _put(partial: Path, out: Path) -> None:
    """Put a folder in the place of another one, which is there until the new one is."""
    before = _before(out)
    shutil.rmtree(before, ignore_errors=True)
    if out.exists():
        out.rename(before)
    partial.rename(out)
    shutil.rmtree(before, ignore_errors=True)


def _put_back(out: Path) -> None:
    """Put the last publication back that a killed process had moved away, and nothing in its place yet."""
    if _before(out).exists() and not out.exists():
        _before(out).rename(out)


def _before(out: Path) -> Path:
    return out.with_name(f".{out.name}.before")


def _previous(settings: PublishSettings, out: Path) -> Publication | None:
    here = out / MANIFEST
    if out.exists() and not here.is_file() and (not out.is_dir() or any(out.iterdir())):
        raise RunFolderError(f"{out}: not empty and holds no publication; give another folder with --out")
    present = read_publication(here) if here.is_file() else None
    return read_publication(Path(settings.previous)) if settings.previous else present


def _build(chosen: ChosenSplit, name: str, out: Path) -> _Built:
    """Write everything that does not depend on the version."""
    manifest, home = chosen.manifest, chosen.source.split_home()
    tables = write_tasks_tables(chosen, out)
    native = write_native(chosen, out, tables.task_files)
    licence = carry_terms(chosen.source, home, out)
    removals = tuple(removals_of(chosen, tables.categories))
    files = (*tables.files, *write_removal_tables(out, removals))
    reason = why_none_played(manifest.kept, tables.unplayed)
    if not reason:
        write_text(out / "inspect_task.py", inspect_file())
    status = Counter(each.status for each in removals)
    draft = Publication(
        name=name,
        split=chosen.choice,
        version="0.0.0",
        source=manifest.source,
        title=chosen.source.title,
        benchmark=manifest.benchmark,
        agenthard=package_version("agenthard"),
        checks=manifest.checks,
        policy=manifest.policy.version,
        total=manifest.total,
        kept=manifest.kept,
        removed=manifest.total - manifest.kept,
        under_review=status["under_review"],
        unchecked=status["unchecked"],
        unreadable=status["unreadable"],
        not_read=count_not_read(manifest.not_read)[0],
        split_id=manifest.split_id,
        native_home=f"{NATIVE}/{home}".rstrip("/"),
        native_only=native.native_only,
        renumbered=native.renumbered,
        licence=licence,
        tasks=tables.contents,
        shared=native.shared,
        history=(),
        do_not_compare_with=(),
        files=(),
    )
    return _Built(chosen, tables, files, removals, draft, reason)


def _versioned(
    built: _Built, previous: Publication | None, out: Path, asked: str | None
) -> tuple[Publication, Change | None]:
    """Write the documents and the manifest of the version that follows from what changed."""
    if previous is None:
        change = Change("first", (f"first publication: {built.draft.kept:,} of {built.draft.total:,} tasks",))
        return _write(built, _release(built, (), choose_version(None, change, asked), change), out), change
    step = change_between(previous, built.draft.tasks, built.draft.shared)
    if step is None:
        same = _write(built, previous.history, out)
        if same.files == previous.files and asked in (None, previous.version):
            return same, None
        step = DOCUMENTATION
    history = _release(built, previous.history, choose_version(previous, step, asked), step)
    return _write(built, history, out), step


def _release(built: _Built, history: tuple[Release, ...], version: str, change: Change) -> tuple[Release, ...]:
    draft = built.draft
    latest = Release(
        version=version, level=change.level, changes=change.lines, kept=draft.kept, split_id=draft.split_id
    )
    return (*history, latest)


def _write(built: _Built, history: tuple[Release, ...], out: Path) -> Publication:
    """Write card, changelog, Croissant and manifest of a version."""
    others = incomparable(history)
    made = built.draft.model_copy(
        update={"version": history[-1].version, "history": history, "do_not_compare_with": others}
    )
    hashes = {file.path: sha256_of(out / file.path) for file in built.files}
    given = CardInput(
        made,
        built.chosen,
        built.files,
        built.removals,
        built.tables.categories,
        built.inspect,
        built.tables.unplayed,
        (out / LEADERBOARD).is_dir(),
    )
    texts = (card_markdown(given), changelog_markdown(made.name, history), croissant_json(made, built.files, hashes))
    for name, text in zip(_DOCUMENTS, texts, strict=True):
        write_text(out / name, text)
    paths = sorted(path for path in out.rglob("*") if path.is_file() and path != out / MANIFEST)
    files = tuple(
        PublishedFile(path=path.relative_to(out).as_posix(), sha256=sha256_of(path), bytes=path.stat().st_size)
        for path in paths
    )
    made = made.model_copy(update={"files": files})
    write_text(out / MANIFEST, made.model_dump_json(indent=1) + "\n")
    return made
