"""Tools whose name says that they look something up and that change something, or the other way round."""

import re
from collections.abc import Iterable

from agenthard.audit.detectors.base import Hit, ToolDetector
from agenthard.audit.detectors.support.tool_docs import tool_quote
from agenthard.taxonomy.finding import Severity, Tier
from agenthard.taxonomy.task import ToolSpec

_READS = frozenset("get list show find search view fetch lookup read query retrieve display browse".split())
_WRITES = frozenset(
    "create delete remove cancel update modify add insert buy purchase erase reserve book drop edit replace".split()
)
_NOUNS_TOO = frozenset("book purchase reserve drop edit update insert".split())
"""Changes that are nouns as well: verbs only where they are the whole name."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_RESPONSE = re.compile(r"\b(?:GET|returns?|retriev\w+|fetch\w*|quer\w+)\b")


class NameEffect(ToolDetector):
    """The verb in a tool's name and what the tool does exclude each other.

    Rules, where the name's last part begins with a verb:

    1. a look-up (get, list, show, find, search, view ...) is documented as a tool that changes the state, by its marked
       effect or by a description whose first word is a change ("Cancels ..."), or
    2. a change (create, delete, cancel, purchase ...) has a description whose first word is a look-up ("Retrieve ...").

    A change whose verb is a noun as well (book, update) counts only as the whole name. A look-up whose description
    speaks of returning something as well, or whose name continues with a change, is left alone.

    Flagged: `get_hold`, marked as a write; `shop.purchase`: "Retrieve items with their stock."
    Not flagged: `requests.get`: "Sends a GET request"; `order_status_check`; `find_or_create_user`.

    Wrong where a look-up is marked as a write because it is logged or charged.
    """

    id = "name-effect"
    title = "the name of a tool says the opposite of what it does"
    version = "1"
    category = "misleading-tool-design"
    severity = Severity.MAY_AFFECT_SCORE
    tier = Tier.SUSPECTED
    why = "An agent that goes by the name changes something when it wants to look, or looks when it wants a change."

    def inspect_tool(self, tool: ToolSpec) -> Iterable[Hit]:
        """Yield the contradiction between name and effect, if there is one."""
        names = [word.lower() for word in _WORD.findall(re.split(r"[.:/]", tool.name)[-1])]
        if not names or not _is_verb(names):
            return
        first = next(iter(re.findall(r"[a-z]+", tool.description.lower())), "")
        described = "" if _RESPONSE.search(tool.description) and names[0] in _READS else _stem(first)
        changes_too = any(word in _WRITES for word in names[1:])
        if names[0] in _READS and not changes_too and (tool.effect == "write" or described in _WRITES):
            marked = tool.effect == "write" and described not in _WRITES
            yield _hit(tool, "sounds like a look-up", "is marked as a change of the state" if marked else "is a change")
        elif names[0] in _WRITES and tool.effect != "write" and _stem(first) in _READS:
            yield _hit(tool, "sounds like a change", "is described as a look-up")


def _hit(tool: ToolSpec, sounds: str, is_: str) -> Hit:
    pointer = "/effect" if "marked" in is_ else "/description"
    return Hit(
        claim=f"{tool.name} {sounds} and {is_}",
        evidence=(tool_quote(tool, "/name", note=sounds), tool_quote(tool, pointer, note=is_)),
        fix="Name the tool after what it does, or fix its documentation.",
    )


def _is_verb(names: list[str]) -> bool:
    return names[0] in _READS or (names[0] in _WRITES and (names[0] not in _NOUNS_TOO or len(names) == 1))


def _stem(word: str) -> str:
    """Remove the ending of the third person: "cancels", "searches", "retrieves"."""
    for ending in ("es", "s"):
        if word.endswith(ending) and word.removesuffix(ending) in _READS | _WRITES:
            return word.removesuffix(ending)
    return word
