"""What the command ``paper`` reads next to run folders."""

from pathlib import Path

from pydantic import ValidationError

from agenthard.flows.errors import CommandError
from agenthard.reports.alignment.score import Alignment


def read_alignment(path: Path) -> Alignment:
    """Read what ``agenthard align score --json`` printed.

    Raises:
        CommandError: when it cannot be read.
    """
    try:
        return Alignment.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror or error}; name a file") from error
    except ValidationError as error:
        raise CommandError(
            f"{path}: not what `agenthard align score --json` prints ({error.errors()[0]['msg']}); write it again"
        ) from error
