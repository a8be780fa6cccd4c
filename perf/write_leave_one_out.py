"""Write docs/results/leave-one-out.md: what was read by hand, on the benchmarks of development and elsewhere.

Usage: python perf/write_leave_one_out.py
Reads audit/detectors/readings.jsonl (a draw over all benchmarks) and perf/elsewhere.jsonl (all findings of the kinds
named there on benchmarks that no check was tuned on).
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).parent
TARGET = HERE.parent / "docs" / "results" / "leave-one-out.md"
READINGS = HERE.parent / "audit" / "detectors" / "readings.jsonl"
ELSEWHERE = frozenset({"ACEBench 2025-10-29", "τ² 1.0.1, own code", "BFCL v4"})
LEAST = 0.8
HEAD = """# Where the checks were developed, and elsewhere

Findings that were read by hand: *k of N* are true, with the arguable ones in brackets (the fact is right, whether it
is a flaw is open). *Developed on*: BFCL v3, ACEBench 2025-02-26, airline of τ-bench and τ² 0.1.3 with their runs,
AgencyBench and ACE. *Elsewhere*: ACEBench 2025-10-29 in Chinese, τ² 1.0.1 with its own code, BFCL v4, and retail of
both τ-benchmarks. One reader, a language model; the readings with their reasons are in `audit/detectors/readings.jsonl`
(drawn with seed 14) and `perf/elsewhere.jsonl` (not drawn: the findings on ACEBench in Chinese, banking_knowledge and
retail that were read for [Found, and not yet known](../found.md), whichever way they were judged). Findings that the
check no longer gives, such as four of `unscored-requirement` that were not true, are not counted.

"Elsewhere" is not blind: these benchmarks lay in the same folder. It means that no rule was tuned on them, and the
numbers are small: few checks have twenty findings there.

`perf/write_leave_one_out.py` writes this page.

"""


def rows(path: Path) -> Iterable[dict[str, str]]:
    """Read one file of readings."""
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def is_elsewhere(row: dict[str, str]) -> bool:
    """Tell whether a reading is of a benchmark that no check was tuned on."""
    return row["corpus"] in ELSEWHERE or row.get("task", "").startswith("retail/")


def shown(counts: Counter[str]) -> str:
    """Write k of N, with the arguable ones."""
    number = counts.total()
    if not number:
        return "none read"
    return f"{counts['true']} of {number}" + (f" ({counts['arguable']})" if counts["arguable"] else "")


def main() -> None:
    """Write the page."""
    counts: dict[str, dict[bool, Counter[str]]] = defaultdict(lambda: {True: Counter(), False: Counter()})
    seen: set[tuple[str, str]] = set()
    for row in rows(READINGS):
        counts[row["check"]][is_elsewhere(row)][row["judgement"]] += 1
        seen.add((row["check"], row["finding"]))
    for row in rows(HERE / "elsewhere.jsonl"):
        if (row["check"], row["finding"]) not in seen:
            counts[row["check"]][True][row["judgement"]] += 1
    lines = ["| check | developed on | elsewhere |", "|---|---|---|"]
    total = {True: Counter[str](), False: Counter[str]()}
    below = []
    for check, parts in sorted(counts.items()):
        lines.append(f"| `{check}` | {shown(parts[False])} | {shown(parts[True])} |")
        for where in (True, False):
            total[where] += parts[where]
        if parts[True].total() >= 3 and parts[True]["true"] < LEAST * parts[True].total():
            below.append(f"`{check}` ({shown(parts[True])})")
    lines.append(f"| all | {shown(total[False])} | {shown(total[True])} |")
    said = f"\nAt least three read elsewhere and fewer than {LEAST:.0%} of them true: {', '.join(below) or 'none'}.\n"
    TARGET.write_text(HEAD + "\n".join(lines) + "\n" + said, encoding="utf-8")


if __name__ == "__main__":
    main()
