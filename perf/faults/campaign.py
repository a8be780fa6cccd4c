"""Disturb commands at random moments, run them again, and compare what they leave with an undisturbed run.

Usage: python perf/faults/campaign.py [--kills N] [--faults N] [--seed N] [--only audit,judge,…] [--json FILE]

SIGKILLs are shared out over the scenarios; `--faults` is the number of each other fault that a scenario knows: signals,
a full disk, a server that is gone and comes back, connections that are cut. The table goes to standard output, as
Markdown. Exit code 1 when something is lost, doubled, different, untrue or left behind. Full disks need root, and
reviews in PostgreSQL its programs; what cannot be tried is named below the table.
"""

import argparse
import json
import os
import random
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from perf.faults.evaluations import evaluations, rooms  # noqa: E402
from perf.faults.reviews import reviews  # noqa: E402
from perf.faults.row import Row, table  # noqa: E402
from perf.faults.scenarios import Given, audits, judgings, publications, schedules  # noqa: E402
from tests.loopback.app import KEY  # noqa: E402

SCENARIOS: dict[str, Callable[[Given], Iterator[Row]]] = {
    "audit": audits,
    "judge": judgings,
    "evaluate": evaluations,
    "rooms": rooms,
    "publish": publications,
    "review": reviews,
    "schedule": schedules,
}


def run_campaign(chosen: list[str], count: int, faults: int, seed: int, place: Path) -> Iterator[Row]:
    """Yield the rows of the chosen scenarios; each scenario has a random source of its own."""
    os.environ |= {"PREFECT_HOME": f"{place}/prefect", "COMPATIBLE_API_KEY": KEY}
    for number, name in enumerate(chosen):
        folder = place / name
        folder.mkdir()
        share = count // len(chosen) + (number < count % len(chosen))
        yield from SCENARIOS[name](Given(folder, share, faults, random.Random(f"{seed} {name}")))


def main() -> int:
    """Run the campaign; returns 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--faults", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default=",".join(SCENARIOS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    # A shell ignores SIGINT for what it starts in the background, and the commands would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rows = []
    with tempfile.TemporaryDirectory() as place:
        for row in run_campaign(options.only.split(","), options.kills, options.faults, options.seed, Path(place)):
            rows.append(row)
            print(table([row]).splitlines()[2], *row.problems, sep="\n  ", file=sys.stderr, flush=True)
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.sound for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
