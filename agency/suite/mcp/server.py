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


def make_server(store: Store) -> MCPServer:
    """Make the server of a store."""
    server = MCPServer(
        "store", instructions="Read the resource store://rules before you move anything.", log_level="CRITICAL"
    )

    @server.resource("store://rules")
    async def rules() -> str:
        """Which material belongs into which room."""
        return store.rules

    @server.tool()
    async def list_shelves() -> str:
        """List all shelves with their room, capacity, and the number of items on them."""
        store.begin("list_shelves")
        return json.dumps({name: {**each, "used": store.used(name)} for name, each in store.shelves.items()})

    @server.tool()
    async def list_items(cursor: str = "") -> str:
        """List ids of items, a page at a time; pass `next` as the cursor of the next page until it is null."""
        store.begin("list_items", cursor=cursor)
        begin = int(cursor.removeprefix("after-")) if cursor else 0
        names = list(store.items)
        more = f"after-{begin + PAGE}" if begin + PAGE < len(names) else None
        return json.dumps({"items": names[begin : begin + PAGE], "next": more})

    @server.tool()
    async def read_item(item: str) -> str:
        """Return title, maker, year, material, shelf, tags and lock of an item."""
        store.begin("read_item", item=item)
        return json.dumps(store.item(item))

    @server.tool()
    async def move_item(item: str, shelf: str) -> str:
        """Put an item that is not locked on a shelf with a free place."""
        store.begin("move_item", item=item, shelf=shelf)
        found = store.unlocked(item)
        if shelf not in store.shelves:
            raise Refusal(f"unknown shelf: {shelf}")
        if store.used(shelf) >= store.shelves[shelf]["capacity"]:
            raise Refusal(f"{shelf} is full")
        found["shelf"] = shelf
        store.save()
        return "moved"

    @server.tool()
    async def set_lock(item: str, locked: bool) -> str:
        """Lock or unlock an item."""
        store.begin("set_lock", item=item, locked=locked)
        store.item(item)["locked"] = locked
        store.save()
        return "locked" if locked else "unlocked"

    @server.tool()
    async def add_tag(item: str, tag: str) -> str:
        """Add a tag to an item; locked items can be tagged."""
        store.begin("add_tag", item=item, tag=tag)
        tags = store.item(item)["tags"]
        if tag not in tags:
            tags.append(tag)
            store.save()
        return "tagged"

    @server.tool()
    async def merge_items(keep: str, drop: str) -> str:
        """Remove `drop` and give its tags to `keep`; both lie on one shelf and are not locked."""
        store.begin("merge_items", keep=keep, drop=drop)
        kept, dropped = store.unlocked(keep), store.unlocked(drop)
        if keep == drop or kept["shelf"] != dropped["shelf"]:
            raise Refusal("only two items on one shelf can be merged")
        kept["tags"] += [tag for tag in dropped["tags"] if tag not in kept["tags"]]
        del store.items[drop]
        store.save()
        return "merged"

    return server


def main() -> None:
    """Serve until the client leaves."""
    after = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    store = Store(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")), after)
    store.save()
    make_server(store).run("stdio")


if __name__ == "__main__":
    main()
