"""The process that checks shards for a worker: ``python -m agenthard.flows.scale_out.check_loop``.

Requests and answers are lines of JSON on standard input and output (`check_process`).
"""

import json
import os
import signal
import sys
from collections.abc import Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any

from agenthard.flows.scale_out.surroundings import DifferentWorkerError
from agenthard.flows.scale_out.worker import check_stored_shard
from agenthard.taxonomy.errors import AgentHardError, MissingExtraError

FINAL = (DifferentWorkerError, MissingExtraError)
"""Errors after which another attempt ends in the same way."""


def main() -> None:
    """Answer requests until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what code of a benchmark prints does not reach the worker
    for line in _requests():
        asked = json.loads(line)
        try:
            said: dict[str, Any] = {"tasks": check_stored_shard(asked["store"], asked["audit"], asked["number"])}
        except (AgentHardError, OSError, MemoryError) as error:
            said = {"error": f"{error}"[:2000], "repeatable": not isinstance(error, FINAL)}
        answers.write(json.dumps(said).encode() + b"\n")
        answers.flush()


def _requests() -> Iterator[bytes]:
    """Yield the lines of standard input; the process ends at once when it ends, even while a shard is checked."""
    lines = SimpleQueue[bytes]()

    def read() -> None:
        for line in sys.stdin.buffer:
            lines.put(line)
        os._exit(0)

    Thread(target=read, daemon=True).start()
    while True:
        yield lines.get()


if __name__ == "__main__":
    main()
