"""Kill commands at random moments, run them again, and compare with an undisturbed run.

Usage: python -m perf.faults.campaign [--kills N] [--seed N] [--only audit,judge,review] [--json FILE]. Each kill is
SIGKILL of the whole process group. The table goes to standard output, as Markdown. Exit code 1 when a result is lost
or doubled, a byte differs or something is left behind.
"""

import argparse
import json
import os
import random
import sys
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from perf.faults.killing import Row
from perf.faults.scenarios import audits, judgings, reviews
from tests.loopback.app import KEY

SCENARIOS: dict[str, tuple[Callable[[Path, int, random.Random], Row], ...]] = {
    "audit": (partial(audits, workers=1), partial(audits, workers=2)),
    "judge": (judgings,),
    "review": (reviews,),
}


def table(rows: list[Row]) -> str:
    """The rows in Markdown."""
    lines = [
        "| scenario | kills | ended before the kill | lost | doubled | bytes equal | asked again | left behind |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        lines.append(
            f"| {row.scenario} | {row.kills} | {row.ended_before} | {row.lost} | {row.doubled} | "
            f"{row.bytes_equal} of {row.compared} | {row.asked_again} | {row.left_behind} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Run the campaign; returns 1 when something is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", default=",".join(SCENARIOS))
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    chosen = [scenario for name in options.only.split(",") for scenario in SCENARIOS[name]]
    rows = []
    with tempfile.TemporaryDirectory() as place:
        os.environ |= {"PREFECT_HOME": f"{place}/prefect", "COMPATIBLE_API_KEY": KEY}
        for number, scenario in enumerate(chosen):
            folder = Path(place) / str(number)
            folder.mkdir()
            share = options.kills // len(chosen) + (number < options.kills % len(chosen))
            rows.append(scenario(folder, share, random.Random(options.seed + number)))
            print(table(rows[-1:]), *rows[-1].problems, sep="\n", file=sys.stderr, flush=True)
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8")
    return 0 if all(row.sound and row.bytes_equal == row.compared for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
