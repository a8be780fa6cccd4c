"""Programs that commands find besides the machine's own: the Python that has the packages of a scenario."""

import sys
from pathlib import Path
from typing import NamedTuple

from agenthard.agency.scenario import Needs
from agenthard.containment.job import PATH


class Programs(NamedTuple):
    """A folder of programs, and what they must be able to read."""

    folder: Path | None
    """Comes first on the search path."""
    readable: tuple[Path, ...] = ()
    """Folders that they need."""

    def variables(self) -> dict[str, str]:
        """Return the variables that a command needs to find them."""
        return {"PATH": f"{self.folder}:{PATH}"} if self.folder else {}


NONE = Programs(None)


def programs_for(needs: Needs) -> Programs:
    """Return the Python that runs us where a scenario needs packages: a command's own Python may lack them."""
    if not needs.packages:
        return NONE
    return Programs(Path(sys.prefix) / "bin", (Path(sys.prefix), Path(sys.base_prefix)))
