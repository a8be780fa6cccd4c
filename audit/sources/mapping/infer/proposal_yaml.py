"""Writes a proposed mapping as YAML, with the reasons, what to look at, and an example as comments."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from agenthard.audit.sources.mapping.infer.proposal import Proposal
from agenthard.taxonomy.printable import printable_line

_ORDER = (
    "benchmark", "folder", "files", "rows", "json_columns", "join", "id", "subtask", "user", "environment",
    "initial_state", "ground_truth", "evaluation", "traits", "cluster", "metadata",
)  # fmt: skip


def as_yaml(proposal: Proposal, target: Path | None = None) -> str:
    """Write a proposal.

    Args:
        proposal: the proposal.
        target: folder in which the mapping will be; None: the folder of the data.
    """
    lines = [
        "# A mapping proposed by `agenthard sources infer`: read it before you use it.",
        f"# {proposal.understood.counted}.",
    ]
    if proposal.understood.problems:
        lines += ["# WRONG OR MISSING:", *(f"#   {_one_line(text)}" for text in proposal.understood.problems)]
    reasons = Counter(item.reason for item in proposal.refused)
    lines += [f"#   {count} rows do not: {_one_line(reason)}" for reason, count in reasons.most_common(3)]
    if proposal.unsure:
        lines += ["# To be looked at:", *(f"#   {_one_line(text)}" for text in proposal.unsure)]
    if proposal.understood.example:
        first, *rest = proposal.understood.example
        lines += [f"# As an example, {_one_line(first)}:", *(f"# {printable_line(line)}" for line in rest)]
    mapping = dict(proposal.mapping)
    if proposal.url:
        mapping["folder"] = proposal.url
    elif target is not None and target.resolve() != proposal.folder.resolve():
        mapping["folder"] = Path(os.path.relpath(proposal.folder.resolve(), target.resolve())).as_posix()
    for key in _ORDER:
        if key in mapping:
            lines += _lines(key, mapping[key], proposal.comments, key, 0)
    return "\n".join(lines) + "\n"


def _lines(key: str, value: Any, comments: dict[str, str], dotted: str, depth: int) -> list[str]:
    indent = "  " * depth
    comment = f"  # {_one_line(comments[dotted])}" if dotted in comments else ""
    if isinstance(value, dict) and depth == 0:
        inner = [line for name, item in value.items() for line in _lines(name, item, comments, f"{dotted}.{name}", 1)]
        return [f"{indent}{_flow(key)}:{comment}", *inner]
    return [f"{indent}{_flow(key)}: {_flow(value)}{comment}"]


def _flow(value: Any) -> str:
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**9, sort_keys=False)
    text = text.removesuffix("\n").removesuffix("...").strip()
    return json.dumps(value) if "\n" in text else text


def _one_line(text: str) -> str:
    return " ".join(text.split())[:300]
