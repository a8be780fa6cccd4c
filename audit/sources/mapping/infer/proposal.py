"""Proposes a mapping from the chosen columns, and counts the rows that parse with it."""

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, Quarantined, SourceError
from agenthard.audit.sources.mapping.data import read_value_file
from agenthard.audit.sources.mapping.infer.columns import Column, columns_of, holds_accepted_values, is_prose, is_tools
from agenthard.audit.sources.mapping.infer.files import Group, Partner, find_groups, partner_of, shared_values
from agenthard.audit.sources.mapping.infer.lists import columns_in_lists
from agenthard.audit.sources.mapping.infer.roles import (
    Choice,
    choose,
    is_related,
    is_simulated,
    named_id,
    system_answers,
    tool_names,
    unnamed_id,
)
from agenthard.audit.sources.mapping.infer.speakers import Speakers, speakers_of
from agenthard.audit.sources.mapping.infer.understood import Understood, understand
from agenthard.audit.sources.mapping.mapping import MappingFile
from agenthard.audit.sources.mapping.source import Reader

_GENERAL_NAMES = ("tasks", "data", "test", "train", "dev", "questions", "benchmark", "validation")
_WORDS = 8
"""A text that all rows have in common is a policy from this many words on."""
_FREE = ("user.turns", "user.instruction", "ground_truth.calls", "ground_truth.answers")
"""Parts that a row must have unless the mapping has a default; without them it is quarantined."""


@dataclass
class Proposal:
    """A proposed mapping."""

    mapping: dict[str, Any]
    """The mapping as YAML would be read."""
    comments: dict[str, str]
    """The reason for each choice, by dotted key."""
    unsure: list[str]
    """What a person has to check."""
    folder: Path
    """Folder to which its files are relative."""
    understood: Understood = field(default_factory=Understood)
    """What the rows become under it."""
    refused: list[Quarantined] = field(default_factory=list)
    """What did not parse."""

    def facts(self) -> dict[str, Any]:
        """Return the proposal as JSON."""
        understood = asdict(self.understood)
        return {"mapping": self.mapping, "comments": self.comments, "unsure": self.unsure, **understood}


def infer(path: Path) -> Proposal:
    """Propose a mapping for the rows of a file or of a folder.

    Args:
        path: a file of rows, or a folder with such files.

    Raises:
        SourceError: No rows, or no column is what a user says.
    """
    groups = find_groups(path)
    chosen, others = groups[0], groups[1:]
    if path.is_file():
        others = [group for group in find_groups(path.parent) if path not in group.paths or len(group.paths) > 1]
        others = [_without(group, path) for group in others]
    proposal = _propose(chosen, partner_of(chosen, others))
    if len(groups) > 1 and path.is_dir():
        rest = sorted({name for group in groups[1:] for name in group.names()})
        proposal.unsure.append(f"files with other columns were left aside: {', '.join(rest[:6])}")
    _try(proposal)
    return proposal


def _without(group: Group, path: Path) -> Group:
    return Group(group.folder, tuple(item for item in group.paths if item != path), group.rows, group.columns)


