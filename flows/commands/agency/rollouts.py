"""``agenthard agency rollouts``: recorded rollouts as conversations for training."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from agenthard.flows.commands.output import JsonOption, print_json

if TYPE_CHECKING:
    from agenthard.agency.rollouts import RecordedRollout


def rollouts(
    run: Annotated[Path, typer.Argument(help="Run folder of `agenthard evaluate agency`, or a file of rollouts.")],
    out: Annotated[Path, typer.Option(help="File of JSON Lines to write.")] = Path("rollouts-chat.jsonl"),
    passed_only: Annotated[bool, typer.Option(help="Only plays in which every last attempt passed.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write one conversation per play in the chat format, with tools, licence, scores, and what was taken out.

    Exit codes: 0 written, 64 without rollouts.

    Example: `agenthard agency rollouts agency-play --out chat.jsonl`
    """
    from agenthard.agency.rollouts import conversations
    from agenthard.taxonomy.files import replacing

    plays = 0
    with replacing(out) as partial, partial.open("w", encoding="utf-8") as file:
        for conversation in conversations(_rows(run)):
            last = {each["task"]: each["passed"] for each in conversation["metadata"]["scores"]}
            if passed_only and not all(last.values()):
                continue
            plays += 1
            file.write(json.dumps(conversation, ensure_ascii=False) + "\n")
    if as_json:
        print_json({"file": str(out), "conversations": plays})
    else:
        typer.echo(f"{out}: {plays} conversations")


def _rows(run: Path) -> "Iterator[RecordedRollout]":
    """Read rollouts in order.

    Raises:
        CommandError: there are none.
    """
    from pydantic import ValidationError

    from agenthard.agency.rollouts import RecordedRollout
    from agenthard.flows.errors import CommandError

    path = run / "rollouts.jsonl.gz" if run.is_dir() else run
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for line in lines:
                if line.strip():
                    yield RecordedRollout.model_validate_json(line)
    except (OSError, EOFError, ValidationError) as error:
        raise CommandError(f"{path}: no rollouts can be read: {error}") from error
