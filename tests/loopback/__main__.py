"""Runs the server as a process of its own, which outlives its clients.

python -m tests.loopback --port 0 --port-file FILE [--settings JSON]
"""

import argparse
import json
from pathlib import Path

from tests.loopback.app import Service, change
from tests.loopback.server import listen, make


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--port-file", type=Path, help="where to write the port once the server listens")
    parser.add_argument("--settings", default="{}", help="JSON object of settings (tests.loopback.app.change)")
    options = parser.parse_args()
    service = Service()
    change(service, json.loads(options.settings))
    listener = listen(options.port)
    port = listener.getsockname()[1]
    if options.port_file:
        draft = options.port_file.with_suffix(".new")
        draft.write_text(str(port))
        draft.replace(options.port_file)
    else:
        print(port, flush=True)
    make(service).run([listener])


if __name__ == "__main__":
    main()
