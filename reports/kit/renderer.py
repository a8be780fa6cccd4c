"""The process that turns Vega-Lite into SVG: its engine takes about 100 MiB, which a report does not have to hold.

Run as a script this module is that process: each line of its input is a chart, each line of its output a drawing.
"""

import atexit
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from functools import lru_cache
from threading import Lock
from typing import Any

VEGA_LITE = "6.4"
_LOCK = Lock()


def to_svg(spec: dict[str, Any]) -> str:
    """Draw a Vega-Lite chart, without reading any address that it names.

    Args:
        spec: the chart with its data.

    Returns:
        The SVG.

    Raises:
        ValueError: when the chart cannot be drawn.
        RuntimeError: when the process that draws has ended.
    """
    with _LOCK:
        process = _process(os.getpid())
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(spec).encode() + b"\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = b""
        if not answer:
            code = process.wait()
            _process.cache_clear()
            raise RuntimeError(
                f"the process that draws the figures ended with exit code {code}, so a figure is missing; it needs "
                "about 150 MiB of memory: free some, and run the command again"
            )
    found = json.loads(answer)
    if "error" in found:
        raise ValueError(found["error"])
    return str(found["svg"])


def stop_renderer() -> None:
    """End the process, if there is one; the next drawing starts another."""
    with _LOCK:
        if _process.cache_info().currsize:
            process = _process(os.getpid())
            _process.cache_clear()
            _end(process)


@lru_cache(maxsize=1)
def _process(parent: int) -> "subprocess.Popen[bytes]":
    """Start the process that draws for this one; a fork of it gets a process of its own."""
    # -P: the folder of this file is not searched for modules.
    process = subprocess.Popen(
        [sys.executable, "-P", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, close_fds=True
    )
    atexit.register(_end, process, parent)
    return process


def _end(process: "subprocess.Popen[bytes]", parent: int | None = None) -> None:
    if parent in (None, os.getpid()) and process.stdin and process.stdout:
        with suppress(BrokenPipeError):  # it has ended by itself, before it read all
            process.stdin.close()
        process.wait()
        process.stdout.close()


def _serve() -> None:
    import vl_convert

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks decides when to end
    for line in sys.stdin.buffer:
        try:
            answer = {"svg": vl_convert.vegalite_to_svg(json.loads(line), vl_version=VEGA_LITE, allowed_base_urls=[])}
        except ValueError as error:
            answer = {"error": str(error)}
        sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    _serve()
