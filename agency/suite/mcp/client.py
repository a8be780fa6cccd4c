"""A client of the store for Python's standard library: MCP is JSON-RPC, one message in a line.

with Desk(["python3", "desk/server.py", "desk/store.json"]) as desk:
    print(desk.read("store://rules"))
    print(desk.call("list_items", cursor=""))
"""

import json
import subprocess
from typing import Any, Self


class Refused(Exception):
    """The server refused a call; the text says why."""


class Desk:
    """A connection to an MCP server that is started for it."""

    def __init__(self, command: list[str]) -> None:
        """Start the server and introduce ourselves."""
        self._server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._last = 0
        info = {"name": "desk", "version": "1"}
        self._ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=info)
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def __enter__(self) -> Self:
        """Return the connection."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the server."""
        if self._server.stdin:
            self._server.stdin.close()
        self._server.wait(timeout=10)

    def tools(self) -> list[dict[str, Any]]:
        """Return the tools with their schemas."""
        found: list[dict[str, Any]] = self._ask("tools/list")["tools"]
        return found

    def read(self, uri: str) -> str:
        """Return the text of a resource."""
        return str(self._ask("resources/read", uri=uri)["contents"][0]["text"])

    def call(self, tool: str, **arguments: object) -> str:
        """Call a tool and return its text."""
        answer = self._ask("tools/call", name=tool, arguments=arguments)
        text = str(answer["content"][0]["text"])
        if answer.get("isError"):
            raise Refused(text)
        return text

    def _send(self, message: dict[str, Any]) -> None:
        if self._server.stdin:
            self._server.stdin.write(json.dumps(message) + "\n")
            self._server.stdin.flush()

    def _ask(self, method: str, **parameters: object) -> dict[str, Any]:
        self._last += 1
        self._send({"jsonrpc": "2.0", "id": self._last, "method": method, "params": parameters})
        while line := self._server.stdout.readline() if self._server.stdout else "":
            message = json.loads(line)
            if message.get("id") == self._last and "method" not in message:
                if "error" in message:
                    raise Refused(message["error"]["message"])
                found: dict[str, Any] = message["result"]
                return found
        raise ConnectionError("the server has left")
