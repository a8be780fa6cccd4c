"""A proposed mapping as commented YAML."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from agenthard.audit.sources.mapping.infer.proposal import Proposal

_ORDER = (
    "benchmark", "folder", "files", "rows", "json_columns", "join", "id", "subtask", "user", "environment",
    "initial_state", "ground_truth", "evaluation", "traits", "cluster", "metadata",
)  # fmt: skip


def as_yaml(proposal: Proposal, beside: Path | None = None) -> str:
    """Write a proposal.

    Args:
        proposal: the proposal.
        beside: folder in which the mapping will be; None: the folder of the data.
    """
    lines = [
        "# A mapping proposed by `agenthard sources infer`: read it before you use it.",
        f"# {proposal.parsed} of {proposal.rows} rows parse under it; {proposal.calls} expected calls.",
    ]
    reasons = Counter(item.reason for item in proposal.refused)
    lines += [f"#   {count} rows do not: {_one_line(reason)}" for reason, count in reasons.most_common(3)]
    if proposal.unsure:
        lines += ["# To be looked at:", *(f"#   {_one_line(text)}" for text in proposal.unsure)]
    mapping = dict(proposal.mapping)
    if beside is not None and beside.resolve() != proposal.folder.resolve():
        mapping["folder"] = Path(os.path.relpath(proposal.folder.resolve(), beside.resolve())).as_posix()
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
