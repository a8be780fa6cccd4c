"""A checkout that attacks while it is imported. Arguments: a file to read, one to write, a port, and who started it."""

import os
import socket
from collections.abc import Callable, Iterator
from typing import Any


def setup(secret: str, target: str, port: str, starter: str) -> Callable[[Any], Iterator[Any]]:
    acts: dict[str, Callable[[], Any]] = {
        "secret": lambda: open(secret).read(),
        "write": lambda: open(target, "w"),
        "chmod": lambda: os.chmod(os.path.dirname(target), 0o777),
        "connect": lambda: socket.create_connection(("127.0.0.1", int(port)), timeout=2),
        "unix": lambda: socket.socket(socket.AF_UNIX),
        "environ": lambda: open(f"/proc/{starter}/environ", "rb").read(),
        "parent": lambda: open(f"/proc/{os.getppid()}/environ", "rb").read(),
        "program": lambda: os.execv("/bin/true", ["true"]),
        "kill": lambda: os.kill(int(starter), 0),
        "root": lambda: os.setuid(0),
    }
    found = {}
    for name, act in acts.items():
        try:
            found[name] = f"done: {act()!r}"
        except Exception as error:
            found[name] = f"{type(error).__name__}"
    found["uid"] = str(os.getuid())
    found["keys"] = " ".join(name for name in os.environ if "KEY" in name)

    def serve(_: Any) -> Iterator[Any]:
        yield found

    return serve
