"""Proposes a mapping from the chosen columns, and counts the rows that parse with it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from agenthard.audit.sources.base import Quarantine, SourceError
from agenthard.audit.sources.mapping.data import read_value_file
from agenthard.audit.sources.mapping.infer.columns import Column, holds_accepted_values, is_prose, is_tools
from agenthard.audit.sources.mapping.infer.files import Group
from agenthard.audit.sources.mapping.infer.gold_messages import gold_messages
from agenthard.audit.sources.mapping.infer.input import RowsRead, read_input
from agenthard.audit.sources.mapping.infer.lists import columns_in_lists
from agenthard.audit.sources.mapping.infer.proposal import Proposal
from agenthard.audit.sources.mapping.infer.questions import (
    COMPARED,
    MATCHING,
    SIMULATED,
    Question,
    missing_column,
    one_of,
    which_column,
)
from agenthard.audit.sources.mapping.infer.roles import (
    ROLES,
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
from agenthard.audit.sources.mapping.infer.understood import understand
from agenthard.audit.sources.mapping.mapping import MappingFile
from agenthard.audit.sources.mapping.source import Reader

_WORDS = 8
"""A text that all rows have in common is a policy from this many words on."""
_FREE = ("user.turns", "user.instruction", "ground_truth.calls", "ground_truth.answers")
"""Parts that a row must have unless the mapping has a default; without them it is quarantined."""


def infer(path: Path | str, ask: Callable[[Question], Any] | None = None) -> Proposal:
    """Propose a mapping for the rows of a file or of a folder.

    Args:
        path: a file of rows, or a folder with such files; or the URL of one, which fsspec reads.
        ask: returns the answer to a question: the value of one of its candidates. None: the first ones are proposed,
            and `unsure` lists what a person has to check.

    Raises:
        SourceError: No rows, or no column is what a user says.
    """
    data = read_input(path)
    answers: dict[str, Any] = {}
    proposal = _propose(data, answers)
    while ask is not None and proposal.questions:
        question = proposal.questions[0]
        answers[question.key] = ask(question)
        proposal = _propose(data, answers)
    if "user" not in proposal.mapping:
        named = ", ".join(column.path for column in data.columns[:20])
        raise SourceError(f"{data.group.folder}: no column looks like what a user says; the columns are: {named}")
    if data.left_aside:
        proposal.unsure.append(f"files with other columns were left aside: {', '.join(data.left_aside[:6])}")
    _try(proposal)
    return proposal


def _propose(data: RowsRead, answers: Mapping[str, Any]) -> Proposal:
    group, partner, columns, shared = data.group, data.partner, data.columns, data.shared
    proposal = Proposal({}, {}, [], group.folder, data.url, {**data.settled, **answers})
    mapping = proposal.mapping
    mapping["benchmark"] = data.name
    mapping["files"] = group.names()
    if group.rows is not None:
        mapping["rows"] = group.rows
    if partner is not None:
        mapping["join"] = [{"name": partner.name, "files": partner.group.names(), "key": partner.key}]
        proposal.comments["join"] = f"{partner.on} has the same values there"
        if partner.group.rows is not None:
            mapping["join"][0]["rows"] = partner.group.rows
        if partner.on != partner.key:
            mapping["join"][0]["on"] = partner.on
        if partner.many:
            mapping["join"][0]["many"] = True
            proposal.comments["join"] = f"one row per call; {partner.key} is the task"
        if not data.required:
            mapping["join"][0]["required"] = False
    if data.texts:
        mapping["json_columns"] = list(data.texts)
    _identify(proposal, named_id(columns, data.every), "unique in all rows")
    shared_tools = _names(group, shared.get("environment.tools"))
    documented = {
        name for column in columns for value in column.present if is_tools(value) for name in tool_names(value)
    }
    inside = columns_in_lists(columns, shared_tools | documented)
    free = [column for column in [*columns, *inside] if column.path not in _keys(mapping)]
    chosen = choose(free, partner.name if partner else None, shared_tools, answers)
    in_dialogue = _in_dialogue(chosen, answers)
    _missing(proposal, chosen, free, shared)
    if "user.turns" not in chosen:
        return proposal
    if "id" not in mapping:
        used = [choice.column for choice in chosen.values()]
        unused = [column for column in columns if not any(column.overlaps(other) for other in used)]
        _identify(proposal, unnamed_id(unused, data.every), "unique in all rows, which is why it was chosen")
    if "id" not in mapping:
        proposal.unsure.append("no column is a unique id: file and number of the row are used")
    for key, choice in chosen.items():
        _place(proposal, key, choice)
    _user(proposal, chosen, columns)
    if in_dialogue:
        mapping["user"] |= in_dialogue
        proposal.comments["ground_truth.calls"] = "what the agent calls in the messages"
        if "turn_per_user_message" in in_dialogue:
            mapping["ground_truth"]["per_turn"] = True
    _told_to_all(proposal, columns, shared)
    _truth(proposal, chosen)
    for key, name in shared.items():
        if key not in chosen:
            _set(mapping, key, {"file": name})
            proposal.comments[key] = "a file next to the rows"
    _metadata(proposal, columns, chosen)
    return proposal


def _names(group: Group, tools: str | None) -> set[str]:
    return tool_names(read_value_file(group.folder, tools)) if tools else set()


def _keys(mapping: dict[str, Any]) -> set[str]:
    joined = {f"{join['name']}.{join['key']}" for join in mapping.get("join", [])}
    return joined | ({mapping["id"]} if "id" in mapping else set())


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
    if key in proposal.answers:
        proposal.comments[key] = "as answered"
    elif choice.named < 0.5:
        proposal.settle(which_column(choice, f"{key}: {column.path} was chosen {by}"))


def _in_dialogue(chosen: dict[str, Choice], answers: Mapping[str, Any]) -> dict[str, Any]:
    """Choose the calls in the dialogue where no column holds calls; return what is then mapped for the user."""
    if "user.turns" not in chosen or "ground_truth.calls" in chosen.keys() | answers.keys():
        return {}
    found = gold_messages(chosen["user.turns"].column)
    if found is None:
        return {}
    chosen["ground_truth.calls"], user = found
    return user


def _missing(
    proposal: Proposal, chosen: Mapping[str, Choice], columns: Sequence[Column], shared: Mapping[str, str]
) -> None:
    """Note what to ask about parts that an audit needs and for which no column was found."""
    truth = any(key.startswith(("ground_truth.", "evaluation.")) for key in chosen)
    wanted = {
        "user.turns": "user.turns" not in chosen,
        "ground_truth.calls": not truth,
        "environment.tools": "ground_truth.calls" in chosen
        and not {"environment.tools"} & (chosen.keys() | shared.keys()),
    }
    used = [choice.column for choice in chosen.values()]
    free = [column for column in columns if not any(column.overlaps(other) for other in used)]
    for role in ROLES:
        question = missing_column(role, free) if wanted.get(role.key) else None
        if question is not None:
            proposal.settle(question)


def _user(proposal: Proposal, chosen: dict[str, Choice], columns: Sequence[Column]) -> None:
    choice = chosen["user.turns"]
    used = [other.column for other in chosen.values()]
    texts = [value for value in choice.column.present if is_prose(value)]
    related = [c for c in columns if c not in used and is_related(c, choice.column)]
    played = is_simulated(choice.column, [*texts, *(text for c in related for text in c.present if is_prose(text))])
    if played and proposal.settle(SIMULATED) == "instruction":
        user = proposal.mapping["user"]
        user["instruction"] = user.pop("turns")
        proposal.comments["user.instruction"] = proposal.comments.pop("user.turns") + "; it is addressed to a player"
        if related:
            user["context"] = {c.keys[-1]: c.path for c in related}
    elif (speakers := speakers_of(choice.column)) is not None:
        _speakers(proposal, speakers)
    elif system_answers(texts):
        proposal.mapping["user"]["roles"] = {"system": "assistant"}
        proposal.comments["user.roles"] = "'system:' answers 'user:' in the text"


def _told_to_all(proposal: Proposal, columns: Sequence[Column], shared: Mapping[str, str]) -> None:
    """Take a long text that all rows have in common for the policy, where nothing else is."""
    if "policy" in proposal.mapping.get("environment", {}) or "environment.policy" in shared:
        return
    same = [c for c in columns if c.share == 1 and len(c.values) > 2 and len(set(map(str, c.values))) == 1]
    column = next((c for c in same if is_prose(c.values[0]) and len(c.values[0].split()) >= _WORDS), None)
    if column is not None:
        told = f"environment.policy: {column.path} was chosen because it is the same text in all rows"
        role = next(role for role in ROLES if role.key == "environment.policy")
        if proposal.settle(which_column(Choice(role, column, 0.0, ()), told)) is not None:
            _set(proposal.mapping, "environment.policy", column.path)
            proposal.comments["environment.policy"] = "the same text in all rows"


def _speakers(proposal: Proposal, speakers: Speakers) -> None:
    user, comments = proposal.mapping["user"], proposal.comments
    if speakers.turns is not None:
        user["turns"] = speakers.turns
        if "policy" not in proposal.mapping.get("environment", {}):
            _set(proposal.mapping, "environment.policy", {"path": speakers.policy, "default": None})
            comments["environment.policy"] = "the message of the system, which is not the user's"
    if speakers.roles:
        others = {name: _OTHER.get(role, role) for name, role in speakers.roles.items()}
        words = [(roles, _who(roles)) for roles in (speakers.roles, others)]
        told = f"user.roles: guessed from who speaks first: {_who(speakers.roles)}"
        user["roles"] = proposal.settle(one_of("user.roles", "Who speaks?", told, words))


_OTHER = {"user": "assistant", "assistant": "user"}


def _who(roles: Mapping[str, str]) -> str:
    return ", ".join(f"{name} = {role}" for name, role in roles.items())


def _truth(proposal: Proposal, chosen: dict[str, Choice]) -> None:
    if "evaluation.rubric" in chosen:
        told = "evaluation.rubric: the rows do not tell whether it is scored (rubric_scored)"
        scored = [(True, "it is scored"), (False, "it is not scored")]
        if not proposal.settle(one_of("evaluation.rubric_scored", "Do the criteria count?", told, scored)):
            proposal.mapping["evaluation"]["rubric_scored"] = False
    words: Sequence[tuple[Any, str]]
    if "ground_truth.calls" not in chosen:
        if "ground_truth.answers" in chosen:
            told = "evaluation.answer: the rows do not tell how answers are compared"
            question = one_of("evaluation.answer", "How are answers compared?", told, COMPARED)
            proposal.mapping.setdefault("evaluation", {})["answer"] = proposal.settle(question)
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
    words = sorted(MATCHING, key=lambda word: word[0] != truth["matching"])
    told = "ground_truth.matching: the rows do not tell how calls are scored"
    truth["matching"] = proposal.settle(one_of("ground_truth.matching", "How are calls scored?", told, words))
    if gold.share < 1 and truth["matching"] != "state":
        called = (
            f"{gold.path}[?tool_calls || function_call]" if gold.overlaps(chosen["user.turns"].column) else gold.path
        )
        trait = f"!({called}) && 'expects_no_call' || ''"
        told = (
            "ground_truth.calls: some rows have none; where that means that the agent must not call a tool, "
            f'say so: traits: "{trait}"'
        )
        words = [(None, "nothing is known about them"), (trait, "the agent must not call a tool there")]
        found = proposal.settle(one_of("traits", "What do rows without expected calls mean?", told, words))
        if found is not None:
            proposal.mapping["traits"] = found


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
