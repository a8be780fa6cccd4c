"""What is counted in an episode: progress, how calls fail, and three behaviours that say why an agent fails."""

from dataclasses import dataclass, field

ERRORS = (
    "wrong_format",
    "node_not_exist",
    "node_not_visible",
    "wrong_node_type",
    "repeated_solved",
    "missing_required",
    "wrong_type",
    "other",
)
"""Classes of failed uses; the first one that applies counts."""
SUB_CODES = ("wrong_value", "missing_dependency", "unexpected_param", "execution_error")
"""What the last class consists of."""
COUNTS = (
    *("resolved", "resolved_tools", "parts", "tools", "hidden_seen", "hidden_parts"),
    *("investigations", "uses", "submissions"),
    *("dependent_uses", "premature_uses", "adherent_uses", "wired_params", "adherent_params"),
    *("first_parts", "first_parts_resolved", "first_parts_calls", "first_parts_open_calls"),
    *(f"error_{name}" for name in (*ERRORS, *SUB_CODES)),
)
"""Names of the counts, all of them whole numbers."""


@dataclass
class Tally:
    """The counts of one episode, while it runs."""

    investigations: int = 0
    """Calls of `investigate`."""
    uses: int = 0
    """Calls of `use_tool` and `use_item`."""
    submissions: int = 0
    """Calls of `submit_answer`."""
    dependent: int = 0
    """Uses of a part that is not resolved and depends on others."""
    premature: int = 0
    """Of these, uses before everything that the part depends on is resolved."""
    adherent: int = 0
    """Of these, uses that give every such parameter what its source really gave."""
    wired: int = 0
    """Parameters of these uses that come from others."""
    wired_right: int = 0
    """Of these, parameters that got what their source really gave."""
    errors: dict[str, int] = field(default_factory=lambda: dict.fromkeys((*ERRORS, *SUB_CODES), 0))
    """Failed uses by class and sub-code."""
    first_calls: dict[str, int] = field(default_factory=dict)
    """Uses of each part that depends on nothing, up to the first that resolved it."""
