"""The categories of ACEBench: one file each, scored in one of five ways."""

import re
from dataclasses import dataclass
from typing import Literal

Scoring = Literal["calls", "missing", "wrong_value", "irrelevant", "state"]
"""calls: compared with the answer; missing, wrong_value, irrelevant: the agent must say what is wrong instead of
calling; state: the final state of the classes."""

_SPECIAL: dict[str, Scoring] = {
    "special_incomplete": "missing",
    "special_error_param": "wrong_value",
    "special_irrelevant": "irrelevant",
}
_DIALOGUE = re.compile(r"(normal_multi_turn_\w+?_\d+)_\d+")


@dataclass(frozen=True)
class Category:
    """One category, which is one file of questions and one of answers."""

    name: str
    """Name of the file without ``data_`` and ``.json``."""
    scoring: Scoring
    """How the evaluator looks at a run."""

    @property
    def traits(self) -> frozenset[str]:
        """Conventions that checks respect."""
        if self.scoring == "calls":
            return frozenset()
        return frozenset({"redundant_calls_free"} if self.scoring == "state" else {"expects_no_call"})

    @property
    def simulated(self) -> bool:
        """Whether a model plays the user."""
        return self.name == "agent_multi_turn"

    def cluster(self, native_id: str) -> str | None:
        """Name the dialogue of which several tasks are cut: its first turn, its first two turns, and so on."""
        found = _DIALOGUE.fullmatch(native_id)
        return found[1] if found else None


def category(name: str) -> Category | None:
    """Return the category of a file's name; None for one that is not known."""
    if name in _SPECIAL:
        return Category(name, _SPECIAL[name])
    if name in ("agent_multi_turn", "agent_multi_step"):
        return Category(name, "state")
    return Category(name, "calls") if name.startswith("normal_") else None