def _propose(group: Group, partner: Partner | None) -> Proposal:
    rows = [dict(row.values) for row in group.sample()]
    proposal = Proposal({}, {}, [], group.folder)
    mapping = proposal.mapping
    mapping["benchmark"] = _named(group)
    mapping["files"] = group.names()
    if group.rows is not None:
        mapping["rows"] = group.rows
    if partner is not None:
        mapping["join"] = [{"name": partner.name, "files": partner.group.names(), "key": partner.key}]
        proposal.comments["join"] = f"{partner.key} has the same values there"
        if not _join_rows(rows, partner):
            mapping["join"][0]["required"] = False
    columns, texts = columns_of(rows)
    if texts:
        mapping["json_columns"] = texts
    every = group.sample(10**6)
    _identify(proposal, named_id(columns, every), "unique in all rows")
    shared = dict(shared_values(group))
    shared_tools = _names(group, shared.get("environment.tools"))
    documented = {
        name for column in columns for value in column.present if is_tools(value) for name in tool_names(value)
    }
    inside = columns_in_lists(columns, shared_tools | documented)
    free = [column for column in [*columns, *inside] if column.path not in _keys(mapping)]
    chosen = choose(free, partner.name if partner else None, shared_tools)
    if "user.turns" not in chosen:
        named = ", ".join(column.path for column in columns[:20])
        raise SourceError(f"{group.folder}: no column looks like what a user says; the columns are: {named}")
    if "id" not in mapping:
        used = [choice.column for choice in chosen.values()]
        unused = [column for column in columns if not any(column.overlaps(other) for other in used)]
        _identify(proposal, unnamed_id(unused, every), "unique in all rows, which is why it was chosen")
    if "id" not in mapping:
        proposal.unsure.append("no column is a unique id: file and number of the row are used")
    for key, choice in chosen.items():
        _place(proposal, key, choice)
    _user(proposal, chosen, columns)
    _told_to_all(proposal, columns, shared)
    _truth(proposal, chosen)
    for key, name in shared.items():
        if key not in chosen:
            _set(mapping, key, {"file": name})
            proposal.comments[key] = "a file next to the rows"
    _metadata(proposal, columns, chosen)
    return proposal


def _named(group: Group) -> str:
    stem = group.paths[0].name.split(".")[0].lower()
    own = len(group.paths) == 1 and stem not in _GENERAL_NAMES
    return re.sub(r"[^a-z0-9]+", "-", stem if own else group.folder.resolve().name.lower()).strip("-") or "benchmark"


def _names(group: Group, tools: str | None) -> set[str]:
    return tool_names(read_value_file(group.folder, tools)) if tools else set()


def _keys(mapping: dict[str, Any]) -> set[str]:
    joined = {f"{join['name']}.{join['key']}" for join in mapping.get("join", [])}
    return joined | ({mapping["id"]} if "id" in mapping else set())


def _join_rows(rows: list[dict[str, Any]], partner: Partner) -> bool:
    """Join rows to others; tell whether each has a partner."""
    theirs = {str(row.values.get(partner.key)): row.values for row in partner.group.sample(10**6)}
    for row in rows:
        row[partner.name] = theirs.get(str(row[partner.key]), {})
    return all(row[partner.name] for row in rows)


def _identify(proposal: Proposal, path: str | None, why: str) -> None:
    if path is not None:
        proposal.mapping["id"] = path
        proposal.comments["id"] = why


def _place(proposal: Proposal, key: str, choice: Choice) -> None:
    column = choice.column
    optional = key in _FREE and any(value is None for value in column.values)
    empty: list[Any] | None = [] if key == "ground_truth.calls" else None
    _set(proposal.mapping, key, {"path": column.path, "default": empty} if optional else column.path)
    by = "by name and content" if choice.named > 0 else "by content alone"
    told = f"{choice.role.content}, {by}, in {column.share:.0%} of the rows looked at"
    if choice.others:
        told += f"; or: {', '.join(other.path for other in choice.others)}"
    proposal.comments[key] = told
    if choice.named < 0.5:
        proposal.unsure.append(f"{key}: {column.path} was chosen {by}")


def _user(proposal: Proposal, chosen: dict[str, Choice], columns: Sequence[Column]) -> None:
    choice = chosen["user.turns"]
    used = [other.column for other in chosen.values()]
    texts = [value for value in choice.column.present if is_prose(value)]
    related = [c for c in columns if c not in used and is_related(c, choice.column)]
    if is_simulated(choice.column, [*texts, *(text for c in related for text in c.present if is_prose(text))]):
        user = proposal.mapping["user"]
        user["instruction"] = user.pop("turns")
        proposal.comments["user.instruction"] = proposal.comments.pop("user.turns") + "; it is addressed to a player"
        proposal.unsure.append(
            "user: the text seems to be addressed to a simulated user; if it is sent as it is, map turns"
        )
        if related:
            user["context"] = {c.keys[-1]: c.path for c in related}
    elif (speakers := speakers_of(choice.column)) is not None:
        _speakers(proposal, speakers)
    elif system_answers(texts):
        proposal.mapping["user"]["roles"] = {"system": "assistant"}
        proposal.comments["user.roles"] = "'system:' answers 'user:' in the text"


