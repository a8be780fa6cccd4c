"""The data set card: what the split is, what was removed and why, who decided, limits, licence and citation."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from agenthard.flows.publishing.chosen import ChosenSplit
from agenthard.flows.publishing.hub_tables import HubFile
from agenthard.flows.publishing.records import Publication
from agenthard.flows.publishing.removals import IN_SPLIT, Decided, Removal, Status
from agenthard.reports.kit.markdown import md, table
from agenthard.taxonomy.printable import printable, printable_line

_LISTED = 50
"""Removed tasks that the card lists; ``removals.jsonl`` has all."""
_LONGEST = 240
"""Characters of a reason on the card."""
_STATUS: dict[Status, str] = {
    "removed": "removed: flawed",
    "not_selected": "not selected: too easy, solved by no model, or with too few outcomes",
    "unreadable": "not in the split: the record cannot be read",
    "under_review": "in the split, under review: a person has to decide",
    "unchecked": "in the split, unchecked: no deciding check could run on it",
    "repaired": "in the split in a repaired form",
}
_MADE = {
    "clean": "the tasks of {title} in which an audit found no flaw that drops a task",
    "hard": "those tasks of {title} without such a flaw that not nearly all selection models solve",
    "repaired": "the tasks of {title} without a flaw that drops a task, and repaired tasks in their changed form",
}


class CardInput(NamedTuple):
    """What a card is written from."""

    publication: Publication
    """Manifest, without its files."""
    chosen: ChosenSplit
    """The split."""
    files: Sequence[HubFile]
    """Parquet files."""
    removals: Sequence[Removal]
    """What is not in the split, or with a remark."""
    categories: dict[str, str]
    """Category of every task that was read."""
    inspect: str
    """Why the split cannot be run as an Inspect task; empty when it can."""
    unplayed: dict[str, int]
    """Why tasks of the split cannot be run as Inspect samples, with their number."""
    has_leaderboard: bool
    """Whether the folder has a leaderboard of stored runs."""


def card_markdown(given: CardInput) -> str:
    """Write ``README.md``; nothing that the benchmark says becomes markup."""
    sections = (_head(given), _removed(given), _deciders(given), _use(given), _limits(given), _terms(given))
    return f"---\n{_header(given)}---\n\n" + "\n\n".join(filter(None, sections)) + "\n"


def _header(given: CardInput) -> str:
    """Return the YAML that the Hugging Face Hub and `datasets` read."""
    licence, tasks = given.publication.licence, [file for file in given.files if _holds_tasks(file)]
    configs: list[dict[str, Any]] = []
    if tasks:
        paths = [file.path for file in tasks]
        files = [{"split": given.publication.split, "path": paths}]
        configs.append({"config_name": "default", "default": True, "data_files": files})
    for config in dict.fromkeys(file.config for file in given.files):
        own = [{"split": file.split, "path": file.path} for file in given.files if file.config == config]
        configs.append({"config_name": config, "data_files": own})
    header: dict[str, Any] = {"pretty_name": printable_line(given.publication.name), "license": licence.id}
    if licence.id == "other":
        header |= {"license_name": "see-source-licence", "license_link": licence.files[0]}
    header |= {"tags": ["agent", "benchmark", "agenthard", given.publication.source], "configs": configs}
    text: str = yaml.safe_dump(header, allow_unicode=True, sort_keys=False, width=1_000)
    return text


def _holds_tasks(file: HubFile) -> bool:
    return file.config not in ("removals", "environments")


def _head(given: CardInput) -> str:
    made, chosen = given.publication, given.chosen
    outcome = [
        ("in the split", _of(made.kept, made.total)),
        ("removed", _of(made.removed, made.total)),
        ("in the split, under review by people", _of(made.under_review, made.kept)),
        ("**in the split, unchecked** (no deciding check could run)", _of(made.unchecked, made.kept)),
        ("records that could not be read", f"{made.unreadable:,}"),
        ("tasks seen and not read", f"{made.not_read:,}"),
    ]
    others = made.do_not_compare_with
    compare = (
        f"Scores on this split are not comparable with those of version{'s' if len(others) > 1 else ''} "
        f"{', '.join(others)} of it, "
        if others
        else "Scores on this split are not comparable "
    )
    what = _MADE[made.split].format(title=md(made.title))
    return "\n\n".join(
        [
            f"# {md(made.name)} {made.version}",
            f"This is {what}: {md(made.benchmark.label)}, content {made.benchmark.content_hash}.",
            table(("tasks", "count"), outcome),
            f"**Do not compare with.** {compare}with scores on the whole benchmark, or with those on another split. "
            f"Name the version `{made.version}` and the split id `{made.split_id}` with every score.",
            _warnings(chosen),
        ]
    ).rstrip()


def _of(part: int, whole: int) -> str:
    return f"{part:,} of {whole:,}"


def _warnings(chosen: ChosenSplit) -> str:
    doubts = [*(chosen.report.get("mapping_doubts") or ())]
    errors = sum(row["errors"] for row in chosen.report.get("checks", ()))
    lines = [f"* The mapping with which the benchmark was read may be wrong: {md(doubt)}" for doubt in doubts]
    if errors:
        lines.append(f"* {errors:,} pairs of task and check ended in an error; those tasks are not fully checked.")
    return "\n".join(lines)


def _removed(given: CardInput) -> str:
    removals = given.removals
    parts = ["## What was removed, and why"]
    statuses = Counter(each.status for each in removals)
    parts.append(
        table(("what", "tasks"), [(text, f"{statuses[name]:,}") for name, text in _STATUS.items() if statuses[name]])
        if removals
        else "Nothing was removed, and nothing waits for a person."
    )
    outside = [each for each in removals if each.status not in IN_SPLIT]
    if any(each.findings for each in outside):
        parts.append(_by_check(outside, given.publication.total))
    parts.append(_by_category(given, outside))
    if outside:
        title = f"The first {_LISTED} of {len(outside):,}" if len(outside) > _LISTED else "Each task"
        rows = [_listed(each) for each in outside[:_LISTED]]
        parts.append(f"{title}; `removals.jsonl` and the configuration `removals` have all, with every quote:")
        parts.append(table(("task", "what", "why", "evidence"), rows))
    return "\n\n".join(filter(None, parts))


def _by_check(outside: Sequence[Removal], total: int) -> str:
    tasks: Counter[tuple[str, str]] = Counter()
    for each in outside:
        tasks.update({(reason.check, reason.category) for reason in each.findings})
    rows = [(md(check), md(category), _of(count, total)) for (check, category), count in tasks.most_common()]
    return table(("check", "category of the flaw", "tasks left out"), rows)


def _by_category(given: CardInput, outside: Sequence[Removal]) -> str:
    whole = Counter(given.categories.values())
    if len(whole) < 2:
        return ""
    kept = Counter(given.categories[each] for each in given.publication.tasks)
    rows = [(md(name or "(none)"), _of(kept[name], count)) for name, count in sorted(whole.items())]
    return table(("category", "tasks in the split"), rows)


def _listed(each: Removal) -> tuple[str, str, str, str]:
    quotes = [quote for reason in each.findings for quote in reason.evidence if quote.line is not None]
    places = dict.fromkeys(f"{quote.file}:{quote.line}" for quote in quotes)
    why = " ".join(each.reasons)
    short = why if len(why) <= _LONGEST else why[:_LONGEST].rstrip() + " …"
    return md(each.task_id), each.status.replace("_", " "), md(short), md(", ".join(list(places)[:3]))


def _deciders(given: CardInput) -> str:
    made = given.publication
    kinds = Counter(kind for each in given.removals for kind in {decider.kind for decider in each.decided_by})
    names: dict[Decided, str] = {
        "check": "checks (rules that a program applies)",
        "judge": "judges (models)",
        "person": "people",
    }
    rows = [(text, f"{kinds[kind]:,}") for kind, text in names.items()]
    people = _sorted(decider.name for each in given.removals for decider in each.decided_by if decider.kind == "person")
    ran = sum(each.deciding_ran > 0 for each in given.chosen.decisions)
    lines = [
        "## How it was decided",
        f"AgentHard {md(made.agenthard)} ran {len(made.checks)} checks with policy {md(made.policy)}. On "
        f"{_of(ran, made.total)} tasks at least one check ran that can decide (schema, execution or judge); on the "
        "others nothing speaks against the task, and nothing for it. A task can be listed under several deciders:",
        table(("decided by", "tasks above"), rows),
    ]
    if people:
        lines.append(f"People: {md(', '.join(people))}. What each said is in `removals.jsonl`.")
    return "\n\n".join(lines)


def _sorted(names: Iterable[str]) -> list[str]:
    return sorted(set(names))


def _use(given: CardInput) -> str:
    made = given.publication
    tasks = [file for file in given.files if _holds_tasks(file)]
    lines = ["## How to use it"]
    if tasks:
        config = "" if len(tasks) == 1 else f"  # or one of: {', '.join(file.config for file in tasks[:8])}"
        lines.append(
            "```python\nfrom datasets import load_dataset\n\n"
            f'tasks = load_dataset("OWNER/NAME", "default", split="{made.split}"){config}\n```'
        )
    use = given.chosen.source.split_use or (
        f"`agenthard audit {made.source} native` reads it; the benchmark's own harness takes its files as they are."
    )
    lines.append(f"**The benchmark's own format** is in `native/`. {use}")
    if made.renumbered:
        lines.append("An id is a position in this format, so tasks have other ids in `native/` than in the tables.")
    if made.native_only:
        lines.append(
            f"{len(made.native_only):,} removed tasks are in `native/` all the same, because one line of the benchmark "
            f"serves several tasks: {md(', '.join(made.native_only[:10]))}. Leave them out of scores."
        )
    lines.append(_inspect(given))
    if given.has_leaderboard:
        lines.append("**Models before and after** are in `leaderboard/index.html`: stored runs, scored on both splits.")
    lines.append("**Check the files** with `agenthard publish --verify FOLDER`; `manifest.json` has the hash of each.")
    return "\n\n".join(lines)


def _inspect(given: CardInput) -> str:
    if given.inspect:
        return f"**As an Inspect task** it cannot be run: {md(given.inspect)}."
    kept = given.publication.kept
    text = (
        "**As an Inspect task**: `inspect eval inspect_task.py --model MODEL` in this folder plays "
        f"{_of(kept - sum(given.unplayed.values()), kept)} tasks."
    )
    reasons = [f"{count:,} are left out: {md(reason)}" for reason, count in sorted(given.unplayed.items())]
    return f"{text} {'; '.join(reasons)}." if reasons else text


def _limits(given: CardInput) -> str:
    lines = [
        "* A task that no check removed is not proved to be sound; the unchecked ones were not decided at all.",
        "* The tables are a translation of the benchmark's files; where they differ, the files in `native/` count.",
        "* A smaller split detects only larger differences between models.",
    ]
    detectable = getattr(given.chosen.manifest, "minimum_detectable_difference", "")
    models = getattr(given.chosen.manifest, "selection_models", ())
    if detectable:
        lines.append(f"* {md(detectable)}")
    if models:
        lines.append(f"* These models selected the split; do not report their scores on it: {md(', '.join(models))}.")
    missing = [item for item in given.chosen.manifest.not_read if item.is_gap]
    lines += [f"* Not read: {md(item.file)}: {md(item.reason)}" for item in missing[:10]]
    return "## Limits\n\n" + "\n".join(lines)


def _terms(given: CardInput) -> str:
    licence = given.publication.licence
    if licence.files:
        known = "a text that is not recognised" if licence.id == "other" else f"`{licence.id}`"
        terms = f"{known}, as the release states in {', '.join(f'`{Path(name).name}`' for name in licence.files)}"
        terms += " (copied into `source/`). It holds for the tasks here."
    else:
        terms = "unknown: not found in the release. Find out whether you may pass the tasks on before you do."
    citation = licence.citation or "unknown: not found in the release"
    return "\n\n".join(
        [
            f"## Licence\n\n{terms}",
            f"## Citation of the source\n\n{_quoted(citation)}",
        ]
    )


def _quoted(text: str) -> str:
    """Return a text as an indented block, in which nothing is markup."""
    return "\n".join(f"    {printable(line)}" for line in text.splitlines())
