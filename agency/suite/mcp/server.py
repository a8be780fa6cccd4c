"""The store of a museum as an MCP server over standard input and output.

    python3 server.py STORE [AFTER]

reads STORE (JSON) and keeps all changes in memory; with AFTER, the changed store is written there after each change,
next to the list of all calls. It needs the package ``mcp`` and nothing else of ours.
"""

import json
import sys
from pathlib import Path
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

PAGE = 7


class Refusal(ToolError):
    """A call that the rules of the store forbid."""


class Store:
    """What the museum has, and where."""

    def __init__(self, document: dict[str, Any], after: Path | None) -> None:
        """Begin with a document."""
        self.shelves: dict[str, dict[str, Any]] = document["shelves"]
        self.items: dict[str, dict[str, Any]] = document["items"]
        self.rules: str = document["rules"]
        self.busy: int = document["busy"]
        self.calls: list[dict[str, Any]] = []
        self._after = after

    def begin(self, tool: str, **arguments: Any) -> None:
        """Log a call; some are refused, when the store is busy."""
        refused = self.busy > 0 and len(self.calls) % self.busy == self.busy - 1
        self.calls.append({"tool": tool, **arguments, "busy": refused})
        self.save()
        if refused:
            raise Refusal("busy: try again")

    def save(self) -> None:
        """Write what there is now."""
        if self._after is not None:
            text = json.dumps({"items": self.items, "calls": self.calls})
            part = self._after.with_suffix(".part")
            part.write_text(text, encoding="utf-8")
            part.replace(self._after)

    def item(self, item: str) -> dict[str, Any]:
        """Return an item by its id."""
        if item not in self.items:
            raise Refusal(f"unknown item: {item}")
        return self.items[item]

    def unlocked(self, item: str) -> dict[str, Any]:
        """Return an item that may be changed."""
        found = self.item(item)
        if found["locked"]:
            raise Refusal(f"{item} is locked")
        return found

    def used(self, shelf: str) -> int:
        """Count the items on a shelf."""
        return sum(each["shelf"] == shelf for each in self.items.values())


class Tools:
    """The tools of the server; each says what it does to the client."""

    def __init__(self, store: Store) -> None:
        """Work with a store."""
        self._store = store

    async def list_shelves(self) -> str:
        """List all shelves with their room, capacity, and the number of items on them."""
        self._store.begin("list_shelves")
        return json.dumps(
            {name: {**each, "used": self._store.used(name)} for name, each in self._store.shelves.items()}
        )

    async def list_items(self, cursor: str = "") -> str:
        """List ids of items, a page at a time; pass `next` as the cursor of the next page until it is null."""
        self._store.begin("list_items", cursor=cursor)
        begin = int(cursor.removeprefix("after-")) if cursor else 0
        names = list(self._store.items)
        more = f"after-{begin + PAGE}" if begin + PAGE < len(names) else None
        return json.dumps({"items": names[begin : begin + PAGE], "next": more})

    async def read_item(self, item: str) -> str:
        """Return title, maker, year, material, shelf, tags and lock of an item."""
        self._store.begin("read_item", item=item)
        return json.dumps(self._store.item(item))

    async def move_item(self, item: str, shelf: str) -> str:
        """Put an item that is not locked on a shelf with a free place."""
        self._store.begin("move_item", item=item, shelf=shelf)
        found = self._store.unlocked(item)
        if shelf not in self._store.shelves:
            raise Refusal(f"unknown shelf: {shelf}")
        if self._store.used(shelf) >= self._store.shelves[shelf]["capacity"]:
            raise Refusal(f"{shelf} is full")
        found["shelf"] = shelf
        self._store.save()
        return "moved"

    async def set_lock(self, item: str, locked: bool) -> str:
        """Lock or unlock an item."""
        self._store.begin("set_lock", item=item, locked=locked)
        self._store.item(item)["locked"] = locked
        self._store.save()
        return "locked" if locked else "unlocked"

    async def add_tag(self, item: str, tag: str) -> str:
        """Add a tag to an item; locked items can be tagged."""
        self._store.begin("add_tag", item=item, tag=tag)
        tags = self._store.item(item)["tags"]
        if tag not in tags:
            tags.append(tag)
            self._store.save()
        return "tagged"

    async def merge_items(self, keep: str, drop: str) -> str:
        """Remove `drop` and give its tags to `keep`; both lie on one shelf and are not locked."""
        self._store.begin("merge_items", keep=keep, drop=drop)
        kept, dropped = self._store.unlocked(keep), self._store.unlocked(drop)
        if keep == drop or kept["shelf"] != dropped["shelf"]:
            raise Refusal("only two items on one shelf can be merged")
        kept["tags"] += [tag for tag in dropped["tags"] if tag not in kept["tags"]]
        del self._store.items[drop]
        self._store.save()
        return "merged"


def make_server(store: Store) -> MCPServer:
    """Make the server of a store."""
    server = MCPServer(
        "store", instructions="Read the resource store://rules before you move anything.", log_level="CRITICAL"
    )

    @server.resource("store://rules")
    async def rules() -> str:
        """Which material belongs into which room."""
        return store.rules

    tools = Tools(store)
    for tool in (
        tools.list_shelves,
        tools.list_items,
        tools.read_item,
        tools.move_item,
        tools.set_lock,
        tools.add_tag,
        tools.merge_items,
    ):
        server.tool()(tool)
    return server


def main() -> None:
    """Serve until the client leaves."""
    after = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    store = Store(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), after)
    store.save()
    make_server(store).run("stdio")


if __name__ == "__main__":
    main()