def _told_to_all(proposal: Proposal, columns: Sequence[Column], shared: dict[str, str]) -> None:
    """Take a long text that all rows have in common for the policy, where nothing else is."""
    if "policy" in proposal.mapping.get("environment", {}) or "environment.policy" in shared:
        return
    same = [c for c in columns if c.share == 1 and len(c.values) > 2 and len(set(map(str, c.values))) == 1]
    column = next((c for c in same if is_prose(c.values[0]) and len(c.values[0].split()) >= _WORDS), None)
    if column is not None:
        _set(proposal.mapping, "environment.policy", column.path)
        proposal.comments["environment.policy"] = "the same text in all rows"
        proposal.unsure.append(f"environment.policy: {column.path} was chosen because it is the same text in all rows")


def _speakers(proposal: Proposal, speakers: Speakers) -> None:
    user, comments = proposal.mapping["user"], proposal.comments
    if speakers.turns is not None:
        user["turns"] = speakers.turns
        if "policy" not in proposal.mapping.get("environment", {}):
            _set(proposal.mapping, "environment.policy", {"path": speakers.policy, "default": None})
            comments["environment.policy"] = "the message of the system, which is not the user's"
    if speakers.roles:
        user["roles"] = speakers.roles
        told = ", ".join(f"{name} = {role}" for name, role in speakers.roles.items())
        proposal.unsure.append(f"user.roles: guessed from who speaks first: {told}")


def _truth(proposal: Proposal, chosen: dict[str, Choice]) -> None:
    if "evaluation.rubric" in chosen:
        proposal.unsure.append("evaluation.rubric: the rows do not tell whether it is scored (rubric_scored)")
    if "ground_truth.calls" not in chosen:
        if "ground_truth.answers" in chosen:
            proposal.mapping.setdefault("evaluation", {})["answer"] = "exact"
            proposal.unsure.append("evaluation.answer: the rows do not tell how answers are compared")
        return
    truth = proposal.mapping["ground_truth"]
    gold = chosen["ground_truth.calls"].column
    lists = [holds_accepted_values(value) for value in gold.present]
    if sum(lists) > 0.9 * len(lists):
        truth["accepted"] = "values"
        proposal.comments["ground_truth.accepted"] = "every argument is a list"
    if "milestone" in gold.keys[-1].replace("_", "").lower():
        truth["semantics"], truth["matching"] = "milestones", "state"
    elif "instruction" in proposal.mapping["user"] or "initial_state" in chosen:
        truth["semantics"], truth["matching"] = "reference_path", "state"
    else:
        truth["matching"] = "exact"
    proposal.unsure.append("ground_truth.matching: the rows do not tell how calls are scored")
    if gold.share < 1 and truth["matching"] != "state":
        proposal.unsure.append(
            "ground_truth.calls: some rows have none; where that means that the agent must not call a tool, "
            f"say so: traits: \"!{gold.path} && 'expects_no_call' || ''\""
        )


def _metadata(proposal: Proposal, columns: Sequence[Column], chosen: dict[str, Choice]) -> None:
    used = [choice.column for choice in chosen.values()]
    identity = str(proposal.mapping.get("id", ""))
    left = [
        column
        for column in columns
        if len(column.keys) == 1
        and column.present
        and column.path not in identity
        and not any(column.overlaps(other) or column.path in other.path for other in used)
        and column.keys[0] not in {join["name"] for join in proposal.mapping.get("join", [])}
    ]
    if left:
        proposal.mapping["metadata"] = {c.keys[0]: {"path": c.path, "default": None} for c in left}
        proposal.comments["metadata"] = "columns that play no part"


def _set(mapping: dict[str, Any], key: str, value: Any) -> None:
    *above, last = key.split(".")
    for part in above:
        mapping = mapping.setdefault(part, {})
    mapping[last] = value


def _try(proposal: Proposal) -> None:
    quarantine = Quarantine()
    reader = Reader(MappingFile.model_validate(proposal.mapping), proposal.folder)
    proposal.understood = understand(reader, quarantine)
    proposal.refused = quarantine.items
