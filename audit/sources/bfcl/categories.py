"""The categories of BFCL: which file each is in, how it is scored, and the traits that follow from that."""

from dataclasses import dataclass
from typing import Literal

Scoring = Literal["calls", "no_call", "any_call", "state", "answer"]
"""calls: compared with the answer; no_call and any_call: only whether there is a call; state: the final state per
turn; answer: a text in the last message."""


@dataclass(frozen=True)
class Category:
    """One category. Several categories can be read from the same file (one per memory backend, say)."""

    name: str
    """Name as on BFCL's own command line."""
    stem: str
    """Part of the file name between ``BFCL_v3_`` and ``.json``."""
    scoring: Scoring
    """How the evaluator looks at a run."""
    language: Literal["python", "java", "javascript"] = "python"
    """Language whose types the values follow."""
    class_name: str | None = None
    """The one class that the agent gets, where the category decides it instead of the task."""

    @property
    def has_answers(self) -> bool:
        """Whether ``possible_answer`` holds a line per task."""
        return self.scoring in ("calls", "state", "answer")

    @property
    def any_order(self) -> bool:
        """Whether the calls of the answer may come in any order."""
        return "parallel" in self.name

    @property
    def one_function(self) -> bool:
        """Whether the checker uses the only documented function, even if the answer names another."""
        return self.scoring == "calls" and not self.any_order and "multiple" not in self.name

    @property
    def traits(self) -> frozenset[str]:
        """Conventions that checks respect."""
        if self.scoring == "no_call":
            return frozenset({"expects_no_call"})
        if self.scoring == "any_call":
            return frozenset({"expects_any_call"})
        if self.scoring == "answer":
            return frozenset({"redundant_calls_free"})
        if self.scoring == "state":
            asks_back = {"clarification_turns"} if "_miss_" in self.name else set[str]()
            return frozenset({"unchecked_turns", "redundant_calls_free"} | asks_back)
        return frozenset()

    def task_id(self, native_id: str) -> str:
        """Turn the id in the file into the id that runs use (``memory_0-...`` becomes ``memory_kv_0-...``)."""
        return native_id if self.name == self.stem else native_id.replace(self.stem, self.name, 1)

    def cluster(self, native_id: str) -> str | None:
        """Name the base task of which the tasks of several categories are variants."""
        if self.scoring not in ("state", "answer"):
            return None
        family = "multi_turn" if self.scoring == "state" else self.stem
        return f"{family}/{native_id.removeprefix(self.stem + '_')}"


def _calls(*names: str) -> list[Category]:
    return [Category(name, name, "calls") for name in names]


CATEGORIES: tuple[Category, ...] = (
    *_calls("simple", "simple_python", "multiple", "parallel", "parallel_multiple"),
    Category("java", "java", "calls", "java"),
    Category("simple_java", "simple_java", "calls", "java"),
    Category("javascript", "javascript", "calls", "javascript"),
    Category("simple_javascript", "simple_javascript", "calls", "javascript"),
    Category("irrelevance", "irrelevance", "no_call"),
    *_calls("live_simple", "live_multiple", "live_parallel", "live_parallel_multiple"),
    Category("live_irrelevance", "live_irrelevance", "no_call"),
    Category("live_relevance", "live_relevance", "any_call"),
    *(
        Category(f"multi_turn_{name}", f"multi_turn_{name}", "state")
        for name in ("base", "miss_func", "miss_param", "long_context")
    ),
    *(
        Category(f"memory_{backend}", "memory", "answer", class_name=f"MemoryAPI_{backend}")
        for backend in ("kv", "vector", "rec_sum")
    ),
    *(Category(name, "web_search", "answer") for name in ("web_search_base", "web_search_no_snippet")),
)
"""All categories of versions 3 and 4, in the order in which they are read."""

CLASS_DOCS: dict[str, str] = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
    "WebSearchAPI": "web_search",
    "MemoryAPI_kv": "memory_kv",
    "MemoryAPI_vector": "memory_vector",
    "MemoryAPI_rec_sum": "memory_rec_sum",
}
"""Module of each class: ``multi_turn_func_doc/NAME.json`` documents it, ``func_source_code/NAME.py`` implements it."""

STATELESS_CLASSES = frozenset({"MathAPI"})
"""Classes that BFCL itself treats as having no state: no call of theirs can change anything."""
